import { expect, test } from "vitest";
import { parseCredential, serializeCredential, type Credential } from "./credential.ts";

const full: Credential = {
  loginId: "l1",
  serverUrl: "https://mcp.example.com/mcp",
  resource: "https://mcp.example.com",
  issuer: "https://as.example.com",
  tokenEndpoint: "https://as.example.com/token",
  revocationEndpoint: "https://as.example.com/revoke",
  client: { id: "c1", secret: "s3", auth: "client_secret_basic" },
  scope: "read write",
  tokens: { access: "a", refresh: "r", obtainedAtMs: 1, expiresAtMs: 2 },
};
const changed = (change: (kept: Record<string, unknown>) => void): Credential | undefined => {
  const kept = JSON.parse(serializeCredential(full)) as Record<string, unknown>;
  change(kept);
  return parseCredential(JSON.stringify(kept));
};

test("a kept login is read as it was written, also without what is optional", () => {
  expect(parseCredential(serializeCredential(full))).toEqual(full);
  const least: Credential = {
    ...full,
    resource: undefined,
    revocationEndpoint: undefined,
    scope: undefined,
    client: { id: "c1", secret: undefined, auth: "none" },
    tokens: { access: "a", refresh: undefined, obtainedAtMs: 1, expiresAtMs: undefined },
  };
  expect(parseCredential(serializeCredential(least))).toEqual(least);
});

test.each(["", "{", "null", "[]", '"x"', "{}", '{"format":1}'])("%j is no login", (text) => {
  expect(parseCredential(text)).toBeUndefined();
});

test.each(["loginId", "serverUrl", "issuer", "tokenEndpoint", "client", "tokens"])(
  "a login without a usable %s is not used",
  (field) => {
    expect(changed((kept) => delete kept[field])).toBeUndefined();
    expect(changed((kept) => (kept[field] = 7))).toBeUndefined();
  },
);

test("a login of another format, or of a client that proves itself in an unknown way, is not used", () => {
  expect(changed((kept) => (kept["format"] = 2))).toBeUndefined();
  expect(changed((kept) => (kept["client"] = { ...full.client, auth: "private_key_jwt" }))).toBeUndefined();
  expect(changed((kept) => (kept["client"] = { auth: "none" }))).toBeUndefined();
  expect(changed((kept) => (kept["tokens"] = { access: "a", obtainedAtMs: "1" }))).toBeUndefined();
  expect(changed((kept) => (kept["tokens"] = { obtainedAtMs: 1 }))).toBeUndefined();
});

test("what is optional and of a wrong type is left out, and unknown fields are too", () => {
  expect(changed((kept) => Object.assign(kept, { scope: 5, resource: null, later: "x" }))).toEqual({
    ...full,
    scope: undefined,
    resource: undefined,
  });
  expect(changed((kept) => (kept["tokens"] = { ...full.tokens, expiresAtMs: "soon" }))?.tokens).toEqual({
    ...full.tokens,
    expiresAtMs: undefined,
  });
});

import { describe, expect, test } from "vitest";
import { logInAt } from "../../../test/oauth/odd-login.ts";
import { startOddServer, usualTokens, type OddAnswer } from "../../../test/oauth/odd-server.ts";
import { createAddressRules } from "./protocol/addresses.ts";
import { createOutgoing } from "./outgoing.ts";
import { renewTokens, type Renewal } from "./renew.ts";

/** Of a login with refresh token `r1` and scope `asked`. */
async function renewWith(answer: OddAnswer): Promise<Renewal> {
  await using server = await startOddServer({ tokens: [usualTokens, answer] });
  const credential = await logInAt(server, { scope: "asked" });
  const route = async () => await Promise.resolve(undefined);
  const outgoing = createOutgoing(createAddressRules("private"), { serverUrl: server.url, route });
  return await renewTokens(credential, "r1", outgoing, 0);
}

describe("a login is renewed with what is needed of the answer", () => {
  const usual = { access: "t2", refresh: "r1", obtainedAtMs: 0, expiresAtMs: undefined };
  test.each<readonly [string, OddAnswer, object, string]>([
    ["null members", nulls({ access_token: "t2" }), {}, "asked"],
    ["members of other types", { ...nulls({ access_token: "t2" }), expires_in: [], token_type: 1 }, {}, "asked"],
    [
      "no token_type, and a lifetime as text",
      { access_token: "t2", expires_in: "60" },
      { expiresAtMs: 60_000 },
      "asked",
    ],
    ["a scope as a list", { access_token: "t2", scope: ["read", "write"] }, {}, "read write"],
    ["a new refresh token", { access_token: "t2", refresh_token: "r2" }, { refresh: "r2" }, "asked"],
    ["a form", "access_token=t2&scope=read%20write&token_type=bearer", {}, "read write"],
    [
      "a page's type and a byte order mark",
      { status: 200, type: "text/html", body: '\uFEFF{"access_token":"t2"}' },
      {},
      "asked",
    ],
  ])("%s", async (_what, answer, tokens, scope) => {
    expect(await renewWith(answer)).toEqual({ kind: "tokens", tokens: { ...usual, ...tokens }, scope });
  });
});

test.each<readonly [string, OddAnswer, Renewal]>([
  ["an error with HTTP 200 ends it", { error: "invalid_grant" }, { kind: "ended", reason: "invalid_grant" }],
  ["an error in a form ends it", "error=invalid_grant&access_token=", { kind: "ended", reason: "invalid_grant" }],
  ["a refusal without a word ends it", { status: 401, body: "" }, { kind: "ended", reason: "HTTP 401" }],
  [
    "a server that is busy does not",
    { status: 200, body: '{"error":"server_error"}' },
    { kind: "unreachable", reason: "server_error" },
  ],
  ["nor one that is down", { status: 502, body: "<html>" }, { kind: "unreachable", reason: "HTTP 502" }],
  ["nor a proxy's page", "<html>", { kind: "unreachable", reason: "the token answer is no JSON object" }],
  [
    "nor an answer without a token",
    { access_token: null, error: null },
    { kind: "unreachable", reason: "the token answer has null as access_token" },
  ],
])("a login that cannot be renewed: %s", async (_what, answer, renewal) => {
  expect(await renewWith(answer)).toEqual(renewal);
});

function nulls(more: object): object {
  return { token_type: null, expires_in: null, refresh_token: null, scope: null, error: null, ...more };
}

import { describe, expect, test } from "vitest";
import { logInWith } from "../../../test/oauth/odd-login.ts";
import { usualTokens, type OddAnswers } from "../../../test/oauth/odd-server.ts";

const form = "application/x-www-form-urlencoded";

describe("a login works, whatever else is in", () => {
  test.each<readonly [string, OddAnswers]>([
    ["a registration with empty URIs", { registration: (wanted) => ({ ...wanted, client_id: "c", ...emptyUris }) }],
    ["a registration of a client_id alone", { registration: () => ({ client_id: "c" }) }],
    ["a registration with null members", { registration: (wanted) => ({ ...nulls(wanted), client_id: "c" }) }],
    [
      "a registration with times as text",
      { registration: () => ({ client_id: "c", client_id_issued_at: "2026-01-01" }) },
    ],
    ["a registration with an empty secret", { registration: () => ({ client_id: "c", client_secret: "" }) }],
    [
      "a registration with a method, but no secret",
      {
        registration: () => ({
          client_id: "c",
          client_secret: null,
          token_endpoint_auth_method: "client_secret_basic",
        }),
      },
    ],
    [
      "metadata with null members",
      { metadata: () => ({ scopes_supported: null, jwks_uri: null, response_types_supported: null }) },
    ],
    ["metadata without response_types_supported", { metadata: () => ({ response_types_supported: undefined }) }],
    [
      "metadata with empty URIs",
      { metadata: () => ({ service_documentation: "", jwks_uri: "", revocation_endpoint: "" }) },
    ],
    [
      "metadata with members of other types",
      { metadata: () => ({ scopes_supported: {}, op_policy_uri: 5, revocation_endpoint: [] }) },
    ],
    ["metadata with a text in place of a list", { metadata: () => ({ code_challenge_methods_supported: "S256" }) }],
    ["metadata with null as methods", { metadata: () => ({ token_endpoint_auth_methods_supported: null }) }],
    ["metadata with no methods", { metadata: () => ({ token_endpoint_auth_methods_supported: [] }) }],
    ["an issuer with a slash", { metadata: (own) => ({ issuer: `${own}/` }) }],
    [
      "an issuer with a slash that comes back as it is written",
      { metadata: (own) => ({ issuer: `${own}/` }), response: (own) => ({ iss: `${own}/` }) },
    ],
    [
      "an issuer without the slash that it is named with",
      { resource: (own) => ({ authorization_servers: [`${own}/`] }) },
    ],
    ["a resource that names no authorization server", { resource: () => ({ authorization_servers: null }) }],
    ["a resource with an empty list of them", { resource: () => ({ authorization_servers: [] }) }],
    ["a resource with a text in place of the list", { resource: (own) => ({ authorization_servers: own }) }],
    [
      "a challenge that names a path",
      { challenge: () => 'Bearer resource_metadata="/.well-known/oauth-protected-resource/mcp"' },
    ],
    ["a challenge that names nothing", { challenge: () => "Bearer" }],
    ["no challenge", { challenge: () => undefined }],
  ])("%s", async (_what, answers) => {
    expect(await logInWith(answers)).toMatchObject({
      client: { id: "c", secret: undefined, auth: "none" },
      tokens: { access: "t1", refresh: "r1", expiresAtMs: 3_600_000 },
    });
  });

  test.each<readonly [string, NonNullable<OddAnswers["tokens"]>[number], object]>([
    ["null members", { ...usualTokens, scope: null, id_token: null }, {}],
    [
      "null in place of all that is optional",
      { access_token: "t1", token_type: null, expires_in: null, refresh_token: null },
      bare(),
    ],
    ["empty text in place of it", { access_token: "t1", token_type: "", expires_in: "", refresh_token: "" }, bare()],
    ["a type of the server's own", { access_token: "t1", token_type: "user" }, bare()],
    ["other types", { access_token: "t1", token_type: 5, expires_in: {}, refresh_token: [], scope: 7 }, bare()],
    ["an access token alone", { access_token: "t1" }, bare()],
    ["a lifetime as text", { ...usualTokens, expires_in: "60" }, { expiresAtMs: 60_000 }],
    [
      "a form",
      { status: 200, type: form, body: "access_token=t1&expires_in=60&scope=&token_type=bearer" },
      bare(60_000),
    ],
    ["JSON that is called a page", { status: 200, type: "text/html", body: JSON.stringify(usualTokens) }, {}],
    [
      "JSON that is called text, with a byte order mark",
      { status: 201, type: "text/plain", body: `\uFEFF${JSON.stringify(usualTokens)}\n` },
      {},
    ],
    ["an error that is null", { ...usualTokens, error: null, error_description: "" }, {}],
  ])("a token answer with %s", async (_what, answer, tokens) => {
    const usual = { access: "t1", refresh: "r1", obtainedAtMs: 0, expiresAtMs: 3_600_000 };
    expect((await logInWith({ tokens: [answer] })).tokens).toEqual({ ...usual, ...tokens });
  });
});

test.each([
  ["a text", "read write", "read write"],
  ["a list", ["read", null, "write"], "read write"],
  ["empty, and means what was asked for", "", "asked"],
  ["null, and means what was asked for", null, "asked"],
  ["an empty list, and means what was asked for", [], "asked"],
])("a granted scope that is %s", async (_what, scope, kept) => {
  const answers = { tokens: [{ ...usualTokens, scope }] };
  expect((await logInWith(answers, { scope: "asked" })).scope).toBe(kept);
});

test.each<readonly [string, OddAnswers, string]>([
  ["a registration without client_id", { registration: () => ({ name: "x" }) }, "registration answer has no client_id"],
  [
    "a registration with null",
    { registration: () => ({ client_id: null }) },
    "registration answer has null as client_id",
  ],
  [
    "a registration with a number",
    { registration: () => ({ client_id: 5 }) },
    "registration answer has a number as client_id",
  ],
  ["an empty client_id", { registration: () => ({ client_id: "" }) }, "registration answer has an empty client_id"],
  [
    "a registration that is a page",
    { registration: () => ({ status: 200, body: "<html>" }) },
    "registration answer is no JSON object",
  ],
  [
    "a registration with an error in it",
    { registration: () => ({ error: "invalid_redirect_uri" }) },
    "does not register clients: invalid_redirect_uri",
  ],
  ["no token_endpoint", { metadata: () => ({ token_endpoint: undefined }) }, "has no token_endpoint"],
  ["null as token_endpoint", { metadata: () => ({ token_endpoint: null }) }, "has null as token_endpoint"],
  [
    "a token_endpoint that is a path",
    { metadata: () => ({ token_endpoint: "/token" }) },
    "has an unusable token_endpoint",
  ],
  [
    "no authorization_endpoint",
    { metadata: () => ({ authorization_endpoint: null }) },
    "names no authorization_endpoint",
  ],
  [
    "an empty registration_endpoint",
    { metadata: () => ({ registration_endpoint: "" }) },
    "lets no client register itself",
  ],
  ["no issuer", { metadata: () => ({ issuer: null }) }, "has null as issuer"],
  [
    "the issuer of another host",
    { metadata: () => ({ issuer: "https://other.example/" }) },
    "that of another one: its issuer is on https://other.example",
  ],
  ["an issuer with a path", { metadata: (own) => ({ issuer: `${own}/tenant` }) }, "that of another one"],
  ["no PKCE", { metadata: () => ({ code_challenge_methods_supported: null }) }, "does not support PKCE"],
  [
    "an endpoint without encryption",
    { metadata: () => ({ token_endpoint: "http://as.example/token" }) },
    "token_endpoint is not used: http://as.example is not encrypted",
  ],
  [
    "an answer of another issuer, were it only for a slash",
    { response: (own) => ({ iss: `${own}/` }) },
    "came from another authorization server",
  ],
  [
    "an error with HTTP 200",
    { tokens: [{ error: "invalid_grant", access_token: null }] },
    "gave no token: invalid_grant",
  ],
  [
    "an error with HTTP 200 in a form",
    { tokens: ["error=invalid_grant&error_description=No"] },
    "gave no token: invalid_grant",
  ],
  ["an error of the server", { tokens: [{ status: 503, body: "down" }] }, "gave no token: HTTP 503"],
  ["no access_token", { tokens: [{ token_type: "Bearer" }] }, "the token answer has no access_token"],
  ["null as access_token", { tokens: [{ access_token: null }] }, "the token answer has null as access_token"],
  [
    "a line break in the access_token",
    { tokens: [{ access_token: "t\r\nx: y" }] },
    "the token answer has an unusable access_token",
  ],
  ["a page in place of tokens", { tokens: ["<html>"] }, "the token answer is no JSON object"],
  [
    "a token of another type",
    { tokens: [{ access_token: "t1", token_type: "DPoP" }] },
    "a token_type that is not Bearer",
  ],
])("a login with %s is refused, and it is said why", async (_what, answers, sentence) => {
  await expect(logInWith(answers)).rejects.toMatchObject({
    code: "LOGIN_FAILED",
    message: expect.stringContaining(sentence) as string,
  });
});

const emptyUris = { client_uri: "", logo_uri: "", tos_uri: "", policy_uri: "", jwks_uri: "" };

function nulls(object: object): object {
  const members = [...Object.keys(object), "client_secret", "client_secret_expires_at", "jwks", "contacts"];
  return Object.fromEntries(members.map((member) => [member, null]));
}

function bare(expiresAtMs?: number): object {
  return { refresh: undefined, expiresAtMs };
}

import { expect, test } from "vitest";
import { isRedirect, knownDocuments, normalizeClient } from "./client-metadata.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

test("what well-known apps register is made into what the authorization server takes", () => {
  const code = {
    client_name: "Visual Studio Code",
    grant_types: ["authorization_code", "refresh_token", deviceGrant, "urn:something:else"],
    redirect_uris: ["https://vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"],
    token_endpoint_auth_method: "none",
    application_type: "web",
    software_id: "x",
  };
  expect(normalizeClient(code)).toEqual({
    client_name: "Visual Studio Code",
    redirect_uris: code.redirect_uris,
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token", deviceGrant],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
  const cursor = ["cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/agents/mcp/oauth/callback"];
  expect(normalizeClient({ redirect_uris: cursor })).toMatchObject({ application_type: "native" });
  expect(normalizeClient({ redirect_uris: ["http://localhost/callback"] })).toMatchObject({
    application_type: "native",
  });
  expect(normalizeClient({ redirect_uris: ["https://claude.ai/api/mcp/auth_callback"] })).toMatchObject({
    application_type: "web",
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  });
});

test("http to another host, and nonsense, stay for the library to refuse", () => {
  // Of an application it takes http on its own machine alone; of a page it would take it anywhere.
  expect(normalizeClient({ redirect_uris: ["http://evil.example/callback"] })).toMatchObject({
    application_type: "native",
  });
  expect(
    normalizeClient({ redirect_uris: "x", grant_types: 7, token_endpoint_auth_method: "private_key_jwt" }),
  ).toEqual({
    redirect_uris: "x",
    application_type: "web",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
});

test("what is known of clients without the Internet leads back to the same machine, and to nothing else", () => {
  for (const [id, document] of Object.entries(knownDocuments)) {
    expect(id).toMatch(/^https:\/\//);
    const client = normalizeClient({ client_id: id, ...document });
    expect(client).toMatchObject({ application_type: "native", token_endpoint_auth_method: "none" });
    expect(client["redirect_uris"]).toEqual([expect.stringMatching(/^http:\/\/(?:localhost|127\.0\.0\.1)\/callback$/)]);
  }
});

test.each([
  "https://app.example/callback",
  "https://app.example:8443/callback?x=1",
  "http://localhost/callback",
  "http://127.0.0.1:33418/",
  "http://[::1]:1/",
  "com.example.app:/oauth2redirect",
  "com.example.app://callback",
  "cursor://anysphere.cursor-mcp/oauth/callback",
  "vscode://vscode.github-authentication/did-authenticate",
])("a browser is sent to %s", (uri) => {
  expect(isRedirect(uri)).toBe(true);
});

test.each([
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  "java\nscript:alert(1)",
  " javascript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "vbscript:x",
  "blob:https://a.example/1",
  "about:blank",
  "view-source:https://a.example",
  "mailto:a@b.example",
  "ms-officecmd:x",
  "search-ms:query=x",
  "intent://x#Intent;end",
  "ftp://a.example/",
  "ws://a.example/",
  "http://evil.example/callback",
  "http://localhost.evil.example/callback",
  "http://127.0.0.1@evil.example/callback",
  "https://bank.example@evil.example/",
  "https://app.example/callback#fragment",
  "https://app.example\\@evil.example/",
  "https://app.example/\u202ecallback",
  "com.example.app:/x#y",
  "//app.example/callback",
  "callback",
  "",
  `https://app.example/${"x".repeat(64 * 1024)}`,
])("no browser is sent to %j", (uri) => {
  expect(isRedirect(uri)).toBe(false);
});

import { expect, test } from "vitest";
import { ResponseHead } from "../../../../wire/http/response-head.ts";
import { failureOfHead, failureOfRefusal, readChallenge, rpcErrorOf } from "./refusal.ts";
import { parseServerAddress, redirectTarget, withPath, slashRedirect } from "../server-address.ts";

const identity = { name: "toolyard", version: "1" } as Parameters<typeof parseServerAddress>[2];
const address = parseServerAddress(
  "weather",
  { url: "https://u%40x:p@h.example/mcp?key=hunter2", headers: {} },
  identity,
);
const headOf = (status: number, ...lines: readonly string[]) =>
  new ResponseHead(status, [`HTTP/1.1 ${status} X`, ...lines].join("\r\n"));
const refusal = (status: number, ...lines: readonly string[]) =>
  failureOfRefusal("weather", { head: headOf(status, ...lines), body: Buffer.alloc(0) });

test("a refusal's JSON-RPC error is found with and without an id", () => {
  expect(rpcErrorOf(Buffer.from('{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m"}}'), 10)).toEqual({
    code: -1,
    bytes: Buffer.from('{"code":-1,"message":"m"}'),
    id: 7,
  });
  expect(rpcErrorOf(Buffer.from('{"error":{"code":2},"id":null}'), 10)?.id).toBeNull();
  expect(rpcErrorOf(Buffer.from('{"error":{"code":2}}'), 10)?.id).toBeUndefined();
});

test.each([
  "",
  "<html>502</html>",
  "[]",
  "null",
  "{}",
  '{"error":"text"}',
  '{"error":{"code":"1"}}',
  '{"error":{"code":1}',
  '{"jsonrpc":"2.0","id":7,"error":null}',
  '{"error":"invalid_token","error_description":"x"}',
])("the body %j has no JSON-RPC error", (body) => {
  expect(rpcErrorOf(Buffer.from(body), 10)).toBeUndefined();
});

test.each(['"used up"', '{"message":"used up"}', '{"code":"x","message":"used up"}'])(
  "the error %s of a message that says it is JSON-RPC is one",
  (error) => {
    const body = Buffer.from(`{"jsonrpc":"2.0","id":7,"result":null,"error":${error}}`);
    expect(rpcErrorOf(body, 10)).toEqual({ code: -32_603, bytes: Buffer.from(error), id: 7 });
  },
);

test("a redirect is told without the paths, queries and passwords of either URL", () => {
  const target = (location: string) => {
    const failure = failureOfHead(address, headOf(307, `Location: ${location}`));
    expect(failure?.code).toBe("CONNECT_FAILED");
    expect(failure?.message).not.toMatch(/hunter|secret/);
    return failure?.data?.["target"];
  };
  expect(target("https://other.example/secret?hunter3")).toBe("https://other.example");
  expect(target("/mcp/?secret")).toBe("its own URL with a slash at the end");
  expect(target("/secret")).toBe("another path of https://h.example");
  expect(target("http://h.example/mcp")).toBe("http://h.example");
  expect(target("data:secret")).toBe("data:");
  expect(target("http://[secret")).toBe("nowhere");
  expect(redirectTarget(address, undefined)).toBe("nowhere");
});

test.each([
  ["POST", 307, "/mcp/", "/mcp/"],
  ["POST", 308, "https://h.example/mcp/#part", "/mcp/"],
  ["DELETE", 307, "https://H.example:443/mcp/?secret", "/mcp/?secret"],
  ["GET", 301, "mcp/", "/mcp/"],
  ["GET", 302, "/mcp/", "/mcp/"],
] as const)("%s redirected with %i to %s is sent again", (method, status, location, to) => {
  const query = location.includes("?") ? "?secret" : "";
  expect(slashRedirect(address, { method, path: `/mcp${query}` }, { status, location })).toBe(to);
  expect(slashRedirect(address, { method, path: `/mcp/` }, { status, location: "/mcp" })).toBe("/mcp");
});

test("the query of a redirected request stays, also where the server leaves it out", () => {
  const request = { method: "POST", path: "/mcp?key=k" };
  expect(slashRedirect(address, request, { status: 307, location: "/mcp/" })).toBe("/mcp/?key=k");
  expect(slashRedirect(address, request, { status: 307, location: "/mcp/?key=other" })).toBeUndefined();
});

test.each([
  [307, "http://h.example/mcp/"],
  [307, "https://other.example/mcp/"],
  [307, "//other.example/mcp/"],
  [307, "https://h.example:8443/mcp/"],
  [307, "https://me:secret@h.example/mcp/"],
  [307, "/mcp"],
  [307, "/mcp//"],
  [307, "/mcp/x"],
  [307, "/MCP/"],
  [307, "http://[x"],
  [307, undefined],
  [301, "/mcp/"],
  [302, "/mcp/"],
  [303, "/mcp/"],
  [300, "/mcp/"],
])("a POST redirected with %i to %s is not sent again", (status, location) => {
  expect(slashRedirect(address, { method: "POST", path: "/mcp" }, { status, location })).toBeUndefined();
});

test("an encoding that was not asked for is refused before the body is read", () => {
  expect(failureOfHead(address, headOf(200, "content-encoding: br"))?.code).toBe("UPSTREAM_PROTOCOL");
  expect(failureOfHead(address, headOf(200, "content-encoding: Identity"))).toBeUndefined();
  expect(failureOfHead(address, headOf(404))).toBeUndefined();
});

test("401 asks for a login, and 403 does only when it is for want of scopes", () => {
  expect(refusal(401)).toMatchObject({ code: "SERVER_NEEDS_LOGIN", hint: "Run `toolyard login weather`." });
  expect(refusal(403)).toMatchObject({ code: "UPSTREAM_HTTP", data: { status: 403 } });
  const scopes = refusal(403, 'WWW-Authenticate: Bearer error="insufficient_scope", scope="read write"');
  expect(scopes).toMatchObject({
    code: "SERVER_NEEDS_LOGIN",
    hint: 'Run `toolyard login weather --scope "read write"`.',
  });
});

test("a scope that a shell would run is not put into a command to paste", () => {
  for (const scope of ["$(reboot)", "a`b`", String.raw`a\"; reboot; \"`, "x".repeat(501)]) {
    const failure = refusal(403, `WWW-Authenticate: Bearer error=insufficient_scope, scope="${scope}"`);
    expect([failure.code, failure.hint]).toEqual(["SERVER_NEEDS_LOGIN", "Run `toolyard login weather`."]);
  }
});

test("429 is a busy server, with the time to wait as it says itself, cut", () => {
  expect(refusal(429, "Retry-After: 30")).toMatchObject({
    code: "UPSTREAM_BUSY",
    data: { status: 429, retryAfter: "30" },
  });
  expect(refusal(429).data).toEqual({ status: 429 });
  expect(refusal(503, `retry-after: ${"9".repeat(99)}`)).toMatchObject({
    code: "UPSTREAM_HTTP",
    data: { status: 503, retryAfter: "9".repeat(40) },
  });
});

test("of all challenges the first value of each known parameter counts, quotation marks respected", () => {
  const head = headOf(
    401,
    'WWW-Authenticate: Basic realm="a, scope=admin"',
    String.raw`WWW-Authenticate: Bearer SCOPE=read, realm="b", error_description="x", error="in\"valid"`,
  );
  expect(readChallenge(head)).toEqual({ realm: "a, scope=admin", scope: "read", error: 'in"valid' });
});

test("user and password of a URL become a header, and stand nowhere else", () => {
  const { headers, origin, path } = address;
  const basic = `Basic ${Buffer.from("u@x:p").toString("base64")}`;
  expect(headers[headers.indexOf("authorization") + 1]).toBe(basic);
  expect([origin, path]).toEqual(["https://h.example", "/mcp?key=hunter2"]);
  const own = {
    url: "https://u:p@h.example/",
    headers: { AUTHORIZATION: "Bearer t", "MCP-Session-Id": "x", Host: "v" },
  };
  const configured = parseServerAddress("s", own, identity).headers;
  expect(configured.filter((_text, at) => at % 2 === 0)).toEqual(["user-agent", "authorization", "host"]);
  expect(configured).toContain("Bearer t");
});

test("an address that cannot be used is refused without its values", () => {
  const refused = (url: string, headers: Record<string, string> = {}) =>
    expect(() => parseServerAddress("s", { url, headers }, identity)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining("hunter") as string }),
    );
  refused("hunter");
  refused("ftp://hunter/");
  refused("http://h/", { "hunter 2": "x" });
  refused("http://h/", { key: "hunter\r\nX: 1" });
});

test("an SSE server may name another path, and no other origin", () => {
  expect(withPath(address, "/messages?s=1").path).toBe("/messages?s=1");
  expect(withPath(address, "messages").path).toBe("/messages");
  for (const reference of [
    "https://evil.example/x",
    "//evil.example/x",
    "http://h.example/x",
    "https://h.example:8443/",
  ])
    expect(() => withPath(address, reference)).toThrow("not on its own origin");
  expect(() => withPath(address, "http://[")).toThrow("not a URL");
});

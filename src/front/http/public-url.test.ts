import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { toChallenge, toResource } from "./challenge.ts";
import { createPublicUrl, type AddressSettings } from "./public-url.ts";

const listening = { host: "127.0.0.1", port: 3001 };
const forwarded = {
  "x-forwarded-proto": "https",
  "x-forwarded-host": "tools.example.com",
  "x-forwarded-prefix": "/yard/",
};

function urlOf(
  settings: Partial<AddressSettings>,
  headers: Readonly<Record<string, string>>,
  remoteAddress = "127.0.0.1",
): string {
  return createPublicUrl(() => ({ ...listening, ...settings }))({ headers, socket: { remoteAddress } });
}

describe("the gateway's address", () => {
  test("is that of the request, and without one where it listens", () => {
    expect(urlOf({}, { host: "localhost:3001" })).toBe("http://localhost:3001");
    expect(createPublicUrl(() => listening)(undefined)).toBe("http://127.0.0.1:3001");
    expect(createPublicUrl(() => ({ host: "::1", port: 1 }))(undefined)).toBe("http://[::1]:1");
    expect(urlOf({}, { host: 'evil", error="' })).toBe("http://127.0.0.1:3001");
  });

  test("is publicUrl where it is set, whatever anybody says", () => {
    const settings = { publicUrl: "https://a.example/yard", trustedProxies: ["127.0.0.1"] };
    expect(urlOf(settings, { host: "b.example", ...forwarded })).toBe("https://a.example/yard");
    expect(createPublicUrl(() => ({ ...listening, ...settings }))(undefined)).toBe("https://a.example/yard");
  });

  test("follows settings that change", () => {
    let settings: AddressSettings = listening;
    const publicUrl = createPublicUrl(() => settings);
    const request = { headers: { host: "h", ...forwarded }, socket: { remoteAddress: "10.1.2.3" } };
    expect(publicUrl(request)).toBe("http://h");
    settings = { ...listening, trustedProxies: ["10.0.0.0/8"] };
    expect(publicUrl(request)).toBe("https://tools.example.com/yard");
    settings = { ...listening, trustedProxies: ["10.1.2.4"] };
    expect(publicUrl(request)).toBe("http://h");
  });

  test.each([
    [["127.0.0.1"], "127.0.0.1", true],
    [["127.0.0.1"], "::ffff:127.0.0.1", true],
    [["127.0.0.1"], "127.0.0.2", false],
    [["10.0.0.0/8", "192.168.7.0/24"], "192.168.7.200", true],
    [["10.0.0.0/8", "192.168.7.0/24"], "192.168.8.1", false],
    [["fd00::/8"], "fd12::7", true],
    [["fe80::/10"], "fe80::1%eth0", true],
    [["::1"], "127.0.0.1", false],
    [[], "127.0.0.1", false],
  ])("proxies %j and a request from %s: X-Forwarded-* counts: %s", (trustedProxies, peer, counts) => {
    expect(urlOf({ trustedProxies }, { host: "h:1", ...forwarded }, peer)).toBe(
      counts ? "https://tools.example.com/yard" : "http://h:1",
    );
  });

  test.each([
    [{ "x-forwarded-proto": "https" }, "https://h"],
    [{ "x-forwarded-proto": "gopher" }, "http://h"],
    [{ "x-forwarded-host": "a.example:8443" }, "http://a.example:8443"],
    [{ "x-forwarded-host": 'a.example/x"' }, "http://h"],
    [{ "x-forwarded-host": "user@a.example" }, "http://h"],
    // The first value comes from the client, the last from the proxy.
    [{ "x-forwarded-host": "evil.example, a.example", "x-forwarded-proto": "http, https" }, "https://a.example"],
    [{ "x-forwarded-prefix": "/" }, "http://h"],
    [{ "x-forwarded-prefix": "/a/b" }, "http://h/a/b"],
    [{ "x-forwarded-prefix": "//evil.example" }, "http://h"],
    [{ "x-forwarded-prefix": "/a/../b" }, "http://h"],
    [{ "x-forwarded-prefix": '/a"b' }, "http://h"],
  ])("a trusted proxy says %j: %s", (headers, expected) => {
    expect(urlOf({ trustedProxies: ["127.0.0.1"] }, { host: "h", ...headers })).toBe(expected);
  });
});

test("metadata name exactly the endpoint that was challenged, also below a path of a proxy", () => {
  for (const base of ["http://h:1", "https://h/yard", "https://h/mcp"])
    for (const path of ["/mcp", "/mcp/flat", "/mcp/server/a", "/i/a%40b/mcp", "/sse"]) {
      const url = /resource_metadata="([^"]+)"/.exec(toChallenge(base, path))?.[1] ?? "";
      // A proxy removes its own path before the gateway sees the rest.
      const seen = url.slice(`${base}/.well-known/oauth-protected-resource`.length);
      expect(toResource(base, seen)).toBe(`${base}${path}`);
    }
  expect(toResource("https://h/yard", "")).toBe("https://h/yard/mcp");
  // RFC 9728 puts the well-known path before the whole path of the resource.
  expect(toResource("https://h/yard", "/yard/mcp/flat")).toBe("https://h/yard/mcp/flat");
});

test("no other file writes a scheme in front of a host", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const allowed = new Set([
    "front/http/public-url.ts",
    // Where a gateway listens on its own machine, for what is written into files of clients there.
    "kernel/text/host-addresses.ts",
    // The browser brings the answer of a login to the machine that it runs on, under the address that RFC 8252
    // requires (section 7.3).
    "servers/logins/flow/callback.ts",
    // What an app that nobody is sent back to registers as its address.
    "servers/logins/flow/ask-device.ts",
    // What documents of known apps say about themselves.
    "people/authorization-server/oauth/client-metadata.ts",
    // The scheme of a proxy's address when the variable that names it has none, as in curl.
    "wire/http/proxy-variables.ts",
    // Where a collector of traces listens when nobody says where, as OpenTelemetry's specification has it.
    "config/rows/trace-settings.ts",
  ]);
  const found = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !allowed.has(file))
    .flatMap((file) =>
      readFileSync(`${root}${file}`, "utf8")
        .split("\n")
        .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line) && !/\/\*\*.*\*\//.test(line))
        .filter((line) => /["'`]https?:\/\/(?:["'`]|\$\{|localhost|127\.)/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { checkOrigin, createOriginRules } from "./origin.ts";

const local = createOriginRules({ host: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });

function check(headers: Record<string, string | undefined>, rules = local, url = "/mcp"): string {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const request = { url, headers: Object.fromEntries(given), rawHeaders: given.flat() } as unknown as IncomingMessage;
  try {
    checkOrigin(request, rules);
    return "passes";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("Host", () => {
  test.each([
    ["127.0.0.1:3001", "passes"],
    ["127.0.0.1", "passes"],
    ["LOCALHOST:3001", "passes"],
    ["[::1]:3001", "passes"],
    ["evil.com", "HOST_FORBIDDEN"],
    ["127.0.0.1.evil.com", "HOST_FORBIDDEN"],
    ["localhost.", "HOST_FORBIDDEN"],
    ["0.0.0.0:3001", "HOST_FORBIDDEN"],
    ["", "HOST_INVALID"],
    ["localhost/", "HOST_INVALID"],
    ["localhost#evil.com", "HOST_INVALID"],
    ["localhost?x", "HOST_INVALID"],
    ["user@localhost", "HOST_INVALID"],
    ["localhost:port", "HOST_INVALID"],
    ["localhost:123456", "HOST_INVALID"],
    ["localhost, evil.com", "HOST_INVALID"],
    ["[::1", "HOST_INVALID"],
  ])("%j %s", (host, expected) => expect(check({ host })).toBe(expected));

  test("is required, and only once", () => {
    expect(check({ host: undefined })).toBe("HOST_INVALID");
    const twice = {
      url: "/mcp",
      headers: { host: "localhost" },
      rawHeaders: ["Host", "localhost", "HOST", "evil.com"],
    } as unknown as IncomingMessage;
    expect(() => checkOrigin(twice, local)).toThrowError(expect.objectContaining({ code: "HOST_INVALID" }));
  });

  test("a target in absolute form names the host, whatever the header says", () => {
    expect(check({ host: "localhost" }, local, "http://evil.com/mcp")).toBe("HOST_FORBIDDEN");
    expect(check({ host: "localhost" }, local, "http://localhost@evil.com/mcp")).toBe("HOST_INVALID");
    expect(check({ host: "localhost" }, local, "http://localhost:3001/mcp")).toBe("passes");
  });

  test("what the configuration allows is added; binding every address allows no further name", () => {
    const rules = createOriginRules({ host: "0.0.0.0", allowedHosts: ["Tools.Example.com"], allowedOrigins: [] });
    expect(check({ host: "tools.example.com:8443" }, rules)).toBe("passes");
    expect(check({ host: "0.0.0.0" }, rules)).toBe("HOST_FORBIDDEN");
    expect(
      check({ host: "[fd00::1]:1" }, createOriginRules({ host: "fd00::1", allowedHosts: [], allowedOrigins: [] })),
    ).toBe("passes");
  });
});

describe("Origin", () => {
  const host = "localhost:3001";

  test.each([
    [undefined, "passes"],
    ["http://localhost:3001", "passes"],
    ["HTTP://LOCALHOST:3001", "passes"],
    ["https://localhost:3001", "passes"],
    ["https://evil.com", "ORIGIN_FORBIDDEN"],
    ["null", "ORIGIN_FORBIDDEN"],
    ["", "ORIGIN_FORBIDDEN"],
    ["http://localhost", "ORIGIN_FORBIDDEN"],
    ["http://localhost:3002", "ORIGIN_FORBIDDEN"],
    ["http://localhost.evil.com", "ORIGIN_FORBIDDEN"],
    ["http://localhost:3001.evil.com", "ORIGIN_FORBIDDEN"],
    ["http://127.0.0.1:3001", "ORIGIN_FORBIDDEN"],
    ["http://localhost:3001/", "ORIGIN_FORBIDDEN"],
    ["file://", "ORIGIN_FORBIDDEN"],
  ])("%j %s", (origin, expected) => expect(check({ host, origin })).toBe(expected));

  test("allowed ones pass, and nothing that only begins like them", () => {
    const rules = createOriginRules({
      host: "127.0.0.1",
      allowedHosts: [],
      allowedOrigins: ["https://App.example.com/"],
    });
    expect(check({ host, origin: "https://app.example.com" }, rules)).toBe("passes");
    expect(check({ host, origin: "https://app.example.com.evil.com" }, rules)).toBe("ORIGIN_FORBIDDEN");
    expect(check({ host, origin: "http://app.example.com" }, rules)).toBe("ORIGIN_FORBIDDEN");
  });
});

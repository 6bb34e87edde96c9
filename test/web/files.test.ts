import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { send } from "../harness/rpc.ts";
import { firstLoad, readWebFile, webFolder } from "./web-files.ts";

test("what the first page loads is at most 170 KiB of JavaScript, compressed", () => {
  const scripts = firstLoad().filter((name) => name.endsWith(".js"));
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(readWebFile(name), { level: 9 }).length, 0);
  expect(bytes).toBeLessThanOrEqual(170 * 1_024);
});

test("forms, the editor and charts are loaded only by pages that show some", () => {
  const names = readdirSync(join(webFolder, "assets")).map((name) => name.replace(/\.br$/, ""));
  const first = firstLoad().join(" ");
  for (const part of ["tool-form", "json-editor", "chart", "app-frame"]) {
    expect(names.some((name) => name.startsWith(`${part}-`))).toBe(true);
    expect(first).not.toContain(`${part}-`);
  }
});

test("the dashboard names the licences of everything in it", () => {
  const notices = readFileSync(join(webFolder, "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const name of ["react-dom", "@base-ui/react", "@codemirror/view", "@rjsf/core", "uplot"])
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"));
});

describe("the gateway", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ config: { mcpServers: {} } });
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const get = async (path: string, headers: Record<string, string> = {}, method = "GET") =>
    await send(`${gateway.url}${path}`, { method, headers });

  test("serves the page for every path below /ui/, to be asked for again each time", async () => {
    const page = await get("/ui/");
    expect([page.status, page.headers["content-type"], page.headers["cache-control"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      "no-cache",
    ]);
    expect(page.text).toContain('<div id="root">');
    expect((await get("/ui/servers/github?tab=log")).text).toBe(page.text);
    const again = await get("/ui/", { "if-none-match": String(page.headers["etag"]) });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await get("/ui/", {}, "HEAD")).status).toBe(200);
    const wrong = await get("/ui/", {}, "POST");
    expect([wrong.status, wrong.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  });

  test("serves files for ever, as brotli to whoever takes it and unpacked to all others", async () => {
    const name = firstLoad().find((file) => file.endsWith(".js")) ?? "";
    const packed = await fetch(`${gateway.url}/ui/${name}`, { headers: { "Accept-Encoding": "br" } });
    expect(packed.headers.get("content-encoding")).toBe("br");
    expect(packed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(packed.headers.get("vary")).toBe("Accept-Encoding");
    expect(packed.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const plain = await get(`/ui/${name}`, { "accept-encoding": "gzip, br;q=0" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.text).toBe(readWebFile(name).toString());
    for (const missing of ["/ui/assets/gone-12345678.js", "/ui/assets/%2e%2e%2findex.html.br", "/ui/assets/x/y"])
      expect((await get(missing)).status).toBe(404);
  });

  test("FAULT 36: the dashboard may not be shown in a frame, and its policy has no exception", async () => {
    const { headers } = await get("/ui/");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    // Pages of servers are shown in a frame of another origin, and in nothing else.
    const frames = `frame-src http://localhost:${new URL(gateway.url).port}/sandbox`;
    expect(policy).toContain(frames);
    expect(policy.replace(frames, "")).not.toMatch(/unsafe|nonce|sha256|https?:|\*/);
    expect(headers).toMatchObject({
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
  });

  test("FAULT 37: browsers are led to the dashboard, at one name of this machine, and nowhere else", async () => {
    const port = new URL(gateway.url).port;
    const html = { accept: "text/html" };
    expect((await get("/", html)).headers["location"]).toBe(`${gateway.url}/ui/`);
    expect((await get("/ui")).headers["location"]).toBe(`${gateway.url}/ui/`);
    const other = await get("/ui/servers", { host: `localhost:${port}` });
    expect([other.status, other.headers["location"]]).toEqual([307, `${gateway.url}/ui/servers`]);
    expect((await get("/ui//evil.com", { host: `localhost:${port}` })).headers["location"]).toBe(
      `${gateway.url}/ui//evil.com`,
    );
    expect((await get("/ui/", { host: "evil.com" })).status).toBe(403);
    // Programs are told in words.
    expect((await get("/")).headers["content-type"]).toContain("text/plain");
  });
});

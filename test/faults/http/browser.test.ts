import { describe, expect, test } from "vitest";
import { send } from "../../harness/rpc.ts";
import { ping, post, rawExchange, statusOf, useGateway } from "./front.ts";

const gateway = useGateway({ allowedOrigins: ["https://app.example.com"] });
const probes = ["/healthz", "/readyz"];
const routes = [
  "/mcp",
  "/mcp/flat",
  "/mcp/server/bad",
  "/nothing",
  "/api/servers",
  "/list/apps",
  "/openapi.json",
  "/documentation",
];

const foreignHosts = ["evil.com", "127.0.0.1.evil.com", "localhost.evil.com:80", "evil.com:3001", "0.0.0.0"];

test("FAULT 29: a foreign Host is refused on every route but the probes", async () => {
  for (const route of routes) {
    for (const host of foreignHosts) {
      const answer = await send(`${gateway().url}${route}`, { method: "GET", headers: { host } });
      expect([route, host, answer.status]).toEqual([route, host, 403]);
    }
  }
  expect((await post(gateway().url, ping, { host: "localhost" })).status).toBe(200);
});

const bareHealth = { "/healthz": { status: "ok" }, "/readyz": { status: "ready" } };

test("FAULT 29, FAULT 30: probes get the bare status by any Host, or none", async () => {
  for (const [path, expected] of Object.entries(bareHealth)) {
    for (const host of [...foreignHosts, "10.1.2.3:3001", "[fd00::7]:3001"]) {
      const answer = await send(`${gateway().url}${path}`, { method: "GET", headers: { host } });
      expect([path, host, answer.status, answer.json]).toEqual([path, host, 200, expected]);
      for (const method of ["POST", "DELETE"])
        expect([path, (await send(`${gateway().url}${path}`, { method, headers: { host } })).status]).toEqual([
          path,
          403,
        ]);
    }
    for (const head of ["HTTP/1.0\r\n", "HTTP/1.1\r\n", "HTTP/1.1\r\nHost:\r\n"]) {
      const answer = await rawExchange(gateway().url, `GET ${path} ${head}Connection: close\r\n\r\n`);
      expect([head, statusOf(answer), answer.split("\r\n\r\n")[1]]).toEqual([head, 200, JSON.stringify(expected)]);
    }
    const byHead = await rawExchange(gateway().url, `HEAD ${path} HTTP/1.0\r\n\r\n`);
    expect([statusOf(byHead), byHead.split("\r\n\r\n")[1]]).toEqual([200, ""]);
  }
});

test("FAULT 30: a Host that is missing, given twice or no host is a bad request", async () => {
  for (const host of ["localhost/x", "localhost#evil.com", "localhost?x", "a@localhost", "localhost:x", "local host"]) {
    expect([host, (await send(`${gateway().url}/mcp`, { method: "GET", headers: { host } })).status]).toEqual([
      host,
      400,
    ]);
  }
  const several = ["localhost\r\nHost: localhost", "localhost\r\nhOsT: evil.com", "\r\nHost: evil.com", "a@evil.com"];
  for (const hosts of ["", "Host:\r\n", ...several.map((host) => `Host: ${host}\r\n`)]) {
    for (const version of ["1.1", "1.0"]) {
      for (const path of hosts.length > 10 ? [...routes, ...probes] : routes) {
        const head = `GET ${path} HTTP/${version}\r\n${hosts}Connection: close\r\n\r\n`;
        expect([path, hosts, statusOf(await rawExchange(gateway().url, head))]).toEqual([path, hosts, 400]);
      }
    }
  }
});

describe("FAULT 31: a foreign Origin", () => {
  test("is refused on every route", async () => {
    const port = Number(new URL(gateway().url).port);
    for (const route of [...routes, ...probes]) {
      for (const origin of [
        "https://evil.com",
        "null",
        "http://localhost.evil.com",
        "http://localhost",
        `http://localhost:${port + 1}`,
        `http://127.0.0.1:${port}.evil.com`,
        "https://app.example.com.evil.com",
        "file://",
        "",
      ]) {
        const answer = await send(`${gateway().url}${route}`, { method: "GET", headers: { origin } });
        expect([route, origin, answer.status]).toEqual([route, origin, 403]);
      }
      const rebound = { origin: "http://evil.com", host: "evil.com" };
      expect((await send(`${gateway().url}${route}`, { method: "GET", headers: rebound })).status).toBe(403);
    }
    expect((await post(gateway().url, ping, { origin: "https://evil.com" })).json.error.code).toBe(-31112);
  });

  test("is not hidden behind more headers than are looked at", async () => {
    const many = "a: b\r\n".repeat(500);
    const head = `POST /mcp HTTP/1.1\r\nHost: ${new URL(gateway().url).host}\r\nContent-Type: application/json\r\nContent-Length: ${ping.length}\r\nConnection: close\r\n`;
    expect([400, 403, 431]).toContain(
      statusOf(await rawExchange(gateway().url, `${head}${many}Origin: https://evil.com\r\n\r\n${ping}`)),
    );
  });

  test("our own and the allowed ones pass, and are told so", async () => {
    for (const origin of [gateway().url, "https://app.example.com"]) {
      const answer = await post(gateway().url, ping, { origin });
      expect([answer.status, answer.headers["access-control-allow-origin"], answer.headers["vary"]]).toEqual([
        200,
        origin,
        "Origin",
      ]);
    }
  });
});

test("FAULT 32: a preflight from a foreign origin gets no allow headers, one from an allowed origin does", async () => {
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,mcp-session-id",
  };
  for (const origin of ["https://evil.com", "null"]) {
    const answer = await send(`${gateway().url}/mcp`, { method: "OPTIONS", headers: { origin, ...preflight } });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
  const allowed = await send(`${gateway().url}/mcp`, {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", ...preflight },
  });
  expect([
    allowed.status,
    allowed.headers["access-control-allow-origin"],
    allowed.headers["access-control-allow-credentials"],
  ]).toEqual([204, "https://app.example.com", undefined]);
});

test("a page may send the arguments that a tool wants as headers, and read why it has to authenticate", async () => {
  const answer = await send(`${gateway().url}/mcp`, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example.com",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,mcp-param-region, Mcp-Param-Zone,x-other,mcp-param-a b",
    },
  });
  const allowed = String(answer.headers["access-control-allow-headers"]).split(", ");
  expect(allowed).toEqual(expect.arrayContaining(["Content-Type", "mcp-param-region", "Mcp-Param-Zone"]));
  expect(allowed).not.toContain("x-other");
  expect(allowed.join()).not.toContain("a b");
  expect(answer.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
});

test("FAULT 33: what a page may send without asking is refused, whatever it holds", async () => {
  for (const type of [
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; application/json",
  ]) {
    const answer = await send(`${gateway().url}/mcp`, { headers: { "content-type": type }, body: ping });
    expect([type, answer.status]).toEqual([type, 415]);
  }
  expect((await send(`${gateway().url}/mcp`, { body: ping })).status).toBe(415);
});

test("FAULT 34: no page of another site, and no form, changes anything", async () => {
  for (const path of ["/execute/bad.echo", "/api/servers/bad/restart", "/api/servers", "/mcp"]) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const foreign = { origin: "https://evil.com", "content-type": "application/json", "content-length": "2" };
      const answer = await send(`${gateway().url}${path}`, { method, headers: foreign, body: "{}" });
      expect([path, method, answer.status]).toEqual([path, method, 403]);
    }
    const form = await send(`${gateway().url}${path}`, { headers: { "content-type": "text/plain" }, body: "{}" });
    expect([404, 405, 415]).toContain(form.status);
  }
  for (const path of ["/execute/bad.echo", "/api/servers/bad/restart"]) {
    expect([404, 405]).toContain((await send(`${gateway().url}${path}`, { method: "GET" })).status);
  }
});

test("FAULT 36: no page of ours may be shown in a frame", async () => {
  const page = await send(`${gateway().url}/documentation`, { method: "GET" });
  expect(page.headers["content-type"]).toContain("text/html");
  expect(page.headers["x-frame-options"]).toBe("DENY");
  expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(page.headers["content-security-policy"]).not.toContain("unsafe-inline");
});

test("FAULT 37: no redirect leads away from here", async () => {
  const paths = [
    "/documentation/static/index.html",
    "/documentation",
    "/",
    "//evil.com/documentation/static/index.html",
    "/documentation/static//evil.com",
  ];
  for (const next of ["//evil", "/\\evil", "https:evil", "https://evil.com"]) {
    for (const path of paths) {
      const { status, headers } = await send(`${gateway().url}${path}?next=${encodeURIComponent(next)}`, {
        method: "GET",
      });
      const target = new URL(headers.location ?? "/", `${gateway().url}/`).origin;
      expect([path, next, status, target]).toEqual([path, next, status, gateway().url]);
    }
  }
});

test("FAULT 39: streams and web sockets from a foreign origin are refused", async () => {
  const { host } = new URL(gateway().url);
  const upgrade = `GET /mcp HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
  expect(statusOf(await rawExchange(gateway().url, `${upgrade}Origin: https://evil.com\r\n\r\n`))).toBe(403);
  expect([400, 404, 405, 426]).toContain(statusOf(await rawExchange(gateway().url, `${upgrade}\r\n`)));
  expect(
    (
      await send(`${gateway().url}/mcp`, {
        method: "GET",
        headers: { accept: "text/event-stream", origin: "https://evil.com" },
      })
    ).status,
  ).toBe(403);
});

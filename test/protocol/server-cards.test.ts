import { afterAll, beforeAll, expect, test } from "vitest";
import { Ajv2020 } from "ajv/dist/2020.js";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { knownPeople } from "../harness/known-people.ts";
import { serveRaw } from "../harness/raw-http-server.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: { mcpServers: { one: badServer() } } });
  await untilOnline(gateway.url);
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

/** As the schema of SEP-2127 says it (July 2026), as far as our cards go. */
const schema = {
  type: "object",
  required: ["$schema", "name", "version", "description"],
  properties: {
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" },
    name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
    version: { type: "string", maxLength: 255 },
    description: { type: "string", minLength: 1, maxLength: 100 },
    title: { type: "string", minLength: 1, maxLength: 100 },
    remotes: {
      type: "array",
      items: {
        type: "object",
        required: ["type", "url"],
        properties: {
          type: { enum: ["streamable-http", "sse"] },
          url: { type: "string", pattern: "^https?://[^\\s]+$" },
          supportedProtocolVersions: { type: "array", items: { type: "string" } },
        },
      },
    },
  },
};
const fits = new Ajv2020().compile(schema);

test.each(["/mcp", "/mcp/flat", "/mcp/meta", "/mcp/server/one", "/mcp/server/nobody-knows", "/i/any%20one/mcp"])(
  "%s has a card that says how to connect",
  async (path) => {
    const { status, headers, json } = await get(`${gateway.url}${path}/server-card`);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/mcp-server-card+json");
    expect(fits(json) || fits.errors).toBe(true);
    expect(json.remotes[0].url).toBe(`${gateway.url}${path}`);
  },
);

test("a card says what the endpoint says once somebody is connected", async () => {
  const { json: card } = await get(`${gateway.url}/mcp/server-card`);
  const start = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const { serverInfo } = (await rpc(`${gateway.url}/mcp`, "initialize", start)).json.result;
  expect({ title: card.title, version: card.version }).toEqual({
    title: serverInfo.title,
    version: serverInfo.version,
  });
  expect(card.name.endsWith(`/${serverInfo.name}`)).toBe(true);
  const { supportedVersions } = (await modernRpc(`${gateway.url}/mcp`, "server/discover")).json.result;
  expect(card.remotes[0].supportedProtocolVersions).toEqual(supportedVersions);
});

test("a card can be revalidated, and is only read", async () => {
  const url = `${gateway.url}/mcp/server-card`;
  const { headers } = await get(url);
  expect(headers["cache-control"]).toBe("public, max-age=3600");
  const again = await get(url, { "if-none-match": `W/"x", ${String(headers.etag)}` });
  expect([again.status, again.text]).toEqual([304, ""]);
  expect((await send(url, { method: "HEAD" })).text).toBe("");
  expect((await send(url, { method: "POST", body: "{}" })).status).toBe(405);
  expect((await send(url, { method: "OPTIONS" })).headers["access-control-allow-methods"]).toBe("GET");
});

test("paths beside endpoints have none", async () => {
  for (const path of ["/server-card", "/sse/server-card", "/api/server-card", "/mcp/nothing/server-card"])
    expect((await get(`${gateway.url}${path}`)).headers["content-type"], path).not.toContain("server-card");
});

test("a card needs no credential; sites of others read it where the gateway has a public URL, and only there", async () => {
  const origin = "https://elsewhere.example";
  expect((await get(`${gateway.url}/mcp/server-card`, { origin })).status).toBe(403);
  const publicUrl = "https://tools.example.com/gateway";
  await using hosted = await startGateway({
    config: {
      mcpServers: { secret: { ...badServer(), icon: "x" } },
      toolyard: { publicUrl, principals: knownPeople },
    },
  });
  expect((await rpc(`${hosted.url}/mcp`, "tools/list")).status).toBe(401);
  const { status, headers, json } = await get(`${hosted.url}/mcp/server-card`, { origin });
  expect([status, headers["access-control-allow-origin"]]).toEqual([200, "*"]);
  expect(json.name).toBe("com.example.tools/toolyard");
  expect(json.remotes[0].url).toBe(`${publicUrl}/mcp`);
  expect(JSON.stringify(json)).not.toContain("secret");
  expect((await get(`${hosted.url}/mcp/server-card`, { host: "evil.example" })).status).toBe(403);
  expect((await get(`${hosted.url}/api/status`, { origin })).status).toBe(403);
});

test.each(["legacy", "modern"] as const)("title and icon of a %s server come from its card, late", async (era) => {
  const src = "data:image/png;base64,iVBORw0KGgo=";
  const card = JSON.stringify({ title: "Weather & more", icons: [{ src }] });
  const server = await serveRaw(era, ({ method, path }, socket) => {
    if (method !== "GET" || path !== "/mcp/server-card") return false;
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${card.length}\r\n\r\n${card}`);
    return true;
  });
  const url = `${new URL(server.url).origin}/mcp`;
  const headers = { "X-Key": "a-secret-of-calls" };
  const config = { mcpServers: { weather: { type: "http", url, headers } } };
  await using own = await startGateway({ config });
  await untilOnline(own.url);
  const details = async () => (await get(`${own.url}/api/servers/weather`)).json;
  expect(await until(async () => (await details()).title ?? undefined)).toBe("Weather & more");
  expect((await details()).icon).toBe(src);
  const asked = server.requests.filter(({ path }) => path === "/mcp/server-card");
  expect(asked).toHaveLength(1);
  expect(asked[0]?.head).not.toContain("a-secret-of-calls");
});

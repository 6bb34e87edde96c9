import { createServer as createTcpServer } from "node:net";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { authorize } from "./app-client.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const preload = fileURLToPath(new URL("../../test/harness/named-hosts.mjs", import.meta.url));
/** A name of somebody's own, which leads to this machine by now. */
const turned = "mcp.example.com";
let server: Server;
let port: number;
/** What arrived there. */
const seen: string[] = [];
let connections = 0;
let world: TeamWorld;
let tokens: Readonly<Record<"ann" | "tom" | "bob", string>>;

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
  world = await startTeamWorld({
    env: { NODE_OPTIONS: `--import ${preload}`, TOOLYARD_TEST_HOSTS: JSON.stringify({ [turned]: "127.0.0.1" }) },
    settings: { limits: { upstreamMessageBytes: 1_048_576 }, instances: { callTimeoutMs: 1_000 } },
  });
  const add = async (...words: string[]): Promise<string> => (await world.ask("user", "add", ...words)).made.token;
  tokens = {
    ann: await add("ann", "--admin", "--team", "red"),
    tom: await add("tom", "--team", "red", "--role", "admin"),
    bob: await add("bob", "--team", "red"),
  };
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** An MCP server whose tools misbehave as their names say. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = "", id, params } = parse(Buffer.concat(chunks).toString());
  seen.push(`${request.method ?? ""} ${request.url ?? ""} ${method}`);
  const send = (result: object): void => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
  if (method === "initialize")
    return send({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "far", version: "1" },
    });
  if (method === "tools/list")
    return send({
      tools: ["fine", "huge", "silent", "away"].map((name) => ({ name, inputSchema: { type: "object" } })),
    });
  if (method !== "tools/call") return void response.writeHead(id === undefined ? 202 : 404).end();
  if (params?.name === "silent") return;
  if (params?.name === "away") return void response.writeHead(307, { location: "/elsewhere" }).end();
  const text = params?.name === "huge" ? "x".repeat(2_000_000) : "fine";
  return send({ content: [{ type: "text", text }] });
}

function parse(text: string): { method?: string; id?: number; params?: { name?: string } } {
  return text === "" ? {} : (JSON.parse(text) as object);
}

const bearer = (who: keyof typeof tokens): Record<string, string> => ({ authorization: `Bearer ${tokens[who]}` });

async function post(who: keyof typeof tokens, path: string, body: object) {
  return await send(who, path, { method: "POST", body: JSON.stringify(body) });
}

async function change(who: keyof typeof tokens, id: string, body: object): Promise<void> {
  const { status } = await send(who, `/api/templates/${id}`, { method: "PATCH", body: JSON.stringify(body) });
  expect(status).toBe(200);
}

async function send(who: keyof typeof tokens, path: string, request: RequestInit) {
  const headers = { ...bearer(who), "content-type": "application/json" };
  const sent = await fetch(`${world.url}${path}`, { ...request, headers });
  return { status: sent.status, json: (await sent.json()) as { id: string; code?: string } };
}

/** A template and its installation in red. Resolves with the id of the template. */
async function install(who: keyof typeof tokens, slug: string, template: object): Promise<string> {
  const made = await post(who, "/api/templates", { slug, ...template });
  expect([slug, made.status < 300, made.json.code]).toEqual([slug, true, undefined]);
  expect((await post(who, "/api/teams/red/installations", { template: made.json.id, slug })).status).toBeLessThan(300);
  return made.json.id;
}

const call = async (path: string) => await run(world.url, path, {}, bearer("bob"));

test("FAULT 104: whoever manages a team names no address of this machine, its network or its cloud, however it is written", async () => {
  for (const host of [
    "127.0.0.1",
    "localhost",
    "localhost.",
    "mcp.localhost",
    "169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:7f00:1]",
    "[::1]",
    "[fd00::1]",
    "[fe80::1]",
    "0x7f.1",
    "2130706433",
    "0177.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "192.168.1.1",
    "100.64.0.1",
    "１２７.0.0.1",
  ]) {
    const entry = { url: `http://${host}:${port}/mcp` };
    const { status, json } = await post("tom", "/api/templates", { slug: "inside", team: "red", entry, fields: [] });
    expect([host, status, json.code]).toEqual([host, 403, "FORBIDDEN"]);
  }
  expect(connections).toBe(0);
});

test("FAULT 104: a team's name that leads to this machine is not connected to, for calls or for a login", async () => {
  await install("tom", "turned", { team: "red", entry: { url: `http://${turned}:${port}/mcp` }, fields: [] });
  const standing = async () =>
    (await get(`${world.url}/api/instances`, bearer("bob"))).json.instances.find(
      ({ server: slug }: { server: string }) => slug === "turned",
    );
  const called = await until(async () => {
    const answered = await call("turned:fine");
    return !answered.text.includes("SERVER_STARTING") && answered;
  });
  expect(called.status).toBeGreaterThanOrEqual(400);
  const { id } = await until(standing);
  await until(async () => JSON.stringify(await standing()).includes("into a private network"));
  const bob = await world.logIn("bob");
  const shown = await bob.submit(await bob.open(`${world.url}/connect/${encodeURIComponent(id)}`), {}, 'value="login"');
  expect(shown.text).toContain('role="alert"');
  expect(connections).toBe(0);
});

test("FAULT 104: an admin's template for one team leads where its name leads, until the team writes another address", async () => {
  const entry = { url: `http://${turned}:${port}/mcp` };
  const id = await install("ann", "inner", { team: "red", entry, fields: [] });
  await until(async () => (await call("inner:fine")).status === 200);
  const fields = [{ path: "headers.X-Region", tier: "team" }];
  await change("tom", id, { entry, fields });
  await until(async () => (await call("inner:fine")).status === 200);
  const other = { url: `http://${turned}:${port}/mcp/other` };
  await change("tom", id, { entry: other });
  await until(async () => (await call("inner:fine")).text.includes("into a private network"));
  expect(seen.filter((line) => line.includes("/mcp/other"))).toEqual([]);
  await change("ann", id, { entry: other });
  await until(async () => (await call("inner:fine")).status === 200);
  expect(seen).toContain("POST /mcp/other tools/call");
});

test("FAULT 104: an app that is named by a document on this machine is not asked for it, whatever its name led to before", async () => {
  // A port of its own: servers of other tests are still asked for their cards.
  let asked = 0;
  const listener = createTcpServer((socket) => {
    asked += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port: own } = listener.address() as AddressInfo;
  const bob = await world.logIn("bob");
  for (const host of [turned, "localhost", "127.0.0.1", "[::ffff:7f00:1]"]) {
    const page = await bob.open(authorize(world.url, `https://${host}:${own}/app.json`).url);
    expect([host, page.status >= 400, page.text.includes('name="answer"')]).toEqual([host, true, false]);
  }
  expect(asked).toBe(0);
  listener.close();
});

test("servers of teams have the limits of those of the file: too much, too late and redirects are refused", async () => {
  // For all teams, by an admin of the gateway: that name may lead anywhere.
  await install("ann", "far", { entry: { url: `http://${turned}:${port}/mcp` }, fields: [] });
  await until(async () => (await call("far:fine")).status === 200);
  expect(seen).toContain("POST /mcp tools/call");
  const codes: string[] = [];
  // The last one ends the connection, and others with it.
  for (const name of ["huge", "silent", "away"]) codes.push((await call(`far:${name}`)).json.code as string);
  expect(codes).toEqual(["RESULT_TOO_LARGE", "UPSTREAM_TIMEOUT", "CONNECT_FAILED"]);
  expect(seen.filter((line) => line.includes("/elsewhere"))).toEqual([]);
  await until(async () => (await call("far:fine")).status === 200);
});

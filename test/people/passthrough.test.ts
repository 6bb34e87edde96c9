import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, connectApp } from "./app-client.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

/** Everything that arrived at a server: its headers, and what it was sent. */
const seen: string[] = [];
/** The same of the host to which it leads people on. */
const elsewhere: string[] = [];
const keys = { ann: "key-of-ann-5d1c7e", bob: "key-of-bob-90f3ab" };

let far: Server;
let other: Server;
let world: TeamWorld;
let tokens: Readonly<Record<"ann" | "bob", string>>;
/** What opens the gateway: none of it is for a server. */
let secrets: readonly string[];
let cookie = "";
let instanceToken = "";
let appToken = "";

beforeAll(async () => {
  far = await listen(async (request, response) => await answer(request, response));
  other = await listen(async (request, response) => {
    elsewhere.push(await toText(request));
    response.writeHead(404).end();
  });
  const url = `http://127.0.0.1:${portOf(far)}/mcp`;
  world = await startTeamWorld({
    servers: { far: { url, scope: "user", requestLogging: "full", optional: { user: ["headers.X-Key"] } } },
  });
  const add = async (...words: string[]): Promise<string> => (await world.ask("user", "add", ...words)).made.token;
  tokens = { ann: await add("ann", "--admin", "--team", "red"), bob: await add("bob", "--team", "red") };
  for (const name of ["ann", "bob"] as const) {
    const set = { values: { "headers.X-Key": keys[name] } };
    const path = "/api/teams/red/installations/far/config/me";
    expect((await ask(name, "PATCH", path, set)).status).toBe(200);
  }
  const bob = await world.logIn("bob", { stopAt: callbackUrl });
  cookie = bob.cookies.get("ty_session") ?? "";
  const app = await connectApp(world.url, bob);
  appToken = app.access_token;
  await until(async () => (await run(world.url, "far:fine", {}, bearer(tokens.bob))).status === 200);
  await until(async () => (await run(world.url, "far:fine", {}, bearer(tokens.ann))).status === 200);
  const { instances } = (await ask("bob", "GET", "/api/instances")).json as { instances: { id: string }[] };
  const id = encodeURIComponent(instances[0]?.id ?? "");
  instanceToken = ((await ask("bob", "POST", `/api/instances/${id}/token`, {})).json as { token: string }).token;
  secrets = [tokens.ann, tokens.bob, cookie, appToken, app.refresh_token, instanceToken];
  expect(secrets.every((secret) => secret.length > 20)).toBe(true);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  for (const server of [far, other]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
beforeEach(() => {
  seen.length = 0;
  elsewhere.length = 0;
});

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function toText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return `${request.method ?? ""} ${request.url ?? ""}\n${request.rawHeaders.join("\n")}\n\n${Buffer.concat(chunks).toString()}`;
}

/** An MCP server that tells whoever calls it what it was sent. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await toText(request);
  seen.push(text);
  const body = text.slice(text.indexOf("\n\n") + 2);
  const { method, id, params } = body === "" ? {} : JSON.parse(body);
  const send = (member: object): void => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...member }));
  };
  if (method === "initialize") {
    const about = { capabilities: { tools: {} }, serverInfo: { name: "far", version: "1" } };
    return send({ result: { protocolVersion: "2025-06-18", ...about } });
  }
  if (method === "tools/list")
    return send({
      result: { tools: ["fine", "away", "angry"].map((name) => ({ name, inputSchema: { type: "object" } })) },
    });
  if (method !== "tools/call") return void response.writeHead(id === undefined ? 202 : 404).end();
  if (params?.name === "away")
    return void response.writeHead(307, { location: `http://127.0.0.1:${portOf(other)}/mcp` }).end();
  if (params?.name === "angry") return send({ error: { code: -32_000, message: `refused: ${text}` } });
  return send({ result: { content: [{ type: "text", text }] } });
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function ask(who: "ann" | "bob", method: string, path: string, body?: object) {
  const headers = { ...bearer(tokens[who]), "content-type": "application/json" };
  const sent = await fetch(`${world.url}${path}`, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: sent.status, json: (await sent.json()) as unknown };
}

/** What servers are sent, and what came back from them, has nothing that opens the gateway, or that is ann's. */
function expectNothingForeign(...answers: readonly string[]): void {
  expect(seen.length).toBeGreaterThan(0);
  for (const text of [...seen, ...elsewhere, ...answers]) {
    for (const secret of [...secrets, keys.ann]) expect([secret, text.includes(secret)]).toEqual([secret, false]);
    // By their hashes a token could be known as well.
    expect(text).not.toMatch(/ty_(?:pat|inst|session)|x-toolyard-team/i);
  }
  for (const text of seen) {
    expect(text).not.toMatch(/^(?:cookie|authorization|forwarded|x-forwarded-\w+)$/im);
    // A server's card is public: it is asked for without any key.
    if (!text.startsWith("GET /mcp/server-card\n")) expect(text).toContain(keys.bob);
  }
  expect(elsewhere).toEqual([]);
}

const calling = (tool: string) => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: `far:${tool}`, arguments: {} },
});

/** Every credential that opens a call of bob's, as it comes to the gateway. */
const ways: readonly (readonly [string, (tool: string) => Promise<string>])[] = [
  ["a personal token over MCP", async (tool) => await overMcp(bearer(tokens.bob), tool)],
  ["an app's token over MCP", async (tool) => await overMcp(bearer(appToken), tool)],
  ["a personal token over REST", async (tool) => (await run(world.url, `far:${tool}`, {}, bearer(tokens.bob))).text],
  [
    "a browser's session over REST",
    async (tool) =>
      (await run(world.url, `far:${tool}`, {}, { cookie: `ty_session=${cookie}; other=1`, "x-toolyard-team": "red" }))
        .text,
  ],
  [
    "a token of one instance",
    async (tool) => {
      const { instances } = (await ask("bob", "GET", "/api/instances")).json as { instances: { id: string }[] };
      const url = `${world.url}/i/${encodeURIComponent(instances[0]?.id ?? "")}/mcp`;
      return (await rpc(url, "tools/call", { name: tool, arguments: {} }, bearer(instanceToken))).text;
    },
  ],
];

async function overMcp(headers: Record<string, string>, tool: string): Promise<string> {
  return (await rpc(`${world.url}/mcp`, "tools/call", calling(tool), { ...headers, cookie: "other=1" })).text;
}

test.each(ways)(
  "FAULT 103: with %s, a server gets what is its own person's, and nothing that opens the gateway",
  async (_what, call) => {
    const told = await call("fine");
    expect(told).toContain("tools/call");
    expectNothingForeign(told);
  },
);

test.each(ways)(
  "FAULT 103: with %s, what a server says of a request it refuses has nothing of the gateway's",
  async (_what, call) => {
    const told = await call("angry");
    expect(told).toContain("refused");
    expectNothingForeign(told);
  },
);

test.each(ways)("FAULT 103: with %s, nothing goes to another host that a server leads to", async (_what, call) => {
  // A redirect ends the connection: the next call may find it being made again.
  const told = await until(async () => {
    const answered = await call("away");
    return seen.some((text) => text.includes("tools/call")) && answered;
  });
  expectNothingForeign(told);
});

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const html = { "content-type": "text/html" };
type Fault = (response: ServerResponse) => unknown;

const faults: Readonly<Record<string, Fault>> = {
  "404": (response) => response.writeHead(404, html).end("<pre>Cannot GET</pre>"),
  "405": (response) => response.writeHead(405).end(),
  "401": (response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
  "500": (response) => response.writeHead(500, html).end("<h1>Oops</h1>"),
  silence: () => undefined,
  closed: (response) => response.destroy(),
};

/** How a server may say that it has lost the session: status, body, and whether the body is an event stream. */
const ways: Readonly<Record<string, (response: ServerResponse, id: unknown) => unknown>> = {
  "404 with an error": (response) =>
    json(response, 404, { id: null, error: { code: -32001, message: "Session not found" } }),
  "400 with an error": (response) => json(response, 400, { id: null, error: { code: -32600, message: "No session" } }),
  "400 with text": (response) => response.writeHead(400).end("unknown session"),
  "401 without a challenge": (response) => response.writeHead(401).end("Unauthorized"),
  "403 with text": (response) => response.writeHead(403).end("unknown session"),
  "409 with nothing": (response) => response.writeHead(409).end(),
  "410 with html": (response) => response.writeHead(410, html).end("<p>gone</p>"),
  "500 with an error": (response) => json(response, 500, { id: null, error: { code: -32603, message: "no session" } }),
  "503 with an error": (response) =>
    json(response, 503, { id: null, error: { code: -32001, message: "initialize again" } }),
  "200 with an error": (response, id) =>
    json(response, 200, { id, error: { code: -32000, message: "Server not initialized" } }),
  "200 with an error without id": (response) =>
    json(response, 200, { id: null, error: { code: -32600, message: "No session" } }),
  "200 with an event that is no message": (response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"error":"Session not found"}\n\n'),
  "202 with nothing": (response) => response.writeHead(202).end(),
};

test("a server that has lost its sessions is called in a new one, however it says so; a tool's own error is not run twice", async () => {
  const servers = new Map<string, Awaited<ReturnType<typeof serve>>>();
  for (const [way, lost] of Object.entries(ways)) servers.set(way, await serve({ lost }));
  const slugs = new Map([...servers.keys()].map((way, at) => [way, `s${at}`]));
  const mcpServers = Object.fromEntries([...servers].map(([way, { url }]) => [slugs.get(way), { type: "http", url }]));
  await using gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
  for (const [way, server] of servers) {
    const slug = slugs.get(way) ?? "";
    const call = async (tool: string) => await execute(gateway.url, `${slug}:${tool}`);
    expect((await call("a")).content[0].text, way).toBe("fine");
    server.forget();
    expect((await call("a")).content[0].text, way).toBe("fine");
    const ran = server.ran("fails");
    await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: `${slug}:fails`, arguments: {} },
    });
    expect(server.ran("fails"), way).toBe(ran + 1);
    expect(server.sessions, way).toBe(2);
  }
});

test("whatever a server refuses, nothing loops: few requests beyond those of calls in a minute", async () => {
  const servers: Array<readonly [string, Awaited<ReturnType<typeof serve>>]> = [];
  for (const method of ["GET", "POST", "DELETE"])
    for (const [name, fault] of Object.entries(faults))
      servers.push([`${method.toLowerCase()}-${name}`, await serve({ fault, method })]);
  const mcpServers = Object.fromEntries(
    servers.map(([slug, { url }]) => [slug, { type: "http", url, callTimeoutMs: 5_000 }]),
  );
  await using gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
  for (const [slug] of servers) await execute(gateway.url, `${slug}:a`);
  for (const [, server] of servers) server.breakNow();
  const before = servers.map(([, server]) => server.requests.length);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(servers.map(async ([slug]) => await execute(gateway.url, `${slug}:a`)));
    // The minute is what is promised; nothing is waited for.
    await after(15_000);
  }
  const beyond = servers.map(([slug, server], at) => {
    const later = server.requests.slice(before[at]);
    return [slug, later.filter((what) => what !== "tools/call").length] as const;
  });
  expect(beyond.filter(([, count]) => count > 20)).toEqual([]);
});

test("a server that loses each session is told about, and renewed ten times a minute at most", async () => {
  const server = await serve({ isOneCall: true });
  await using gateway = await startGateway({
    config: { mcpServers: { forgetful: { type: "http", url: server.url } } },
  });
  await untilOnline(gateway.url);
  await until(async () => {
    await execute(gateway.url, "forgetful:a");
    return server.sessions >= 11;
  });
  for (let call = 0; call < 20; call += 1) await execute(gateway.url, "forgetful:a");
  expect(server.sessions).toBe(11);
  const { json } = await rpc(`${gateway.url}/mcp`, "tools/call", {
    name: "discover_mcp_tools",
    arguments: { query: "" },
  });
  expect(json.result.content[0].text).toContain("forgetful");
  const listed = (await (await fetch(`${gateway.url}/api/servers`)).json()) as { servers: { reason: string }[] };
  expect(listed.servers[0]?.reason).toContain("loses its sessions");
  expect(gateway.stderr() + gateway.stdout()).toContain("new session was not opened");
});

interface Behaviour {
  readonly lost?: (response: ServerResponse, id: unknown) => unknown;
  /** What goes wrong with requests of this HTTP method once it is broken. */
  readonly fault?: Fault;
  readonly method?: string;
  /** A session is good for one call. */
  readonly isOneCall?: boolean;
}

async function serve({ lost = ways["404 with an error"], fault, method, isOneCall = false }: Behaviour) {
  const open = new Set<string>();
  const requests: string[] = [];
  const ran: string[] = [];
  let count = 0;
  let isBroken = false;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Message);
    requests.push(body.method ?? request.method ?? "");
    if (isBroken && request.method === method) return fault?.(response);
    if (request.method === "GET" && method === "GET")
      return response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
    if (request.method !== "POST") return response.writeHead(405).end();
    if (body.method === "server/discover")
      return json(response, 400, { id: body.id, error: { code: -32601, message: "no" } });
    if (body.method === "initialize") {
      count += 1;
      open.add(`s${count}`);
      response.setHeader("mcp-session-id", `s${count}`);
      return json(response, 200, {
        id: body.id,
        result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: {} },
      });
    }
    const session = String(request.headers["mcp-session-id"]);
    if (!open.has(session)) return lost?.(response, body.id);
    if (body.id === undefined) return response.writeHead(202).end();
    if (body.method === "tools/list")
      return json(response, 200, {
        id: body.id,
        result: { tools: ["a", "fails"].map((name) => ({ name, inputSchema: { type: "object" } })) },
      });
    if (body.method !== "tools/call") return json(response, 200, { id: body.id, result: {} });
    ran.push(body.params?.name ?? "");
    if (isOneCall) open.delete(session);
    if (body.params?.name === "fails")
      return json(response, 200, { id: body.id, error: { code: -32000, message: "Session not found" } });
    return json(response, 200, { id: body.id, result: { content: [{ type: "text", text: "fine" }] } });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    ran: (tool: string) => ran.filter((name) => name === tool).length,
    get sessions() {
      return count;
    },
    forget: () => open.clear(),
    breakNow() {
      isBroken = true;
      if (method === "GET") server.closeAllConnections();
    },
  };
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

function json(response: ServerResponse, status: number, message: object): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

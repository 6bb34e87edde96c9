import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";

/** What a call meets: true when it has been answered, or never will be. */
export type Fate = (tool: string, response: ServerResponse, request: IncomingMessage) => boolean;

/** An MCP server over HTTP, without sessions, whose calls are counted and can be made to fail. */
export interface CountedServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Calls of tools that came, whatever became of them. */
  calls: number;
  /** Messages of any kind that came, by method. */
  readonly methods: string[];
  fate: Fate;
  /** Whether it accepts connections and answers nothing. */
  isSilent: boolean;
}

const tools = ["one", "two", "three", "four"].map((name) => ({ name, inputSchema: { type: "object" } }));
const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "counted", version: "1" },
  },
  ping: {},
  "tools/list": { tools },
};

/** `port` 0 is any free one. */
export async function serveCounted(name: string, port = 0): Promise<CountedServer> {
  const sockets = new Set<Socket>();
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (!server.isSilent) answer(Buffer.concat(chunks).toString("utf8"), request, response);
    });
  });
  http.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });

  function answer(body: string, request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body) as { id?: unknown; method: string; params?: { name?: string } };
    server.methods.push(method);
    if (id === undefined) return void response.writeHead(202).end();
    const tool = params?.name ?? "";
    if (method === "tools/call") server.calls += 1;
    if (server.fate(method === "tools/call" ? tool : method, response, request)) return;
    const result = method === "tools/call" ? { content: [{ type: "text", text: name }] } : results[method];
    const told = result === undefined ? { error: { code: -32601, message: "unknown method" } } : { result };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...told }));
  }

  http.listen(port, "127.0.0.1");
  await once(http, "listening");
  const { port: own } = http.address() as AddressInfo;
  const server: CountedServer = {
    url: `http://127.0.0.1:${own}/mcp`,
    port: own,
    calls: 0,
    methods: [],
    fate: () => false,
    isSilent: false,
    async [Symbol.asyncDispose]() {
      if (!http.listening) return;
      const closed = once(http, "close");
      http.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return server;
}

/** Answers with this HTTP status. */
export function withStatus(status: number, which: (tool: string) => boolean = () => true): Fate {
  return (tool, response) => {
    if (!which(tool)) return false;
    response.writeHead(status, { "content-type": "text/plain" }).end("no");
    return true;
  };
}

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface ManyServer {
  /** The key in the gateway's configuration. */
  readonly key: string;
  readonly tools: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly instructions?: string;
}

export interface ManyServers extends AsyncDisposable {
  /** For the gateway's configuration. */
  readonly mcpServers: Record<string, { type: "http"; url: string }>;
  /** How often the tools of a server were listed. */
  lists(key: string): number;
  /** Gives a server other tools. */
  setTools(key: string, tools: ManyServer["tools"]): void;
  /** Answers every request for a server with this status from now on; undefined: as usual. */
  setStatus(key: string, status: number | undefined): void;
  /** Holds back the answers to tools/list until the promise settles. */
  holdLists(until: Promise<void>): void;
  /** Most tools/list requests that were open at once. */
  readonly mostListsAtOnce: number;
}

/** Any number of MCP servers (2025-11-25) behind one port, one path each. Every tool answers with who it is. */
export async function startManyServers(
  servers: readonly ManyServer[],
  options: { /** How long each tools/list takes, as over a network. */ readonly listDelayMs?: number } = {},
): Promise<ManyServers> {
  const tools = servers.map((server) => server.tools);
  const lists = servers.map(() => 0);
  const statuses = new Map<number, number>();
  let gate = Promise.resolve();
  let open = 0;
  let mostOpen = 0;

  async function answer(
    index: number,
    { method, params }: { method: string; params?: { name?: string; arguments?: unknown } },
  ): Promise<unknown> {
    const server = servers[index] as ManyServer;
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: server.key, version: "1" },
          ...(server.instructions === undefined ? {} : { instructions: server.instructions }),
        };
      case "tools/list":
        lists[index] = (lists[index] ?? 0) + 1;
        open += 1;
        mostOpen = Math.max(mostOpen, open);
        await gate;
        if (options.listDelayMs !== undefined) await delay(options.listDelayMs);
        open -= 1;
        return { tools: tools[index]?.map((tool) => ({ inputSchema: { type: "object" }, ...tool })) };
      case "tools/call":
        return {
          content: [
            {
              type: "text",
              text: JSON.stringify({ server: server.key, tool: params?.name, arguments: params?.arguments }),
            },
          ],
        };
      default:
        return undefined;
    }
  }

  const http = createServer((request, response) => {
    const index = Number(/^\/(\d+)\//.exec(request.url ?? "")?.[1]);
    const status = statuses.get(index);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST" || status !== undefined) {
        response.writeHead(status ?? 405).end();
        return;
      }
      const message = JSON.parse(Buffer.concat(chunks).toString()) as { id?: unknown; method: string };
      if (message.id === undefined) {
        response.writeHead(202).end();
        return;
      }
      void answer(index, message).then((result) => {
        const body = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }));
      });
    });
  });
  http.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const indexOf = (key: string): number => servers.findIndex((server) => server.key === key);
  return {
    mcpServers: Object.fromEntries(
      servers.map(({ key }, index) => [key, { type: "http" as const, url: `http://127.0.0.1:${port}/${index}/mcp` }]),
    ),
    lists: (key) => lists[indexOf(key)] ?? 0,
    setTools(key, next) {
      tools[indexOf(key)] = next;
    },
    setStatus(key, status) {
      if (status === undefined) statuses.delete(indexOf(key));
      else statuses.set(indexOf(key), status);
    },
    holdLists(until) {
      gate = until;
    },
    get mostListsAtOnce() {
      return mostOpen;
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

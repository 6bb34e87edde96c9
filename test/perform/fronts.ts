import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { mainFile, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { openSse } from "../protocol/sse-client.ts";

/** What a client got: a JSON-RPC `result`, or an `error`. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export type Got = any;

export type Exposure = "meta" | "namespaces";

/** Every way in that speaks MCP. */
export const frontNames = ["HTTP, 2025-11-25", "HTTP, 2026-07-28", "HTTP+SSE", "stdio"] as const;

/** One way for MCP requests into a gateway. */
export interface McpFront extends AsyncDisposable {
  readonly name: (typeof frontNames)[number];
  ask(exposure: Exposure, method: string, params: Record<string, unknown>): Promise<Got>;
}

/** All of them, in front of one gateway. */
export function mcpFronts(gateway: RunningGateway): readonly McpFront[] {
  return [
    {
      name: "HTTP, 2025-11-25",
      ask: async (exposure, method, params) => (await rpc(`${gateway.url}/mcp/${exposure}`, method, params)).json,
      [Symbol.asyncDispose]: async () => undefined,
    },
    {
      name: "HTTP, 2026-07-28",
      ask: async (exposure, method, params) => (await modernRpc(`${gateway.url}/mcp/${exposure}`, method, params)).json,
      [Symbol.asyncDispose]: async () => undefined,
    },
    connecting("HTTP+SSE", async (exposure) => {
      const client = await openSse(`${gateway.url}/sse/${exposure}`);
      await client.initialize();
      return { call: client.call, close: client.close };
    }),
    connecting("stdio", async (exposure) => await openStdio(gateway, exposure)),
  ];
}

interface Connection {
  call(id: string | number, method: string, params?: object): Promise<Got>;
  close(): void;
}

/** A front whose clients stay connected: one connection for each exposure. */
function connecting(name: McpFront["name"], connect: (exposure: Exposure) => Promise<Connection>): McpFront {
  const connections = new Map<Exposure, Promise<Connection>>();
  let lastId = 0;
  return {
    name,
    async ask(exposure, method, params) {
      const connection = connections.get(exposure) ?? connect(exposure);
      connections.set(exposure, connection);
      lastId += 1;
      return await (await connection).call(lastId, method, params);
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections.values()) (await connection).close();
    },
  };
}

/** `toolyard stdio` in front of the gateway that runs already. */
async function openStdio(gateway: RunningGateway, exposure: Exposure): Promise<Connection> {
  const args = ["stdio", "--config", gateway.configFile, "--data-dir", `${gateway.directory}/data`];
  const child = spawn(process.execPath, [mainFile, ...args, "--exposure", exposure], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<unknown, (message: Got) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { id?: unknown };
    waiting.get(message.id)?.(message);
  });
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const connection: Connection = {
    async call(id, method, params = {}) {
      return await new Promise((resolve) => {
        waiting.set(id, resolve);
        write({ id, method, params });
      });
    },
    close: () => void child.stdin.end(),
  };
  const clientInfo = { name: "test", version: "1" };
  await connection.call("init", "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  write({ method: "notifications/initialized" });
  return connection;
}

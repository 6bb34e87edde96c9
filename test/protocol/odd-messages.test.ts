import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const file = fileURLToPath(new URL("../servers/odd-messages-server.mjs", import.meta.url));
const transports = ["stdio", "http", "sse"] as const;
const endings: (() => void)[] = [];
let gateway: RunningGateway;

beforeAll(async () => {
  const port = await startHttp();
  gateway = await startGateway({
    config: {
      mcpServers: {
        stdio: { command: process.execPath, args: [file] },
        http: { type: "http", url: `http://127.0.0.1:${port}/mcp` },
        sse: { type: "sse", url: `http://127.0.0.1:${port}/sse` },
        paged: { type: "http", url: await servePaged() },
      },
    },
  });
  await untilOnline(gateway.url);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const end of endings) end();
});

describe.each(transports)("a server over %s that writes messages in its own way", (server) => {
  const reason = "THE QUOTA IS USED UP";

  test.each(["error-beside-null", "error-beside-nothing", "error-text", "error-without-message"])(
    "is heard with the reason of its %s, in every exposure",
    async (tool) => {
      const { url } = gateway;
      expect(JSON.stringify(await execute(url, `${server}:${tool}`))).toContain(reason);
      const own = await rpc(`${url}/mcp/server/${server}`, "tools/call", { name: tool, arguments: {} });
      expect(own.json.error.message).toContain(reason);
      const flat = await rpc(`${url}/mcp/flat`, "tools/call", { name: `${server}-${tool}`, arguments: {} });
      expect(flat.text).toContain(reason);
      expect((await run(url, `${server}:${tool}`, {})).text).toContain(reason);
    },
  );

  test.each(["log-line", "batch", "twice-in-a-batch", "bare-answer", "tool-result"])(
    "is answered for with what is an answer (%s)",
    async (tool) => {
      expect(await execute(gateway.url, `${server}:${tool}`)).toMatchObject({ content: [{ text: "fine" }] });
    },
  );

  test("is heard when it says that its tools have changed, with params and an id of null", async () => {
    await execute(gateway.url, `${server}:grow`);
    await until(async () => {
      const { content } = await execute(gateway.url, `${server}:grown`);
      return content?.[0]?.text === "fine";
    });
  });
});

test("the lists of a modern server go on at the cursor that is an empty string", async () => {
  for (const tool of ["one", "two", "three"])
    expect(await execute(gateway.url, `paged:${tool}`)).toMatchObject({ content: [{ text: "fine" }] });
});

async function startHttp(): Promise<string> {
  const child = spawn(process.execPath, [file, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  endings.push(() => child.kill());
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return line;
}

/** A server of revision 2026-07-28 with three pages of tools. */
async function servePaged(): Promise<string> {
  const item = (name: string): object => ({ name, inputSchema: { type: "object" } });
  const page = (cursor: unknown): object => {
    if (cursor === undefined) return { tools: [item("one")], nextCursor: "" };
    return cursor === "" ? { tools: [item("two")], nextCursor: "3" } : { tools: [item("three")] };
  };
  const results: Readonly<Record<string, (params: { readonly cursor?: unknown }) => object>> = {
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
    "tools/list": ({ cursor }) => page(cursor),
    "tools/call": () => ({ content: [{ type: "text", text: "fine" }] }),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly id: unknown;
      readonly method: string;
      readonly params: object;
    };
    const result = { resultType: "complete", ttlMs: 60_000, cacheScope: "private", ...results[method]?.(params) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  endings.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

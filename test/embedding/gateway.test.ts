import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateway, type Gateway, type GatewayOptions, type Progress } from "../../src/app/embedded/toolyard.ts";
import { badServer } from "../harness/gateway.ts";
import { rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let home: string;
beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), "toolyard-embed-"))));
afterEach(async () => await rm(home, { recursive: true, force: true }));

const start = async (options: GatewayOptions = {}): Promise<Gateway> =>
  await createGateway({
    cwd: home,
    environment: { PATH: process.env["PATH"], HOME: home, SECRET: "hunter2hunter2" },
    log: { level: "silent" },
    ...options,
  });
const config = { mcpServers: { bad: badServer(), "other one": badServer() } };
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a gateway in a program", () => {
  test("lists, finds and calls the tools of real servers, and leaves none of them behind", async () => {
    const gateway = await start({ config });
    const found = await gateway.search("process id", { limit: 3, server: "bad" });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((tool) => tool.server === "bad" && tool.relevance > 0 && tool.relevance <= 1)).toBe(true);
    await gateway.ready();
    expect(gateway.servers().map(({ name, status, tools }) => [name, status, tools > 0])).toEqual([
      ["bad", "online", true],
      ["other-one", "online", true],
    ]);
    expect(gateway.tools().find(({ path }) => path === "bad:echo")).toMatchObject({
      server: "bad",
      name: "echo",
      inputSchema: { type: "object" },
    });
    const { structuredContent } = await gateway.call("bad:echo", { text: "hello", large: 2 ** 40 });
    expect(structuredContent).toEqual({ text: "hello", large: 2 ** 40 });
    const { pid } = (await gateway.call("bad:canary")).structuredContent as { readonly pid: number };
    expect(isAlive(pid)).toBe(true);
    await gateway.stop();
    await until(() => !isAlive(pid));
    // Asked again it changes nothing.
    await gateway.stop();
  });

  test("rejects with code and hint", async () => {
    await using gateway = await start({ config });
    await gateway.ready();
    await expect(gateway.call("bad:ecko")).rejects.toMatchObject({
      code: "TOOL_UNKNOWN",
      hint: expect.any(String),
      data: { closest: expect.arrayContaining(["bad:echo"]) },
    });
    await expect(gateway.search("x", { server: "nobody" })).rejects.toMatchObject({ code: "SERVER_UNKNOWN" });
    await expect(start({ config: { toolyard: { port: "many" } } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("tells of progress, and a call that is cancelled is over at the server too", async () => {
    await using gateway = await start({ config });
    const steps: Progress[] = [];
    const result = await gateway.call("bad:progress", { steps: 2 }, { onProgress: (step) => steps.push(step) });
    expect(result.isError).not.toBe(true);
    expect(steps.map(({ progress }) => progress)).toEqual([1, 2]);
    const cancelled = new AbortController();
    const call = gateway.call(
      "bad:progress-for-ever",
      {},
      { signal: cancelled.signal, onProgress: () => cancelled.abort(new Error("changed my mind")) },
    );
    await expect(call).rejects.toMatchObject({ code: "CALL_CANCELLED" });
    await until(async () => {
      const { structuredContent, content } = await gateway.call("bad:in-flight");
      return JSON.stringify(structuredContent ?? JSON.parse(content?.[0]?.text ?? "{}")).includes('"inFlight":1');
    });
  });

  test("serves MCP and REST through a node:http server of somebody else, beside its routes", async () => {
    await using gateway = await start({ config });
    const server = createServer((request, response) => {
      if (request.url === "/own") response.end("own");
      else gateway.handler(request, response);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect(await (await fetch(`${url}/own`)).text()).toBe("own");
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      expect((await client.listTools()).tools).toHaveLength(4);
      await client.close();
      const tools = (await (await fetch(`${url}/api/tools?query=echo`)).json()) as { tools: object[] };
      expect(tools.tools.length).toBeGreaterThan(0);
      const rebound = async (path: string) =>
        await send(`${url}${path}`, { method: "GET", headers: { Host: "evil.example" } });
      expect((await rebound("/api/tools")).status).toBe(403);
      expect((await rebound("/healthz")).json).toEqual({ status: "ok" });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test("listens by itself, and not beyond this machine without tokens", async () => {
    await using gateway = await start({ config });
    const { url } = await gateway.listen({ port: 0 });
    expect((await rpc(`${url}/mcp`, "tools/list")).json.result.tools).toHaveLength(4);
    await gateway.stop();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    await using open = await start({ config: { toolyard: { host: "0.0.0.0" } } });
    await expect(open.listen({ port: 0 })).rejects.toMatchObject({ code: "BIND_REFUSED" });
  });

  test("reads a file, keeps what it learns in the data directory, and no secret reaches its log", async () => {
    const configFile = join(home, "servers.json");
    const { command, args } = badServer();
    const talkative = ["-c", 'echo "my secret is $CANARY" >&2; exec "$@"', "sh", command, ...args];
    const bad = { command: "sh", args: talkative, env: { CANARY: "${SECRET}" } };
    await writeFile(configFile, JSON.stringify({ mcpServers: { bad } }));
    let lines = "";
    const log = { level: "debug", write: (line: string) => void (lines += line) } as const;
    {
      await using gateway = await start({ configFile: "servers.json", dataDir: "data", log });
      expect((await gateway.call("bad:env")).content?.[0]?.text).toContain("hunter2hunter2");
    }
    expect(lines).toContain("my secret is [redacted]");
    expect(lines).not.toContain("hunter2hunter2");
    const kept = await readdir(join(home, "data"), { recursive: true });
    expect(kept.some((name) => /gateways.*catalog.*bad-.*\.json$/.test(name))).toBe(true);
    // Known from before: nothing has to start for a list.
    await using again = await start({ configFile: "servers.json", dataDir: "data" });
    expect(again.servers()).toMatchObject([{ name: "bad", dormant: true }]);
    expect(again.tools().some(({ path }) => path === "bad:env")).toBe(true);
  });
});

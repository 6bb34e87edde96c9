import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

const mebibyte = 1024 ** 2;

describe.skipIf(hasNoPostgres)("a call at a node that does not run the server", () => {
  let nodes: Nodes;
  let owner: RunningGateway;
  let other: RunningGateway;
  let client: Client;
  let listsChanged = 0;
  let pid: number;

  beforeAll(async () => {
    nodes = await startNodes();
    owner = await nodes.start("owner");
    ({ pid } = await callAt(owner, "count"));
    other = await nodes.start("other");
    client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      action: "accept",
      content: { ok: params.message.includes("Really?") },
    }));
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (listsChanged += 1));
    await until(async () => (await callAt(other, "count").catch(() => undefined)) !== undefined);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${other.url}/mcp/flat`)) as never);
  });
  afterAll(async () => {
    await client.close();
    await nodes[Symbol.asyncDispose]();
  });

  const call = async (name: string, args: Record<string, unknown> = {}, options: object = {}): Promise<string> => {
    const answer = await client.callTool({ name: `effects-${name}`, arguments: args }, undefined, options);
    return (answer.content as { readonly text: string }[])[0]?.text ?? "";
  };

  test("has the tools of the server", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("effects-count");
    expect(JSON.parse(await call("count")).pid).toBe(pid);
  });

  test("brings results and arguments of many megabytes whole, while others are answered", async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ bytes: 12 * mebibyte });
    const big = fetch(`${other.url}/execute/effects:big`, { method: "POST", headers, body });
    expect(JSON.parse(await call("count")).pid).toBe(pid);
    const text = await (await big).text();
    expect(text.lastIndexOf("x") - text.indexOf("xxxx") + 1).toBe(12 * mebibyte);
    expect(await call("size", { text: "äß\u{1F600}".repeat(500_000) })).toBe(String(4 * 500_000));
  });

  test("brings all progress, in order", async () => {
    const seen: number[] = [];
    await call("progress", { steps: 50 }, { onprogress: ({ progress }: { progress: number }) => seen.push(progress) });
    expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test("asks the client what the server asks", async () => {
    expect(JSON.parse(await call("confirm"))).toEqual({
      answer: { action: "accept", content: { ok: true } },
      pid,
    });
  });

  test("is cancelled there as well", async () => {
    const controller = new AbortController();
    const running = call("sleep", { ms: 60_000, id: "cancelled one" }, { signal: controller.signal });
    running.catch(() => undefined);
    await until(async () => {
      const { pending } = (await (await fetch(`${owner.url}/api/status/activity`)).json()) as { pending: unknown[] };
      return pending.length === 1;
    });
    controller.abort();
    await expect(running).rejects.toThrow();
    await until(async () => (await nodes.effects()).some(({ id }) => id === "cancelled cancelled one"));
  });

  test("of what changes there the client hears", async () => {
    const before = listsChanged;
    await callAt(owner, "progress");
    await call("grow");
    await until(() => listsChanged > before);
    await until(async () => (await client.listTools()).tools.some(({ name }) => name === "effects-grown"));
  });

  test("finds the server again when its process has crashed", async () => {
    await expect(call("die")).resolves.toContain("exited with code 3");
    const next = await until(async () => await call("count").catch(() => undefined));
    expect(JSON.parse(next).pid).not.toBe(pid);
    expect((await callAt(owner, "count")).pid).toBe(JSON.parse(next).pid);
  });
});

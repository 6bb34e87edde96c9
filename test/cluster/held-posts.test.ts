import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { as } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startPeopledNodes, type PeopledNodes } from "./held-nodes.ts";

/** Every request of it reaches the next of the nodes. */
async function connect(all: readonly RunningGateway[], who: string) {
  let turn = 0;
  const posts: string[] = [];
  const inTurn = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const node = all[turn++ % all.length]?.url;
    if (init?.method === "POST") posts.push(`${pathname}${search}`);
    return await fetch(`${node}${pathname}${search}`, init);
  };
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { ok: true } }));
  const options = { fetch: inTurn, requestInit: { headers: as(who) } };
  await client.connect(new SSEClientTransport(new URL(`${all[0]?.url}/sse/flat`), options as never) as never);
  const call = async (name: string, args: object = {}, more: object = {}): Promise<string> => {
    const answer = await client.callTool({ name: `effects-${name}`, arguments: { ...args } }, undefined, more);
    return (answer.content as { readonly text: string }[])[0]?.text ?? "";
  };
  return { client, call, posts };
}

describe.skipIf(hasNoPostgres)("a client of HTTP+SSE, whose messages reach other nodes than its stream", () => {
  let nodes: PeopledNodes;
  let all: RunningGateway[];
  beforeAll(async () => {
    nodes = await startPeopledNodes();
    all = [];
    for (const name of ["one", "two", "three"]) all.push(await nodes.start(name));
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());

  test("calls, answers questions and cancels", async () => {
    const { client, call, posts } = await connect(all, "alice");
    for (let times = 0; times < 6; times += 1) expect(JSON.parse(await call("count"))).toHaveProperty("pid");
    for (let times = 0; times < 3; times += 1) expect(await call("confirm")).toContain('"action":"accept"');
    const controller = new AbortController();
    const running = call("sleep", { ms: 60_000, id: "of SSE" }, { signal: controller.signal });
    running.catch(() => undefined);
    await until(async () => (await nodes.effects()).includes("began of SSE"));
    controller.abort();
    await until(async () => (await nodes.effects()).includes("cancelled of SSE"));
    expect(await call("size", { text: "x".repeat(1_000_000) })).toContain("1000000");
    expect(posts[0]).toMatch(/sessionId=one\./);
    await client.close();
  });

  test("nobody else posts to its stream, and one that has ended is unknown", async () => {
    const { client, posts } = await connect(all, "alice");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const post = async (who: string): Promise<number> =>
      (
        await send(`${all[1]?.url}${posts[0]}`, {
          body,
          headers: { ...as(who), "content-type": "application/json" },
        })
      ).status;
    expect(await post("bob")).toBe(404);
    expect(await post("alice")).toBe(202);
    await client.close();
    await until(async () => (await post("alice")) === 404);
  });
});

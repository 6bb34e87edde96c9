import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { as } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { useThreeNodes } from "./held-nodes.ts";

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
  const nodes = useThreeNodes();

  test("calls, answers questions and cancels", async () => {
    const { client, call, posts } = await connect(nodes.all, "alice");
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
    const { client, posts } = await connect(nodes.all, "alice");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const post = async (who: string): Promise<number> =>
      (
        await send(`${nodes.at(1).url}${posts[0]}`, {
          body,
          headers: { ...as(who), "content-type": "application/json" },
        })
      ).status;
    expect(await post("bob")).toBe(404);
    expect(await post("alice")).toBe(202);
    await client.close();
    await until(async () => (await post("alice")) === 404);
  });

  test("messages to a stream that its client does not read are refused before they fill the memory", async () => {
    const stream = request(`${nodes.at(0).url}/sse/flat`, { headers: { ...as("alice"), accept: "text/event-stream" } });
    stream.on("error", () => undefined).end();
    const [response] = (await once(stream, "response")) as [IncomingMessage];
    const [first] = (await once(response, "data")) as [Buffer];
    response.pause();
    const path = /^data: (.*)$/m.exec(first.toString())?.[1] ?? "";
    // The answer has the id again.
    const body = JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(3_000_000), method: "ping" });
    const headers = { ...as("alice"), "content-type": "application/json" };
    const statuses: number[] = [];
    const posted: Promise<number>[] = [];
    // One after the other has come to the other node as a whole, so that it is not that one which has too many.
    for (let count = 0; count < 60 && !statuses.includes(429); count += 1) {
      const answer = send(`${nodes.at(1).url}${path}`, { body, headers }).then(({ status }) => status);
      void answer.then((status) => statuses.push(status));
      posted.push(answer);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(statuses).toContain(429);
    stream.destroy();
    const all = await Promise.all(posted);
    expect(all.filter((status) => ![202, 404, 429].includes(status))).toEqual([]);
    const { call, client } = await connect(nodes.all, "alice");
    await until(async () => (await call("count").catch(() => "")) !== "");
    await client.close();
  });
});

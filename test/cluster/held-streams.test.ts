import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { as } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { openStream, type OpenStream } from "../protocol/stream.ts";
import { useThreeNodes } from "./held-nodes.ts";

describe.skipIf(hasNoPostgres)("an answer whose stream broke off", () => {
  const nodes = useThreeNodes();
  const { at } = nodes;

  async function connect(who = "alice") {
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const url = (node: RunningGateway): string => `${node.url}/mcp/flat`;
    const body = { jsonrpc: "2.0", id: 0, method: "initialize", params };
    const first = await openStream(url(at(2)), { headers: as(who), body });
    const session = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
    const headers = { ...as(who), ...session, "mcp-protocol-version": "2025-11-25" };
    return {
      /** Calls a tool, and leaves the answer when it has begun. Returns the id to come back with. */
      async leave(node: RunningGateway, id: string, name: string, args: object): Promise<string> {
        const call = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
        const stream = await openStream(url(node), { headers, body: call });
        const place = await until(() => stream.events[0]?.id);
        stream.close();
        return place;
      },
      comeBack: async (node: RunningGateway, place: string): Promise<OpenStream> =>
        await openStream(url(node), {
          method: "GET",
          headers: { ...headers, accept: "text/event-stream", "last-event-id": place },
        }),
    };
  }

  const sleeping = (id: string, ms: number) => ["effects-sleep", { id, ms }] as const;

  test("is read on at the others, while it is worked on and later", async () => {
    const client = await connect();
    const place = await client.leave(at(0), "long", ...sleeping("resumed", 4_000));
    expect(place).toMatch(/^one\.[\w-]+\.[\w-]+_0$/);
    const streams = [await client.comeBack(at(1), place), await client.comeBack(at(2), place)];
    for (const stream of streams) await until(() => stream.ended);
    const late = await client.comeBack(at(1), place);
    await until(() => late.ended);
    for (const { messages } of [...streams, late])
      expect(messages).toMatchObject([
        { id: "long", result: { content: [{ text: expect.stringContaining("resumed") }] } },
      ]);
  });

  test("is nobody else's", async () => {
    const alice = await connect();
    const bob = await connect("bob");
    const place = await alice.leave(at(0), "mine", ...sleeping("private", 3_000));
    for (const node of nodes.all) {
      const stolen = await bob.comeBack(node, place);
      await until(() => stolen.ended);
      expect(JSON.stringify(stolen.messages)).not.toContain("private");
      expect(stolen.messages).toMatchObject([{ id: "mine", error: { data: { code: "OUTCOME_UNKNOWN" } } }]);
    }
    const own = await alice.comeBack(at(1), place);
    await until(() => own.ended);
    expect(JSON.stringify(own.messages)).toContain("private");
  });

  test("of 8 MB comes whole to a client that was cut off, and that comes back at another node without being told to", async () => {
    let turn = 0;
    let cuts = 0;
    /** Cuts off the first answer that comes as a stream, behind its first event. */
    const cutting = async (url: string | URL, init?: RequestInit): Promise<Response> => {
      turn += 1;
      const response = await fetch(new URL(new URL(url).pathname, at(turn).url), init);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (init?.method !== "POST" || !isStream || cuts > 0) return response;
      cuts += 1;
      const reader = response.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      await reader?.cancel();
      const { status, headers } = response;
      return new Response(value, { status, headers });
    };
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: as("alice") };
    const url = new URL(`${at(0).url}/mcp/flat`);
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: cutting, requestInit }) as never);
    const bytes = 8 * 1024 ** 2;
    const params = { name: "effects-big", arguments: { bytes, ms: 5_000 }, _meta: { "toolyard/maxTokens": 0 } };
    const { content } = await client.callTool(params);
    expect(cuts).toBe(1);
    expect((content as { readonly text: string }[])[0]?.text).toBe("x".repeat(bytes));
    await client.close();
  });

  test("ends with an error of its request when its node is killed, for those who follow it and who come later", async () => {
    const client = await connect();
    const place = await client.leave(at(0), "lost", ...sleeping("gone", 60_000));
    const following = await client.comeBack(at(1), place);
    await until(() => following.status === 200);
    await at(0).stop("SIGKILL");
    const later = await client.comeBack(at(2), place);
    for (const stream of [following, later]) {
      await until(() => stream.ended);
      expect(stream.messages).toMatchObject([{ id: "lost", error: { data: { code: "OUTCOME_UNKNOWN" } } }]);
    }
  });
});

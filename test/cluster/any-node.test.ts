import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { startNodes, type Nodes } from "./nodes.ts";

describe.skipIf(hasNoPostgres)(
  "a client with a session, each of whose requests reaches the next of three nodes",
  () => {
    let nodes: Nodes;
    let all: RunningGateway[];
    let client: Client;
    let listsChanged = 0;

    beforeAll(async () => {
      nodes = await startNodes();
      all = await Promise.all(["one", "two", "three"].map(async (name) => await nodes.start(name)));
      client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { ok: true } }));
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (listsChanged += 1));
      let turn = 0;
      const inTurn = async (url: string | URL, init?: RequestInit): Promise<Response> => {
        turn += 1;
        return await fetch(new URL(new URL(url).pathname, all[turn % all.length]?.url), init);
      };
      const transport = new StreamableHTTPClientTransport(new URL(`${all[0]?.url}/mcp/flat`), { fetch: inTurn });
      await client.connect(transport as never);
    });
    afterAll(async () => {
      await client.close();
      await nodes[Symbol.asyncDispose]();
    });

    const call = async (name: string, args: Record<string, unknown> = {}, options: object = {}): Promise<any> => {
      const answer = await client.callTool({ name: `effects-${name}`, arguments: args }, undefined, options);
      return JSON.parse((answer.content as { readonly text: string }[])[0]?.text ?? "null") as unknown;
    };

    test("calls one process with one state", async () => {
      const { count, pid } = await call("count");
      for (let more = 1; more <= 9; more += 1) expect(await call("count")).toEqual({ count: count + more, pid });
    });

    test("answers questions at a node that did not ask", async () => {
      for (let times = 0; times < 6; times += 1)
        expect((await call("confirm")).answer).toEqual({ action: "accept", content: { ok: true } });
    });

    test("cancels a call that another node runs for it", async () => {
      for (const id of ["first", "second", "third"]) {
        const controller = new AbortController();
        const running = call("sleep", { ms: 60_000, id }, { signal: controller.signal });
        running.catch(() => undefined);
        await until(async () => (await nodes.effects()).some((effect) => effect.id === `began ${id}`));
        controller.abort();
        await expect(running).rejects.toThrow();
        await until(async () => (await nodes.effects()).some((effect) => effect.id === `cancelled ${id}`));
      }
    });

    test("hears of changed lists", async () => {
      const before = listsChanged;
      await call("grow");
      await until(() => listsChanged > before);
      await until(async () => (await client.listTools()).tools.some(({ name }) => name === "effects-grown"));
    });
  },
);

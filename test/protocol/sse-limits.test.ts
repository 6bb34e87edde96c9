import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, member } from "../harness/known-people.ts";
import { untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSse, type RawSse } from "./sse-client.ts";

const limits = { openStreams: 3, concurrentCalls: 6, callsPerSecond: 10_000 };
const config = {
  mcpServers: { bad: { ...badServer(), scope: "shared" } },
  toolyard: {
    limits,
    results: { maxTokens: 0 },
    principals: Object.fromEntries(["alice", "bob", "carol", "dora"].map((person) => [person, member(person)])),
  },
};
const execution = (tool: string, args: object = {}): object => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: `bad:${tool}`, arguments: args },
});

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ config });
  await untilOnline(gateway.url, as("alice"));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

async function openAs(person: string): Promise<RawSse> {
  const stream = await openSse(`${gateway.url}/sse`, as(person));
  await stream.initialize();
  return stream;
}

describe("how much", () => {
  test("streams are counted per principal, and free again once they are closed", async () => {
    const streams = [await openAs("carol"), await openAs("carol"), await openAs("carol")];
    const refused = await openSse(`${gateway.url}/sse`, as("carol"));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "30"]);
    const other = await openAs("bob");
    streams[0]?.close();
    await until(async () => {
      const again = await openSse(`${gateway.url}/sse`, as("carol"));
      again.close();
      return again.status === 200;
    });
    for (const stream of [other, ...streams]) stream.close();
  });

  test("calls at once are counted, refused with 429 where they were posted, and free again when the stream closes", async () => {
    const stream = await openAs("dora");
    for (let at = 0; at < limits.concurrentCalls; at += 1)
      expect((await stream.post({ id: `hung ${at}`, method: "tools/call", params: execution("hang") })).status).toBe(
        202,
      );
    const refused = await stream.post({ id: "more", method: "ping" });
    expect([refused.status, refused.json.id, refused.json.error.data.code]).toEqual([429, "more", "RATE_LIMITED"]);
    await stream.post({ method: "notifications/cancelled", params: { requestId: "hung 0" } });
    await until(async () => (await stream.post({ id: "then", method: "ping" })).status === 202);
    expect(await stream.next(({ id }) => id === "then")).toMatchObject({ result: {} });
    // A cancelled request gets no answer.
    expect(stream.messages.filter(({ id }) => String(id).startsWith("hung"))).toEqual([]);
    stream.close();
    const again = await openSse(`${gateway.url}/sse`, as("dora"));
    for (let at = 0; at < limits.concurrentCalls; at += 1)
      await until(
        async () => (await again.post({ id: at, method: "tools/call", params: execution("hang") })).status === 202,
      );
    again.close();
  });

  test("sessions are counted, and streams on which nothing is said end; those with a session do not", async () => {
    await using small = await startGateway({
      config: {
        mcpServers: {},
        toolyard: { limits: { sessions: 2, sessionIdleMs: 1_000 }, instances: { idleCheckMs: 1_000 } },
      },
    });
    const [first, second] = [await openSse(`${small.url}/sse`), await openSse(`${small.url}/sse`)];
    for (const stream of [first, second]) await stream.initialize();
    const refused = await openSse(`${small.url}/sse`);
    expect([refused.status, refused.headers["content-type"]]).toEqual([429, "application/json"]);
    second.close();
    const silent = await until(async () => {
      const opened = await openSse(`${small.url}/sse`);
      return opened.status === 200 && opened;
    });
    await until(() => silent.ended);
    expect(first.ended).toBe(false);
    await first.call("still there", "ping");
    first.close();
  });

  test("large answers that are ready at once all arrive whole", async () => {
    const stream = await openAs("bob");
    const ids = [1, 2, 3, 4, 5, 6];
    const args = { blocks: 3, bytes: 1_048_576 };
    const answers = await Promise.all(
      ids.map(async (id) => await stream.call(id, "tools/call", execution("big", args))),
    );
    for (const { result } of answers)
      expect(result.content.map(({ text }: { text: string }) => text.length)).toEqual([
        1_048_576, 1_048_576, 1_048_576,
      ]);
    stream.close();
  });

  test("who does not read is not listened to, and gets everything once it reads", async () => {
    const stream = await openAs("bob");
    stream.pause();
    const ids = ["big 1", "big 2", "big 3"];
    for (const id of ids) {
      const params = execution("big", { bytes: 10_485_760 });
      expect((await stream.post({ id, method: "tools/call", params })).status).toBe(202);
    }
    // What is behind them has been written when nothing is in flight at the server any more, and the gateway was
    // asked since.
    await until(async () => inFlightOf(await callAs("alice", "in-flight")) <= 1);
    await callAs("alice", "canary");
    let isAnswered = false;
    const posted = stream.post({ id: "ping", method: "ping" }).finally(() => (isAnswered = true));
    for (let round = 0; round < 5; round += 1) await callAs("alice", "canary");
    expect(isAnswered).toBe(false);
    stream.resume();
    expect((await posted).status).toBe(202);
    for (const id of ids)
      expect((await stream.next((message) => message.id === id)).result.content[0].text).toHaveLength(10_485_760);
    await stream.next(({ id }) => id === "ping");
    stream.close();
  });

  test("FAULT 26: who never reads a stream loses it; the gateway holds a bounded part of it", async () => {
    const stream = await openAs("bob");
    stream.pause();
    // 90 MB of log messages and no reader: far beyond the stream's buffer and the kernel's.
    const params = execution("log", { text: "x".repeat(9_000), times: 10_000 });
    await stream.post({ id: "flood", method: "tools/call", params });
    await until(async () => (await stream.post({ method: "notifications/x" })).status === 404, 90_000);
    await callAs("alice", "canary");
    stream.close();
  });
});

test("SIGTERM: what runs is answered on the stream, nothing new is taken, and the stream ends", async () => {
  await using stopping = await startGateway({ config: { mcpServers: { bad: badServer() } } });
  await untilOnline(stopping.url);
  const [busy, idle] = [await openSse(`${stopping.url}/sse`), await openSse(`${stopping.url}/sse`)];
  await busy.initialize();
  await busy.post({ id: "slow", method: "tools/call", params: execution("slow", { ms: 1_500 }) });
  const stopped = stopping.stop();
  await until(
    async () =>
      await busy.post({ id: "late", method: "ping" }).then(
        ({ status }) => status === 503,
        () => true,
      ),
  );
  expect((await busy.next(({ id }) => id === "slow")).result.content[0].text).toContain("1500");
  await until(() => busy.ended && idle.ended);
  expect(await stopped).toBe(0);
});

test("SIGTERM: what does not end in time is told that the gateway stops", async () => {
  await using stopping = await startGateway({
    config: { mcpServers: { bad: badServer() }, toolyard: { instances: { drainTimeoutMs: 200 } } },
  });
  await untilOnline(stopping.url);
  const stream = await openSse(`${stopping.url}/sse`);
  await stream.post({ id: "hung", method: "tools/call", params: execution("hang") });
  const stopped = stopping.stop();
  expect((await stream.next(({ id }) => id === "hung")).error.data.code).toBe("DRAINING");
  await until(() => stream.ended);
  expect(await stopped).toBe(0);
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function callAs(person: string, tool: string): Promise<any> {
  return (await rpc(`${gateway.url}/mcp`, "tools/call", execution(tool), as(person))).json.result;
}

function inFlightOf(result: { content: { text: string }[] }): number {
  return Number(result.content[0]?.text.replace(/\D/g, ""));
}

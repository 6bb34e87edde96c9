import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, modernRpc, rpc, send } from "../harness/rpc.ts";
import { everything } from "../protocol/clients.ts";
import { until } from "../harness/until.ts";
import { aliveIn, discover } from "./observing.ts";

let directory: string;
let pids: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-drain-"));
  pids = join(directory, "pids");
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function gatewayWith(drainTimeoutMs: number, ...flags: string[]): Promise<RunningGateway> {
  const gateway = await startGateway({
    config: {
      mcpServers: { bad: badServer("--write-pid", pids, ...flags) },
      toolyard: { instances: { drainTimeoutMs, stopTimeoutMs: 3_000 } },
    },
    directory,
  });
  await until(async () => (await discover(gateway.url, { query: "" })).total_tools > 0);
  return gateway;
}

const inFlight = async (gateway: RunningGateway): Promise<number> =>
  JSON.parse((await execute(gateway.url, "bad:in-flight")).content[0].text).inFlight ??
  Number((await execute(gateway.url, "bad:in-flight")).content[0].text.replace(/\D/g, ""));

describe("FAULT 108: SIGTERM with two hundred calls in flight", () => {
  test.each(["SIGTERM", "SIGHUP"] as const)(
    "all that end in time are answered, nothing new is taken, the children are gone, exit code 0 (%s)",
    async (signal) => {
      await using gateway = await gatewayWith(100_000);
      for (const kind of ["fork", "setsid"]) await execute(gateway.url, `bad:${kind}`);
      const until200AreSeen = join(directory, "answer-now");
      const slow = { until: until200AreSeen };
      const calls = Array.from({ length: 200 }, async () => await execute(gateway.url, "bad:slow", slow));
      await until(async () => (await inFlight(gateway)) >= 200);
      const stopped = gateway.stop(signal);
      await until(
        async () =>
          await rpc(`${gateway.url}/mcp`, "tools/list").then(
            (answer) => answer.status === 503,
            () => true,
          ),
      );
      await writeFile(until200AreSeen, "");
      const results = await Promise.all(calls);
      expect(results.filter((result) => result.isError === true || result.content === undefined)).toEqual([]);
      expect(await stopped).toBe(0);
      expect(aliveIn(pids)).toEqual([]);
    },
  );

  test("those that do not end are told that the gateway stops", async () => {
    await using gateway = await gatewayWith(300);
    const calls = Array.from(
      { length: 20 },
      async () =>
        await rpc(`${gateway.url}/mcp`, "tools/call", {
          name: "execute_mcp_tool",
          arguments: { tool_path: "bad:hang", arguments: {} },
        }),
    );
    await until(async () => (await inFlight(gateway)) >= 20);
    const stopped = gateway.stop("SIGTERM");
    for (const answer of await Promise.all(calls))
      expect(answer.json.error).toMatchObject({ message: "the gateway is stopping", data: { code: "DRAINING" } });
    expect(await stopped).toBe(0);
    expect(aliveIn(pids)).toEqual([]);
  });

  test("a question that its client was to come back to with an answer holds nothing up", async () => {
    // Longer than the test may take.
    await using gateway = await gatewayWith(3_600_000);
    const asked = await modernRpc(
      `${gateway.url}/mcp`,
      "tools/call",
      { name: "execute_mcp_tool", arguments: { tool_path: "bad:elicit", arguments: {} } },
      everything,
    );
    expect(asked.json.result.resultType).toBe("input_required");
    expect(await gateway.stop("SIGTERM")).toBe(0);
    expect(aliveIn(pids)).toEqual([]);
  });

  test("a second SIGTERM waits for no call, and servers that survive everything are killed", async () => {
    await using gateway = await gatewayWith(3_600_000, "--ignore-sigterm", "--ignore-eof");
    const call = rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:hang", arguments: {} },
    });
    await until(async () => (await inFlight(gateway)) >= 1);
    const stopped = gateway.stop("SIGTERM");
    await until(() => gateway.stderr().includes("stopping: SIGTERM"));
    gateway.process.kill("SIGTERM");
    expect((await call).json.error.data.code).toBe("DRAINING");
    expect(await stopped).toBe(0);
    expect(aliveIn(pids)).toEqual([]);
  });
});

test("a gateway that gives notice is served until it is over, and a second SIGTERM ends it", async () => {
  await using gateway = await startGateway({
    // Longer than the test may take.
    config: { mcpServers: { bad: badServer("--write-pid", pids) }, toolyard: { noticeMs: 3_600_000 } },
    directory,
  });
  const probe = async (path: string, host?: string): Promise<unknown[]> => {
    const answer = await send(`${gateway.url}${path}`, { method: "GET", headers: host === undefined ? {} : { host } });
    return [answer.status, answer.json, answer.headers.connection];
  };
  await execute(gateway.url, "bad:echo");
  const answerNow = join(directory, "answer-now");
  const slow = { name: "execute_mcp_tool", arguments: { tool_path: "bad:slow", arguments: { until: answerNow } } };
  const before = modernRpc(`${gateway.url}/mcp`, "tools/call", slow);
  await until(async () => (await inFlight(gateway)) >= 1);
  expect(await probe("/readyz")).toEqual([200, { status: "ready" }, "keep-alive"]);
  const stopped = gateway.stop("SIGTERM");
  await until(async () => (await probe("/readyz"))[0] === 503);
  expect(await probe("/readyz")).toEqual([503, { status: "unready", reason: "stopping" }, "close"]);
  expect(await probe("/readyz", "10.1.2.3:3001")).toEqual([503, { status: "unready" }, "close"]);
  expect(await probe("/healthz")).toEqual([200, { status: "ok" }, "close"]);
  expect((await execute(gateway.url, "bad:echo")).content).toBeDefined();
  const listed = await modernRpc(`${gateway.url}/mcp`, "tools/list");
  expect([listed.status, listed.headers.connection]).toEqual([200, "close"]);
  await writeFile(answerNow, "");
  const answered = await before;
  expect([answered.status, answered.json.result.isError, answered.headers.connection]).toEqual([
    200,
    undefined,
    "close",
  ]);
  gateway.process.kill("SIGTERM");
  expect(await stopped).toBe(0);
  expect(aliveIn(pids)).toEqual([]);
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CallJson } from "../../src/records/calls/record-json.ts";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { canShiftClocks, createShiftedClock, type ShiftedClock } from "../harness/shifted-clock.ts";
import { until } from "../harness/until.ts";
import { connectClient, type AnsweringClient } from "../protocol/clients.ts";
import { readEvents } from "./event-reader.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let directory: string;
const started: RunningGateway[] = [];
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-clock-"))));
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

async function start({ env }: ShiftedClock): Promise<RunningGateway> {
  const config = { mcpServers: { bad: badServer() }, toolyard: { results: { maxTokens: 200 } } };
  const gateway = await startGateway({ directory, env, config });
  started.push(gateway);
  await untilOnline(gateway.url);
  return gateway;
}

/** What a client holds that must not expire: its session, a result that was cut, and the stream that it reads. */
async function hold(gateway: RunningGateway) {
  const client = await connectClient(`${gateway.url}/mcp`, "legacy");
  const cut = await callTool(client, "bad:text", { text: "a word and another one\n".repeat(200) });
  const { uri } = (cut._meta as Record<string, { uri: string }>)["toolyard/cut"] ?? { uri: "" };
  const reader = await readEvents(`${gateway.url}/api/events?types=mcp.request.logs`);
  const pidOf = async (): Promise<unknown> => (await callTool(client, "bad:canary", {})).structuredContent;
  const process = await pidOf();
  return {
    reader,
    async isThere() {
      expect(await pidOf()).toEqual(process);
      const { contents } = await client.client.readResource({ uri: `${uri}?part=2` });
      expect(JSON.stringify(contents)).toContain("another one");
    },
    async [Symbol.asyncDispose]() {
      reader.close();
      await client[Symbol.asyncDispose]();
    },
  };
}

async function callTool({ client }: AnsweringClient, path: string, args: object) {
  return await client.callTool({ name: "execute_mcp_tool", arguments: { tool_path: path, arguments: args } });
}

async function callsOf(gateway: RunningGateway): Promise<readonly CallJson[]> {
  return ((await get(`${gateway.url}/api/calls?limit=1000`)).json as { calls: CallJson[] }).calls;
}

/** Of all hours that there are, those of tomorrow included. */
async function usedIn(gateway: RunningGateway): Promise<number> {
  const [from, to] = [Date.now() - 10 * dayMs, Date.now() + 10 * dayMs].map((ms) => new Date(ms).toISOString());
  const { json } = await get(`${gateway.url}/api/usage?from=${from}&to=${to}&by=hour`);
  return (json as { usage: readonly { calls: number }[] }).usage.reduce((sum, { calls }) => sum + calls, 0);
}

/** Each call once, in the order in which they were made, in the list and in the sums. */
async function expectRecorded(gateway: RunningGateway, words: readonly string[]): Promise<void> {
  const calls = await callsOf(gateway);
  const echoes = calls.filter(({ name }) => name === "bad:echo").toReversed();
  expect(echoes).toHaveLength(words.length);
  expect(await usedIn(gateway)).toBe(calls.length);
  for (const { durationMs } of echoes) expect(durationMs).toBeLessThan(60_000);
}

describe.runIf(canShiftClocks)("a gateway whose clock", () => {
  test("FAULT 110: is put forward and back by an hour and a day: nothing expires, and each call is recorded once", async () => {
    await using clock = await createShiftedClock();
    const gateway = await start(clock);
    const words: string[] = [];
    {
      await using held = await hold(gateway);
      for (const wallMs of [0, hourMs, -hourMs, dayMs, 0, -dayMs, 0]) {
        clock.shift({ wallMs });
        const word = `${words.length}`;
        expect((await run(gateway.url, "bad:echo", { word })).json.success).toBe(true);
        words.push(word);
        await held.isThere();
        // It is the clock of the gateway, and what it says of the time follows it.
        const [{ time } = { time: "" }] = await callsOf(gateway);
        expect(Math.abs(Date.parse(time) - wallMs - Date.now())).toBeLessThan(10 * 60_000);
      }
      // Of many in a second, one tells how many others there were.
      const told = (): number => held.reader.events.reduce((sum, { data }) => sum + 1 + (data.coalesced ?? 0), 0);
      await until(() => told() >= 2 * words.length);
      expect(held.reader.events.map(({ event }) => event)).not.toContain("reset");
    }
    await expectRecorded(gateway, words);
    expect(await gateway.stop()).toBe(0);
    const place = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
    expect((await runCommand(["audit", "verify", ...place])).stdout).toMatch(/none changed or removed/);
    const next = await start(clock);
    await expectRecorded(next, words);
    expect(await next.stop()).toBe(0);
  });

  test("FAULT 110: goes on after a minute of sleep: nothing expires, no call is given up, and none counts twice", async () => {
    await using clock = await createShiftedClock();
    const gateway = await start(clock);
    const words: string[] = [];
    {
      await using held = await hold(gateway);
      const slow = run(gateway.url, "bad:slow", { ms: 1_000 });
      for (let minutes = 0; minutes < 3; minutes += 1) {
        clock.shift({ wallMs: minutes * 60_000, monotonicMs: minutes * 60_000 });
        const word = `${words.length}`;
        expect((await run(gateway.url, "bad:echo", { word })).json.success).toBe(true);
        words.push(word);
        await held.isThere();
      }
      expect((await slow).json.success).toBe(true);
      expect(held.reader.ended).toBe(false);
    }
    await expectRecorded(gateway, words);
    expect(await gateway.stop()).toBe(0);
  });
});

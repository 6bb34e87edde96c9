import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/harness/manual-clock.ts";
import { createTestStore, whenOpened } from "../../../test/harness/records.ts";
import { until } from "../../../test/harness/until.ts";
import { createEventBus, type EventBus } from "../../kernel/events/event-bus.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { RecordStore, UsageQuery } from "../../store/record-store.ts";
import { createUsageRows } from "./usage-rows.ts";
import { createUsage, usageWriteMs } from "./usage-log.ts";

type Call = EventOf<"mcp.request.logs">;

let folder: string;
let clock: ManualClock;
let events: EventBus;
const stores: RecordStore[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-usage-"));
  clock = createManualClock();
  events = createEventBus((error) => {
    throw error;
  });
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

async function openStore(): Promise<RecordStore> {
  const store = createTestStore(folder);
  stores.push(store);
  return await whenOpened(store);
}

function callOf(given: Partial<Record<keyof Call, unknown>> = {}): Call {
  return {
    type: "mcp.request.logs",
    atMs: clock.now(),
    instance: "files",
    server: "files",
    principal: "ada",
    team: null,
    via: "http",
    client: "cursor",
    method: "tools/call",
    name: "read",
    path: "files:read",
    durationMs: 7,
    waitMs: 1_000,
    argumentBytes: 36,
    resultBytes: 360,
    cutTokens: 0,
    serverCode: undefined,
    outcome: "ok",
    ...given,
  } as Call;
}

const installationOf = (id: string): string => id;
const everything: UsageQuery = { fromMs: 0, toMs: 8.64e15, by: [], limit: 100 };
const hour = 3_600_000;

test("calls are summed by what is asked for: durations without waiting, tokens, cut results, errors by code", async () => {
  using usage = createUsage({ events, clock, installationOf, store: () => undefined });
  events.emit(callOf());
  events.emit(callOf({ durationMs: 70_000, cutTokens: 12 }));
  events.emit(callOf({ outcome: "tool_error" }));
  events.emit(callOf({ outcome: "error", serverCode: -32_602, principal: "bob", path: "files:write" }));
  events.emit(callOf({ outcome: "UPSTREAM_TIMEOUT", client: undefined }));
  // One that waits for a person is none yet.
  events.emit(callOf({ outcome: "APPROVAL_NEEDED" }));
  const { sums, sinceMs } = await usage.read(everything);
  expect(sinceMs).toBe(0);
  expect(sums).toEqual([
    {
      group: [],
      calls: 5,
      errors: 3,
      lastHourMs: 0,
      durationMsSum: 70_028,
      durationMsMax: 70_000,
      buckets: [0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      argumentTokens: 50,
      resultTokens: 500,
      cut: 1,
    },
  ]);
  const counted = async (more: Partial<UsageQuery>) =>
    (await usage.read({ ...everything, ...more })).sums.map(({ group, calls }) => [...group, calls]);
  expect(await counted({ by: ["code"] })).toEqual([
    ["", 2],
    ["-32602", 1],
    ["UPSTREAM_TIMEOUT", 1],
    ["tool_error", 1],
  ]);
  expect(await counted({ by: ["client", "principal"] })).toEqual([
    ["cursor", "ada", 3],
    [null, "ada", 1],
    ["cursor", "bob", 1],
  ]);
  expect(await counted({ by: ["tool"], principal: "bob" })).toEqual([["files:write", 1]]);
  expect(await counted({ client: "cursor", by: ["tool"], limit: 1 })).toEqual([["files:read", 3]]);
});

test("a store that is about to rest is handed what waits, once", async () => {
  const store = createTestStore(folder, {
    clock,
    limits: { sleep: { idleMs: 40_000, againMs: 1_000, sleepMs: 3_600_000 } },
  });
  stores.push(await whenOpened(store));
  const usage = createUsage({ events, clock, installationOf, store: () => store });
  store.onRest(() => usage.write());
  events.emit(callOf());
  events.emit(callOf({ path: "files:write" }));
  await clock.advance(40_000);
  await store.flush();
  expect(store.figures()).toMatchObject({ writtenRows: 2, queuedRows: 0 });
  usage.write();
  expect(store.figures()).toMatchObject({ queuedRows: 0 });
  expect((await usage.read(everything)).sums).toMatchObject([{ calls: 2 }]);
  usage[Symbol.dispose]();
});

test("what was written and what still waits are one sum, at every moment, and after a restart", async () => {
  const store = await openStore();
  const usage = createUsage({ events, clock, installationOf, store: () => store });
  const calls = async () =>
    (await usage.read({ ...everything, by: ["hour"] })).sums.map((sum) => [...sum.group, sum.calls]);
  events.emit(callOf());
  expect(await calls()).toEqual([["0", 1]]);
  await clock.advance(usageWriteMs);
  expect(await calls()).toEqual([["0", 1]]);
  events.emit(callOf());
  expect(await calls()).toEqual([["0", 2]]);
  await clock.advance(hour);
  events.emit(callOf());
  // Read while it is written.
  const [first] = await Promise.all([calls(), clock.advance(usageWriteMs)]);
  expect(first).toEqual([
    ["0", 2],
    [String(hour), 1],
  ]);
  expect((await usage.read({ ...everything, fromMs: hour })).sums[0]?.calls).toBe(1);
  expect((await usage.read({ ...everything, fromMs: hour + 60_000, toMs: hour + 120_000 })).sums[0]?.calls).toBe(1);
  expect((await usage.read({ ...everything, toMs: hour })).sums[0]?.calls).toBe(2);
  usage[Symbol.dispose]();
  await stores.pop()?.close(10_000);
  const again = await openStore();
  using after = createUsage({ events, clock, installationOf, store: () => again });
  const { sums, sinceMs } = await after.read({ ...everything, by: ["tool"] });
  expect(sinceMs).toBeNull();
  expect(sums).toMatchObject([{ group: ["files:read"], calls: 3, durationMsSum: 21, argumentTokens: 30 }]);
});

test("nothing is lost while the store takes nothing, and nothing counted twice when it does", async () => {
  const store = await openStore();
  let opened: RecordStore | undefined;
  let isFull = true;
  const hindered: Pick<RecordStore, "append" | "flush" | "usage" | "health" | "isShared"> = {
    ...store,
    append: (kind, row) => !isFull && store.append(kind, row),
  };
  using usage = createUsage({
    events,
    clock,
    installationOf,
    store: () => (opened === undefined ? undefined : hindered),
  });
  const total = async () => (await usage.read(everything)).sums[0]?.calls;
  events.emit(callOf());
  await clock.advance(hour);
  events.emit(callOf());
  opened = store;
  await clock.advance(usageWriteMs);
  expect(await total()).toBe(2);
  expect(await store.usage(everything)).toEqual([]);
  isFull = false;
  await clock.advance(usageWriteMs);
  expect(await total()).toBe(2);
  expect(await store.usage(everything)).toMatchObject([{ calls: 2 }]);
});

test("what a page asks again and again leaves the store asleep until something was handed over, or an hour begins", async () => {
  const store = createTestStore(folder, {
    clock,
    limits: { sleep: { idleMs: 40_000, againMs: 1_000, sleepMs: 10 * hour } },
  });
  stores.push(await whenOpened(store));
  using usage = createUsage({ events, clock, installationOf, store: () => store });
  store.onRest(() => usage.write());
  events.emit(callOf());
  await clock.advance(usageWriteMs);
  await store.flush();
  const lastDay = async (more: Partial<UsageQuery> = {}) => {
    const { sums } = await usage.read({ ...everything, toMs: clock.now() + 1, by: ["tool"], ...more });
    return sums.map(({ group, calls }) => [...group, calls]);
  };
  expect(await lastDay()).toEqual([["files:read", 1]]);
  const { workerStarts } = store.figures();
  const fallAsleep = async (): Promise<void> => {
    await clock.advance(40_000);
    // Nothing is left of the write-ahead log where the last connection was closed in order.
    await until(() => !existsSync(join(folder, "records.db-wal")));
  };
  await fallAsleep();
  for (let minute = 0; minute < 10; minute += 1) {
    await clock.advance(usageWriteMs);
    expect(await lastDay()).toEqual([["files:read", 1]]);
  }
  expect(store.figures().workerStarts).toBe(workerStarts);
  // Another question, another hour, and a call that was written: each is read anew.
  expect(await lastDay({ tool: "files:write" })).toEqual([]);
  expect(store.figures().workerStarts).toBe(workerStarts + 1);
  await fallAsleep();
  events.emit(callOf({ path: "files:write" }));
  await clock.advance(usageWriteMs);
  await store.flush();
  expect(await lastDay({ tool: "files:write" })).toEqual([["files:write", 1]]);
  await fallAsleep();
  await clock.advance(hour);
  expect(await lastDay()).toHaveLength(2);
  expect(store.figures().workerStarts).toBe(workerStarts + 3);
});

test("sums of a file that was replaced are not told any more", async () => {
  const store = await openStore();
  using usage = createUsage({ events, clock, installationOf, store: () => store });
  events.emit(callOf());
  await clock.advance(usageWriteMs);
  await store.flush();
  expect((await usage.read(everything)).sums).toMatchObject([{ calls: 1 }]);
  const seen: string[] = [];
  store.onHealth(({ status }) => seen.push(status));
  await rm(join(folder, "records.db"));
  await until(() => seen.at(-1) === "ready");
  expect((await usage.read(everything)).sums).toEqual([]);
});

test("what other gateways write to the same store is read every time", async () => {
  const store = await openStore();
  const shared = { ...store, isShared: true };
  using one = createUsage({ events, clock, installationOf, store: () => shared });
  const others = createEventBus((error) => {
    throw error;
  });
  using other = createUsage({ events: others, clock, installationOf, store: () => store });
  expect((await one.read(everything)).sums).toEqual([]);
  others.emit(callOf());
  other.write();
  await store.flush();
  expect((await one.read(everything)).sums).toMatchObject([{ calls: 1 }]);
});

test("while the store cannot be read, the answer is what is still known, and says since when", async () => {
  const store = await openStore();
  using well = createUsage({ events, clock, installationOf, store: () => store });
  events.emit(callOf());
  await clock.advance(usageWriteMs);
  await store.flush();
  expect((await well.read(everything)).sums).toMatchObject([{ calls: 1 }]);
  const unavailable = { ...store, usage: () => Promise.reject(new GatewayError("STORE_UNAVAILABLE", "it is ill")) };
  events.emit(callOf());
  using ill = createUsage({ events, clock, installationOf, store: () => unavailable });
  events.emit(callOf({ path: "files:write" }));
  const { sums, sinceMs } = await ill.read({ ...everything, by: ["tool"] });
  expect([sums.map(({ group }) => group), sinceMs]).toEqual([[["files:write"]], usageWriteMs]);
});

test("FAULT 106: while the store has no thread that takes its rows, the answer does not wait for one", async () => {
  const store = await openStore();
  const unavailable = () => Promise.reject(new GatewayError("STORE_UNAVAILABLE", "its thread is gone"));
  const never = new Promise<void>(() => undefined);
  using usage = createUsage({
    events,
    clock,
    installationOf,
    store: () => ({ ...store, flush: () => never, usage: unavailable }),
  });
  events.emit(callOf());
  const { sums, sinceMs } = await usage.read(everything);
  expect(sums).toMatchObject([{ calls: 1 }]);
  expect(sinceMs).not.toBeNull();
});

test("of what is not a tool only the method is kept: a URI may have a secret in it", async () => {
  using usage = createUsage({ events, clock, installationOf, store: () => undefined });
  events.emit(callOf({ method: "resources/read", path: "https://host/?key=secret", name: "https://host/?key=secret" }));
  const answer = JSON.stringify(await usage.read({ ...everything, by: ["tool"] }));
  expect(answer).toContain("resources/read");
  expect(answer).not.toContain("secret");
});

test("clients that call themselves something else each time are counted together from a limit on, and no call is lost", () => {
  const rows = createUsageRows(0, { keys: 50, clients: 20 });
  for (let at = 0; at < 1_000; at += 1)
    rows.add(callOf({ client: `client-${at}`, path: `files:tool-${at % 7}`, principal: `p${at % 300}` }));
  expect(rows.size).toBeLessThanOrEqual(101);
  const kept = rows.rows();
  expect(kept.reduce((sum, { calls }) => sum + calls, 0)).toBe(1_000);
  expect(new Set(kept.map(({ client }) => client)).size).toBeLessThanOrEqual(22);
  expect(
    kept.some(({ principal, tool, instance }) => principal === "other" && tool === "other" && instance === "other"),
  ).toBe(true);
});

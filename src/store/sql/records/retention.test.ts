import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestStore, eventOf, lineOf, requestOf, usageOf, whenOpened } from "../../../../test/harness/records.ts";
import { until } from "../../../../test/harness/until.ts";
import { idAt } from "./record-ids.ts";
import type { RecordStore } from "../../record-store.ts";
import { defaultRetention } from "../requests/retention-limits.ts";

let folder: string;
let store: RecordStore;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-retention-"))));
afterEach(async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const ago = (days: number, at = 0): { id: number; atMs: number } => {
  const atMs = Date.now() - days * dayMs;
  return { id: idAt(atMs) + at, atMs };
};
const body = { arguments: "{}", areArgumentsCut: false, result: "r", isResultCut: false };

async function open(retention: Partial<typeof defaultRetention> = {}, retentionMs = 5): Promise<void> {
  store = createTestStore(folder, { limits: { retention: { ...defaultRetention, ...retention }, retentionMs } });
  await whenOpened(store);
}

const callIds = async () => (await store.calls({ limit: 1_000 })).rows.map(({ id }) => id);

test("of every instance the newest lines and the newest bodies are kept, whatever others write", async () => {
  await open({ bodies: 3, logLines: 5 }, hourMs);
  for (let at = 0; at < 50; at += 1) {
    store.append("log", lineOf(store, { instance: "busy", line: `${at}` }));
    store.append("request", requestOf(store, { instance: "busy", body }));
    if (at % 25 === 0) {
      store.append("log", lineOf(store, { instance: "quiet", line: `${at}` }));
      store.append("request", requestOf(store, { instance: "quiet", body }));
    }
  }
  await store.flush();
  const lines = async (instance: string) => (await store.logs({ limit: 100, instance })).rows.map(({ line }) => line);
  expect(await lines("busy")).toEqual(["49", "48", "47", "46", "45"]);
  expect(await lines("quiet")).toEqual(["25", "0"]);
  const { rows } = await store.calls({ limit: 100, instance: "busy" });
  expect(rows.map(({ hasBody }) => hasBody)).toEqual([
    ...[1, 2, 3].map(() => true),
    ...Array.from({ length: 47 }, () => false),
  ]);
  expect((await store.calls({ limit: 9, instance: "quiet" })).rows.every(({ hasBody }) => hasBody)).toBe(true);
});

test("sessions go after thirty days, and what was spent on finding after two", async () => {
  await open();
  const session = {
    principal: "ada",
    client: null,
    exposure: "meta",
    isLazy: false,
    saved: 1,
    isExact: true,
    spent: 0,
  };
  for (const days of [31, 29]) store.append("session", { ...session, id: ago(days).id, startedMs: ago(days).atMs });
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const spent = { life: "a", principal: "ada", answers: 1, answerTokens: 1, wrappedCalls: 0, wrappingTokens: 0 };
  for (const days of [4, 0]) store.append("spent", { ...spent, dayMs: today - days * dayMs, sinceMs: today });
  await store.flush();
  const found = async (days: number) =>
    await store.finding({ fromMs: 0, dayMs: today - days * dayMs, exposure: "meta" });
  await until(async () => (await found(4)).spent.length === 0 && (await found(0)).sessions.length === 1);
  const { sessions, spent: left } = await found(0);
  expect([sessions.map(({ startedMs }) => startedMs > ago(30).atMs), left.length]).toEqual([[true], 1]);
});

test("what is older than its time goes, in pieces, and nothing else", async () => {
  await open({}, hourMs);
  const old = ago(31);
  for (let at = 0; at < 2_500; at += 1)
    store.append("request", requestOf(store, { ...(at === 0 ? old : ago(31, at)), body }));
  const kept = requestOf(store, { ...ago(29), body });
  store.append("request", kept);
  store.append("log", lineOf(store, { ...ago(8), line: "old" }));
  store.append("log", lineOf(store, { line: "new" }));
  store.append("event", eventOf(store, { ...ago(8), detail: "old" }));
  store.append("event", eventOf(store, { ...ago(6), detail: "new" }));
  const hour = (days: number) => Math.floor((Date.now() - days * dayMs) / hourMs) * hourMs;
  store.append("usage", usageOf({ hourMs: hour(401) }));
  store.append("usage", usageOf({ hourMs: hour(399) }));
  await store.flush();
  expect(await store.call(old.id)).toBeDefined();
  await store.close(10_000);
  await open();
  await until(async () => (await store.usage({ fromMs: 0, toMs: Date.now(), by: [], limit: 1 }))[0]?.calls === 1);
  expect(await callIds()).toEqual([kept.id]);
  // What was said is kept for a week.
  expect((await store.call(kept.id))?.body).toBeNull();
  expect((await store.logs({ limit: 9 })).rows.map(({ line }) => line)).toEqual(["new"]);
  expect((await store.events({ limit: 9 })).rows.map(({ detail }) => detail)).toEqual(["new"]);
});

test("more rows than are kept go from the oldest on, with what was said in them", async () => {
  await open({ requests: 1_500 }, hourMs);
  const ids: number[] = [];
  for (let at = 0; at < 4_000; at += 1) {
    const row = requestOf(store, { body: at === 0 ? body : null });
    ids.push(row.id);
    store.append("request", row);
  }
  await store.flush();
  await store.close(10_000);
  await open({ requests: 1_500 });
  await until(async () => (await store.calls({ limit: 1, before: ids[2_500] ?? 0 })).rows.length === 0);
  expect(await callIds()).toEqual(ids.slice(-1_000).toReversed());
  expect((await store.calls({ limit: 1_000, before: ids[3_000] ?? 0 })).rows).toHaveLength(500);
  expect(await store.call(ids[0] ?? 0)).toBeUndefined();
});

test("rows of a time when the clock was wrong go, and ids do not go on from them", async () => {
  await open({}, hourMs);
  store.append("event", eventOf(store, { id: idAt(Date.now() + 10 * dayMs) }));
  await store.flush();
  await store.close(10_000);
  await open();
  expect(store.nextId()).toBeLessThan(idAt(Date.now() + hourMs));
  await until(async () => (await store.events({ limit: 1 })).rows.length === 0);
});

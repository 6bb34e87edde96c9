import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestStore, entryOf, whenOpened } from "../../../../test/harness/records.ts";
import { until } from "../../../../test/harness/until.ts";
import type { RecordStore } from "../../record-store.ts";
import { defaultRetention } from "../requests/retention-limits.ts";
import { loadDriver } from "../sqlite/sql-driver.ts";

let folder: string;
let store: RecordStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-audit-"));
  store = await whenOpened(createTestStore(folder));
});
afterEach(async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

async function append(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await store.audit(entryOf({ object: `token ${at}` }));
}

/** As somebody does who has the file and not the key. */
async function forge(sql: string): Promise<void> {
  const database = loadDriver(folder).open(join(folder, "state.db"));
  database.exec(sql);
  database.close();
}

test("a chain that nobody touched is whole, however often it was opened", async () => {
  expect(await store.verifyAudit()).toEqual({ kind: "whole", checkpoint: null, entries: 0, last: "0".repeat(64) });
  await append(2_500);
  await store.close(10_000);
  store = await whenOpened(createTestStore(folder));
  const { seq, hash } = await store.audit(entryOf({ detail: "\0 \ud800", ip: "::1", team: "red" }));
  expect(seq).toBe(2_501);
  expect(await store.verifyAudit()).toEqual({ kind: "whole", checkpoint: null, entries: 2_501, last: hash });
});

test.each([
  ["an entry was changed", "update audit set outcome = 'denied' where seq = 3", 3],
  ["the time was changed", "update audit set at_ms = 0 where seq = 1", 1],
  ["an entry is missing", "delete from audit where seq = 3", 3],
  ["the first is missing", "delete from audit where seq = 1", 1],
  ["the last is missing", "delete from audit where seq = 5", 5],
  ["all are missing", "delete from audit", 1],
  [
    "an entry was put in",
    "insert into audit select 6, at_ms, actor, via, team, action, object, outcome, ip, detail, hash, hash from audit where seq = 5",
    6,
  ],
  [
    "two changed places",
    "update audit set seq = 99 where seq = 2; update audit set seq = 2 where seq = 3; update audit set seq = 3 where seq = 99",
    2,
  ],
])("that %s is found", async (_what, sql, brokenAt) => {
  await append(5);
  await forge(sql);
  expect(await store.verifyAudit()).toMatchObject({ kind: "broken", brokenAt });
});

test("entries that are written together stand in the chain one after the other", async () => {
  await append(2);
  const places = await store.auditAll([entryOf({ object: "a" }), entryOf({ object: "b" }), entryOf({ object: "c" })]);
  expect(places.map(({ seq }) => seq)).toEqual([3, 4, 5]);
  expect(await store.auditAll([])).toEqual([]);
  expect((await store.audits({ limit: 9 })).rows.map(({ object }) => object).slice(0, 3)).toEqual(["c", "b", "a"]);
  expect(await store.verifyAudit()).toEqual({ kind: "whole", checkpoint: null, entries: 5, last: places[2]?.hash });
});

test("with another key nothing is whole", async () => {
  await append(1);
  await store.close(10_000);
  store = await whenOpened(createTestStore(folder, { auditKey: new Uint8Array(32) }));
  expect(await store.verifyAudit()).toMatchObject({ kind: "broken", brokenAt: 1 });
});

test("entries are found by who did what, newest first", async () => {
  await store.audit(entryOf({ actor: "ann", atMs: 10 }));
  await store.audit(entryOf({ actor: "bob", atMs: 20, outcome: "denied", team: "red" }));
  await store.audit(entryOf({ actor: "ann", atMs: 30, action: "login" }));
  const found = async (filter: object) => (await store.audits({ limit: 9, ...filter })).rows.map(({ seq }) => seq);
  expect(await found({})).toEqual([3, 2, 1]);
  expect(await found({ actor: "ann" })).toEqual([3, 1]);
  expect(await found({ action: "login" })).toEqual([3]);
  expect(await found({ outcome: "denied", team: "red" })).toEqual([2]);
  expect(await found({ fromMs: 10, toMs: 30 })).toEqual([2, 1]);
  expect(await found({ after: 1, before: 3 })).toEqual([2]);
  const page = await store.audits({ limit: 2 });
  expect(page.next).toBe(2);
  expect(page.rows[0]).toMatchObject({ ...entryOf({ actor: "ann", atMs: 30, action: "login" }), seq: 3 });
});

describe("entries that are old", () => {
  const dayMs = 86_400_000;
  const ago = (days: number): number => Date.now() - days * dayMs;

  async function reopen(auditDays: number): Promise<void> {
    await store.close(10_000);
    const retention = { ...defaultRetention, auditMs: auditDays * dayMs };
    store = await whenOpened(createTestStore(folder, { limits: { retention, retentionMs: 10 } }));
  }

  const entriesOf = async (count: number, days: number) =>
    await store.auditAll(Array.from({ length: count }, (_, at) => entryOf({ atMs: ago(days), object: `${at}` })));
  const actions = async () => (await store.audits({ limit: 9 })).rows.map(({ seq, action }) => [seq, action]);

  /** 2,500 that are old, and three that are not. */
  async function pruned(): Promise<void> {
    await entriesOf(2_500, 40);
    await entriesOf(3, 1);
    await reopen(30);
    await until(async () => (await store.audits({ limit: 1, action: "audit.prune" })).rows.length > 0);
  }

  test("are removed in pieces behind a sealed checkpoint, an entry says so, and the chain holds from there", async () => {
    const old = await entriesOf(2_500, 40);
    const young = await entriesOf(3, 1);
    await reopen(30);
    await until(async () => (await store.audits({ limit: 1, action: "audit.prune" })).rows.length > 0);
    expect(await actions()).toEqual([
      [2_504, "audit.prune"],
      ...young.toReversed().map(({ seq }) => [seq, "token.create"]),
    ]);
    const through = old.at(-1);
    const verdict = await store.verifyAudit();
    expect(verdict).toMatchObject({ kind: "whole", entries: 4, checkpoint: { ...through, atMs: expect.any(Number) } });
    const [entry] = (await store.audits({ limit: 1 })).rows;
    expect(JSON.parse(entry?.detail ?? "")).toEqual(through);
    await store.audit(entryOf());
    await reopen(30);
    expect(await store.verifyAudit()).toMatchObject({ kind: "whole", entries: 5 });
  });

  test("are told of in an entry also where the newest of all is the only one left of them", async () => {
    // As many as go in one piece, and one.
    const old = await entriesOf(1_001, 40);
    await reopen(30);
    await until(async () => (await actions()).length === 2);
    expect(await actions()).toEqual([
      [1_002, "audit.prune"],
      [1_001, "token.create"],
    ]);
    expect(await store.verifyAudit()).toMatchObject({ kind: "whole", entries: 2, checkpoint: old.at(-2) });
  });

  test("stay when they are few more than the time, when nothing says how long, and the newest in any case", async () => {
    await entriesOf(5, 30.5);
    await reopen(30);
    await store.audit(entryOf({ atMs: ago(99) }));
    await reopen(Number.POSITIVE_INFINITY);
    expect(await actions()).toHaveLength(6);
    await reopen(20);
    await until(async () => (await actions()).length === 2);
    // Nothing that is removed leaves an entry that has to be removed.
    expect(await actions()).toEqual([
      [7, "audit.prune"],
      [6, "token.create"],
    ]);
  });

  test("are no reason to call a chain broken that is read meanwhile", async () => {
    await entriesOf(12_000, 40);
    await entriesOf(3, 1);
    await reopen(30);
    const kinds = new Set<string>();
    await until(async () => {
      const { kind, entries } = await store.verifyAudit();
      kinds.add(kind);
      return entries === 4;
    });
    expect([...kinds]).toEqual(["whole"]);
  });

  test.each([
    ["the checkpoint was moved on", `update meta set value = replace(value, '"seq":2500', '"seq":2501')`],
    ["the checkpoint was dated", "update meta set value = replace(value, 'atMs\":', 'atMs\":1')"],
    ["the checkpoint is gone", "delete from meta where key = 'audit.checkpoint'"],
    ["the checkpoint is no JSON", "update meta set value = 'x' where key = 'audit.checkpoint'"],
    ["an entry behind it was removed", "delete from audit where seq = 2501"],
    ["all entries behind it were removed", "delete from audit"],
    [
      "an entry before it is there",
      "insert into audit select 2500, at_ms, actor, via, team, action, object, outcome, ip, detail, prev, hash from audit where seq = 2501",
    ],
  ])("cannot be used to remove others: that %s is found", async (_what, sql) => {
    await pruned();
    expect((await store.verifyAudit()).kind).toBe("whole");
    await forge(sql);
    expect((await store.verifyAudit()).kind).toBe("broken");
  });
});

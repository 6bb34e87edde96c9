import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestStore, entryOf, whenOpened } from "../../../test/harness/records.ts";
import type { RecordStore } from "../record-store.ts";
import { loadDriver } from "./sql-driver.ts";

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
  const database = (await loadDriver()).open(join(folder, "state.db"));
  database.exec(sql);
  database.close();
}

test("a chain that nobody touched is whole, however often it was opened", async () => {
  expect(await store.verifyAudit()).toEqual({ kind: "whole", entries: 0, last: "0".repeat(64) });
  await append(2_500);
  await store.close(10_000);
  store = await whenOpened(createTestStore(folder));
  const { seq, hash } = await store.audit(entryOf({ detail: "\0 \ud800", ip: "::1", team: "red" }));
  expect(seq).toBe(2_501);
  expect(await store.verifyAudit()).toEqual({ kind: "whole", entries: 2_501, last: hash });
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
  expect(await store.verifyAudit()).toEqual({ kind: "whole", entries: 5, last: places[2]?.hash });
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

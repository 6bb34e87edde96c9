import { createHmac, timingSafeEqual } from "node:crypto";
import type { Kysely } from "kysely";
import type { AuditEntry, AuditRow } from "../record-rows.ts";
import type { AuditPlace, AuditQuery, AuditVerdict, Page } from "../record-store.ts";
import { checkpointFromText, checkpointKey, checkpointToText, readCheckpoint } from "./audit-checkpoint.ts";
import { filterEqual, floorOf, readPage } from "./paging.ts";
import { prepareQuery, runWith } from "./row-writer.ts";
import type { SqlDatabase } from "./sql-driver.ts";
import { inTransaction } from "./sqlite-dialect.ts";
import { toStorable } from "./storable.ts";
import type { StateTables } from "./tables.ts";

/**
 * A chain of entries, each sealed together with the one before it. Where the chain ends is sealed as well, in `meta`,
 * so that cutting entries off its end is found like changing one. Whoever has the key, or puts back an older copy of
 * the whole file, is not found out.
 */
export interface AuditChain {
  /** All of them are written to the disk when it returns, or none. */
  append(entries: readonly AuditEntry[]): readonly AuditPlace[];
  /** The same, with a change that the entries tell of: it is on the disk with them, or neither is. */
  appendWith(entries: readonly AuditEntry[], change: () => void): readonly AuditPlace[];
  /** The time of the oldest entry; undefined where there is none. */
  oldestMs(): number | undefined;
  /**
   * Removes a piece of the entries at the beginning that are older than `beforeMs`, never the newest of all, and seals
   * where the chain begins now. With the last piece, an entry says so. Returns whether there are more.
   */
  prune(beforeMs: number, nowMs: number): boolean;
}

/** Entries that go in one transaction. */
const prunedAtOnce = 1_000;

const noHash = "0".repeat(64);
const start: AuditPlace = { seq: 0, hash: noHash };
const headKey = "audit.head";

export function createAuditChain(database: SqlDatabase, db: Kysely<StateTables>, key: Uint8Array): AuditChain {
  const about = { action: "", object: "", outcome: "", ip: null, detail: "", prev: "", hash: "" };
  const row = { seq: 0, at_ms: 0, actor: "", via: "", team: null, ...about };
  const insert = prepareQuery(database, db.insertInto("audit").values(row).compile());
  const last = db.selectFrom("audit").select(["seq", "hash"]).orderBy("seq", "desc").limit(1);
  const selectLast = prepareQuery(database, last.compile());
  const ofOldest = db.selectFrom("audit").select(["seq", "at_ms", "hash"]).orderBy("seq").limit(1);
  const selectOldest = prepareQuery(database, ofOldest.compile());
  const deleteThrough = prepareQuery(database, db.deleteFrom("audit").where("seq", "<=", 0).compile());
  const head = db.insertInto("meta").values({ key: "", value: "" });
  const upsertMeta = prepareQuery(
    database,
    head
      .onConflict((conflict) => conflict.column("key").doUpdateSet((inner) => ({ value: inner.ref("excluded.value") })))
      .compile(),
  );

  function link(given: AuditEntry, before: AuditPlace): AuditPlace {
    const seq = before.seq + 1;
    const prev = before.hash;
    const entry = toStorableEntry(given);
    const hash = sealEntry({ ...entry, seq, prev }, key);
    const { atMs, actor, via, team, action, object, outcome, ip, detail } = entry;
    runWith(insert, [seq, atMs, actor, via, team, action, object, outcome, ip, detail, prev, hash]);
    return { seq, hash };
  }

  function appendAll(entries: readonly AuditEntry[]): readonly AuditPlace[] {
    const before = selectLast.get(1);
    let place = before === undefined ? start : { seq: Number(before["seq"]), hash: String(before["hash"]) };
    const places = entries.map((entry) => (place = link(entry, place)));
    if (places.length > 0) runWith(upsertMeta, [headKey, sealHead(place.seq, place.hash, key)]);
    return places;
  }

  function pruneSome(beforeMs: number, nowMs: number): boolean {
    const oldest = selectOldest.all(prunedAtOnce + 2);
    // The newest of all stays, so that the next one has a place to follow.
    const removable = oldest.slice(0, Math.min(prunedAtOnce, oldest.length - 1));
    const kept = removable.findIndex((found) => Number(found["at_ms"]) >= beforeMs);
    const through = (kept === -1 ? removable : removable.slice(0, kept)).at(-1);
    if (through === undefined) return false;
    const place = { seq: Number(through["seq"]), hash: String(through["hash"]) };
    runWith(deleteThrough, [place.seq]);
    runWith(upsertMeta, [checkpointKey, checkpointToText({ ...place, atMs: nowMs }, key)]);
    const next = oldest[prunedAtOnce];
    // Where `next` is the newest of all it stays, and this was the last piece.
    const isNextRemovable = oldest.length > prunedAtOnce + 1 && Number(next?.["at_ms"]) < beforeMs;
    if (kept === -1 && isNextRemovable) return true;
    appendAll([toPruned(place, nowMs)]);
    return false;
  }

  return {
    append: (entries) => inTransaction(database, () => appendAll(entries)),
    appendWith: (entries, change) =>
      inTransaction(database, () => {
        change();
        return appendAll(entries);
      }),
    oldestMs() {
      const oldest = selectOldest.get(1);
      return oldest === undefined ? undefined : Number(oldest["at_ms"]);
    },
    prune: (beforeMs, nowMs) => inTransaction(database, () => pruneSome(beforeMs, nowMs)),
  };
}

function toPruned({ seq, hash }: AuditPlace, atMs: number): AuditEntry {
  const who = { actor: "gateway", via: "gateway", team: null, ip: null };
  return { atMs, ...who, action: "audit.prune", object: "", outcome: "ok", detail: JSON.stringify({ seq, hash }) };
}

/** What is sealed has to be what is read again. */
function toStorableEntry(entry: AuditEntry): AuditEntry {
  const texts = Object.entries(entry).map(([name, value]) => [
    name,
    typeof value === "string" ? toStorable(value) : (value as unknown),
  ]);
  return Object.fromEntries(texts) as AuditEntry;
}

function sealEntry(row: Omit<AuditRow, "hash">, key: Uint8Array): string {
  const { seq, atMs, actor, via, team, action, object, outcome, ip, detail, prev } = row;
  const text = JSON.stringify([seq, atMs, actor, via, team, action, object, outcome, ip, detail, prev]);
  return createHmac("sha256", key).update(text).digest("hex");
}

function sealHead(seq: number, hash: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(`head ${seq} ${hash}`).digest("hex");
}

export async function readAudits(db: Kysely<StateTables>, query: AuditQuery): Promise<Page<AuditRow>> {
  const { before, after, fromMs, toMs, team, actor, action, outcome, limit } = query;
  let found = db.selectFrom("audit");
  if (before !== undefined) found = found.where("seq", "<", before);
  if (after !== undefined) found = found.where("seq", ">", after);
  let filtered = filterEqual(found, { team, actor, action, outcome });
  if (fromMs !== undefined) filtered = filtered.where("at_ms", ">=", fromMs);
  if (toMs !== undefined) filtered = filtered.where("at_ms", "<", toMs);
  const filters = [fromMs, toMs, team, actor, action, outcome];
  const isFiltered = filters.some((value) => value !== undefined);
  const page = await readPage(query, {
    floor: isFiltered ? floorOf(found, "seq") : undefined,
    rows: async (above) =>
      await filtered
        .selectAll()
        .select("seq as id")
        .where("seq", ">", above)
        .orderBy("seq", "desc")
        .limit(limit)
        .execute(),
  });
  return { next: page.next, rows: page.rows.map(toAuditRow) };
}

/** As much as is read in one turn of the worker: 15 ms, most of it for the seals. */
const verifiedAtOnce = 1_000;

/** @param turn lets the worker do other things, and resolves when it is this one's turn again */
export async function verifyAudit(
  db: Kysely<StateTables>,
  key: Uint8Array,
  turn: () => Promise<void>,
): Promise<AuditVerdict> {
  // Entries that come meanwhile are judged the next time.
  const { seal, end } = await readHead(db);
  const given = await readCheckpoint(db);
  const checkpoint = given === undefined ? null : (checkpointFromText(given, key) ?? null);
  const broken = (brokenAt: number, reason: string): AuditVerdict => {
    const entries = Math.max(0, last.seq - (checkpoint?.seq ?? 0));
    return { kind: "broken", entries, checkpoint, brokenAt, reason };
  };
  let last: AuditPlace = checkpoint ?? start;
  if (given !== undefined && checkpoint === null)
    return broken(1, "what says where it begins was changed, or sealed with another key");
  for (;;) {
    const rows = await db
      .selectFrom("audit")
      .selectAll()
      // The first page finds what should not be there any more.
      .where("seq", ">", last === checkpoint ? 0 : last.seq)
      .where("seq", "<=", end)
      .orderBy("seq")
      .limit(verifiedAtOnce)
      .execute();
    for (const row of rows.map(toAuditRow)) {
      const reason = findFault(row, last, key);
      if (reason !== undefined) return broken(last.seq + 1, reason);
      last = { seq: row.seq, hash: row.hash };
    }
    if (rows.length < verifiedAtOnce) break;
    await turn();
  }
  const isWhole = last.seq === 0 ? seal === undefined : isSame(seal ?? "", sealHead(last.seq, last.hash, key));
  if (isWhole) return { kind: "whole", entries: last.seq - (checkpoint?.seq ?? 0), checkpoint, last: last.hash };
  return broken(last.seq + 1, "entries are missing at the end");
}

async function readHead(db: Kysely<StateTables>): Promise<{ readonly seal: string | undefined; readonly end: number }> {
  // One statement: an entry and its seal are written together.
  const row = await db
    .selectNoFrom((inner) => [
      inner.selectFrom("meta").select("value").where("key", "=", headKey).as("seal"),
      inner
        .selectFrom("audit")
        .select((max) => max.fn.max("seq").as("seq"))
        .as("end"),
    ])
    .executeTakeFirst();
  return { seal: row?.seal ?? undefined, end: row?.end ?? 0 };
}

function findFault(row: AuditRow, last: AuditPlace, key: Uint8Array): string | undefined {
  if (row.seq !== last.seq + 1) return `after entry ${last.seq} comes ${row.seq}`;
  if (row.prev !== last.hash) return `entry ${row.seq} does not follow entry ${last.seq}`;
  if (!isSame(row.hash, sealEntry(row, key))) return `entry ${row.seq} was changed, or sealed with another key`;
  return undefined;
}

function isSame(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function toAuditRow(row: StateTables["audit"]): AuditRow {
  const { at_ms: atMs, outcome, seq, actor, via, team, action, object, ip, detail, prev, hash } = row;
  const told = { atMs, actor, via, team, action, object, outcome: outcome as AuditEntry["outcome"], ip, detail };
  return { ...told, seq, prev, hash };
}

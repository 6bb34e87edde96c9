import { createHmac, timingSafeEqual } from "node:crypto";
import type { Kysely } from "kysely";
import { auditTables, type AuditEntry, type AuditRow } from "../../record-rows.ts";
import type { AuditPlace, AuditQuery, AuditVerdict, Page, AuditCheckpoint } from "../../record-store.ts";
import { filterEqual, floorOf, readPage } from "../paging.ts";
import { toStorable } from "../row-text.ts";
import type { StateTables, Transact } from "../tables.ts";

/**
 * A chain of entries, each sealed together with the one before it. Where the chain ends is sealed as well, in `meta`,
 * so that cutting entries off its end is found like changing one. A forger who has the key, or puts back an older copy
 * of the whole file, is not found out.
 */
export interface AuditChain {
  /** All of them are written to the disk when it resolves, or none. */
  append(entries: readonly AuditEntry[]): Promise<readonly AuditPlace[]>;
  /** The same, with a change that the entries tell of: it is on the disk with them, or neither is. */
  appendWith(
    entries: readonly AuditEntry[],
    change: (db: Kysely<StateTables>) => Promise<unknown>,
  ): Promise<readonly AuditPlace[]>;
  /** The time of the oldest entry; undefined where there is none. */
  oldestMs(): Promise<number | undefined>;
  /**
   * Removes a piece of the entries at the beginning that are older than `beforeMs`, never the newest of all, and seals
   * where the chain begins now. With the last piece, an entry says so. Resolves with whether there are more.
   */
  prune(beforeMs: number, nowMs: number): Promise<boolean>;
}

const { audit } = auditTables;

/** Entries that go in one transaction. */
const prunedAtOnce = 1_000;
/** Entries in one statement: twelve values each, of 32,766 that SQLite takes. */
const insertedAtOnce = 500;

const noHash = "0".repeat(64);
const start: AuditPlace = { seq: 0, hash: noHash };
const headKey = "audit.head";

export function createAuditChain(transact: Transact, key: Uint8Array): AuditChain {
  return {
    append: async (entries) => await transact(async (open) => await appendAll(open, entries, key)),
    appendWith: async (entries, change) =>
      await transact(async (open) => {
        await change(open);
        return await appendAll(open, entries, key);
      }),
    oldestMs: async () =>
      await transact(async (db) => {
        const oldest = db.selectFrom("audit").select("at_ms").orderBy("seq").limit(1);
        return (await oldest.executeTakeFirst())?.at_ms;
      }),
    prune: async (beforeMs, nowMs) => await transact(async (open) => await pruneSome(open, key, beforeMs, nowMs)),
  };
}

async function appendAll(
  db: Kysely<StateTables>,
  entries: readonly AuditEntry[],
  key: Uint8Array,
): Promise<readonly AuditPlace[]> {
  if (entries.length === 0) return [];
  const last = db.selectFrom("audit").select(["seq", "hash"]).orderBy("seq", "desc").limit(1);
  let place: AuditPlace = (await last.executeTakeFirst()) ?? start;
  const rows = entries.map((entry) => {
    const row = toRow(entry, place, key);
    place = { seq: row.seq, hash: row.hash };
    return row;
  });
  for (let from = 0; from < rows.length; from += insertedAtOnce)
    await db
      .insertInto("audit")
      .values(rows.slice(from, from + insertedAtOnce))
      .execute();
  await putMeta(db, headKey, sealHead(place.seq, place.hash, key));
  return rows.map(({ seq, hash }) => ({ seq, hash }));
}

function toRow(given: AuditEntry, before: AuditPlace, key: Uint8Array): StateTables["audit"] {
  const row = { ...toStorableEntry(given), seq: before.seq + 1, prev: before.hash };
  return audit.toKept({ ...row, hash: sealEntry(row, key) });
}

async function putMeta(db: Kysely<StateTables>, key: string, value: string): Promise<void> {
  await db
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet((inner) => ({ value: inner.ref("excluded.value") })))
    .execute();
}

async function pruneSome(db: Kysely<StateTables>, key: Uint8Array, beforeMs: number, nowMs: number): Promise<boolean> {
  const some = db.selectFrom("audit").select(["seq", "at_ms", "hash"]).orderBy("seq");
  const oldest = await some.limit(prunedAtOnce + 2).execute();
  // The newest of all stays, so that the next one has a place to follow.
  const removable = oldest.slice(0, Math.min(prunedAtOnce, oldest.length - 1));
  const kept = removable.findIndex((found) => found.at_ms >= beforeMs);
  const through = (kept === -1 ? removable : removable.slice(0, kept)).at(-1);
  if (through === undefined) return false;
  const place = { seq: through.seq, hash: through.hash };
  await db.deleteFrom("audit").where("seq", "<=", place.seq).execute();
  await putMeta(db, checkpointKey, checkpointToText({ ...place, atMs: nowMs }, key));
  const next = oldest[prunedAtOnce];
  // Where `next` is the newest of all it stays, and this was the last piece.
  const isNextRemovable = oldest.length > prunedAtOnce + 1 && next !== undefined && next.at_ms < beforeMs;
  if (kept === -1 && isNextRemovable) return true;
  await appendAll(db, [toPruned(place, nowMs)], key);
  return false;
}

function toPruned({ seq, hash }: AuditPlace, atMs: number): AuditEntry {
  const who = { actor: "gateway", via: "gateway", team: null, ip: null };
  return { atMs, ...who, action: "audit.prune", object: "", outcome: "ok", detail: JSON.stringify({ seq, hash }) };
}

/** The sealed entry has to equal the one that is read again. */
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
  return { next: page.next, rows: page.rows.map(audit.toRow) };
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
    for (const row of rows.map(audit.toRow)) {
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

// Where the chain begins once old entries were removed: the last of those, sealed with the chain's key, so that no one
// without it can remove entries and say that it was for their age.

const checkpointKey = "audit.checkpoint";

interface SealedCheckpoint extends AuditCheckpoint {
  readonly seal: string;
}

function checkpointToText(checkpoint: AuditCheckpoint, key: Uint8Array): string {
  return JSON.stringify({ ...checkpoint, seal: sealOf(checkpoint, key) } satisfies SealedCheckpoint);
}

/** Undefined for a text that is none, and for one that was changed or sealed with another key. */
function checkpointFromText(text: string, key: Uint8Array): AuditCheckpoint | undefined {
  try {
    const { seq, hash, atMs, seal } = JSON.parse(text) as Partial<SealedCheckpoint>;
    if (typeof seq !== "number" || typeof hash !== "string" || typeof atMs !== "number") return undefined;
    const checkpoint = { seq, hash, atMs };
    return seal === sealOf(checkpoint, key) ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined where nothing was ever removed. */
async function readCheckpoint(db: Kysely<StateTables>): Promise<string | undefined> {
  const row = await db.selectFrom("meta").select("value").where("key", "=", checkpointKey).executeTakeFirst();
  return row?.value;
}

function sealOf({ seq, hash, atMs }: AuditCheckpoint, key: Uint8Array): string {
  return createHmac("sha256", key).update(`checkpoint ${seq} ${hash} ${atMs}`).digest("hex");
}

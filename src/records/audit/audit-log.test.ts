import { expect, test } from "vitest";
import { createManualClock, settle } from "../../../test/harness/manual-clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AuditEntry } from "../../store/record-rows.ts";
import { createAuditLog, type AuditLogLimits } from "./audit-log.ts";

/** A store that writes, fails, or lets wait, as the test says. */
function createShelf() {
  const rows: AuditEntry[] = [];
  const shelf = {
    rows,
    batches: [] as number[],
    failure: undefined as GatewayError | undefined,
    async auditAll(entries: readonly AuditEntry[]) {
      await Promise.resolve();
      if (shelf.failure !== undefined) throw shelf.failure;
      shelf.batches.push(entries.length);
      return entries.map((entry) => ({ seq: rows.push(entry), hash: "" }));
    },
  };
  return shelf;
}

function createObserved(limits: Partial<AuditLogLimits> = {}) {
  const clock = createManualClock();
  const log = createAuditLog({ clock, redact: (text) => text.replaceAll("hush", "***"), limits });
  return { clock, log, shelf: createShelf() };
}
const facts = (object: string) => ({ actor: "ann", via: "rest", action: "server.stop", object });
const full = () => new GatewayError("STORE_FULL", "no room");

test("what was told before there was a store is written first, in order and together", async () => {
  const { log, shelf, clock } = createObserved();
  log.note(facts("a"));
  const second = log.write(facts("b"));
  log.open(shelf);
  log.note(facts("c"));
  expect(await second).toBe(2);
  await settle();
  expect(shelf.rows.map(({ object }) => object)).toEqual(["a", "b", "c"]);
  expect(shelf.rows[0]).toEqual({
    ...facts("a"),
    atMs: clock.now(),
    team: null,
    outcome: "ok",
    ip: null,
    detail: "{}",
  });
});

test("many that wait share transactions, which are not too long", async () => {
  const { log, shelf } = createObserved({ atOnce: 10 });
  for (let at = 0; at < 25; at += 1) log.note(facts(String(at)));
  log.open(shelf);
  await settle();
  expect(shelf.batches).toEqual([10, 10, 5]);
});

test("a store that is full refuses who waits, and keeps what nobody waits for until there is room", async () => {
  const { log, shelf, clock } = createObserved();
  log.open(shelf);
  shelf.failure = full();
  log.note(facts("kept"));
  await expect(log.write(facts("refused"))).rejects.toMatchObject({ code: "STORE_FULL" });
  await clock.advance(5_000);
  expect(shelf.rows).toEqual([]);
  shelf.failure = undefined;
  await clock.advance(1_000);
  expect(shelf.rows.map(({ object }) => object)).toEqual(["kept"]);
  expect(log.lost).toBe(0);
});

test("somebody who waits is not kept from a store that works again by the pause between two tries", async () => {
  const { log, shelf } = createObserved();
  log.open(shelf);
  shelf.failure = full();
  log.note(facts("kept"));
  await settle();
  shelf.failure = undefined;
  expect(await log.write(facts("now"))).toBe(2);
});

test("what does not fit is counted, and an entry tells how many it was", async () => {
  const { log, shelf } = createObserved({ waiting: 3 });
  for (let at = 0; at < 5; at += 1) log.note(facts(String(at)));
  await expect(log.write(facts("x"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(log.lost).toBe(2);
  log.open(shelf);
  await settle();
  expect(shelf.rows.map(({ object, action }) => object || action)).toEqual(["0", "1", "2", "audit.lost"]);
  expect(JSON.parse(shelf.rows[3]?.detail ?? "")).toEqual({ entries: 2 });
});

test("an entry that the database itself refuses is not tried for ever", async () => {
  const { log, shelf } = createObserved();
  log.open(shelf);
  shelf.failure = new GatewayError("INTERNAL", "no such column");
  log.note(facts("bad"));
  await settle();
  shelf.failure = undefined;
  log.note(facts("good"));
  await settle();
  expect(shelf.rows.map(({ action }) => action)).toEqual(["server.stop", "audit.lost"]);
});

test("nobody waits longer than a while for a store that is not there, nor for one that never will be", async () => {
  const { log, clock } = createObserved({ openMs: 500 });
  const outcomeOf = async (writing: Promise<number>): Promise<unknown> =>
    await writing.catch((error: unknown) => error);
  const early = outcomeOf(log.write(facts("early")));
  await clock.advance(500);
  expect(await early).toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("being opened") });
  const waiting = outcomeOf(log.write(facts("b")));
  log.fail(new GatewayError("STORE_UNAVAILABLE", "no SQLite"));
  expect(await waiting).toMatchObject({ message: "no SQLite" });
  await expect(log.write(facts("c"))).rejects.toMatchObject({ message: "no SQLite" });
});

test("what waits is written before the end, and what comes later is refused", async () => {
  const { log, shelf } = createObserved();
  log.open(shelf);
  log.note(facts("last"));
  await log.close(1_000);
  expect(shelf.rows).toHaveLength(1);
  await expect(log.write(facts("late"))).rejects.toMatchObject({ code: "DRAINING" });
  log.note(facts("late"));
  expect(log.lost).toBe(1);
});

test("neither secrets nor endless texts come into an entry", async () => {
  const { log, shelf } = createObserved();
  log.open(shelf);
  log.note({ ...facts("file:///hush"), detail: { reason: `hush ${"x".repeat(9_000)}`, list: ["hush"] } });
  await settle();
  const [row] = shelf.rows;
  expect(JSON.stringify(row)).not.toContain("hush");
  expect(row?.detail.length).toBeLessThan(2_100);
});

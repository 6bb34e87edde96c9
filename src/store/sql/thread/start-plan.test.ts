import { expect, test } from "vitest";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { StoreHealth, StoreProblem } from "../../record-store.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { createRestartDelay, createStartPlan } from "./start-plan.ts";
import { createHealthBoard } from "../client/sql-store.ts";

/** A clock that is moved by hand; what is due runs in order. */
function createHandClock(): Clock & { advance(ms: number): void; readonly timers: number } {
  let nowMs = 0;
  const due = new Map<() => void, number>();
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    after(delayMs, run) {
      const own = () => run();
      due.set(own, nowMs + delayMs);
      return () => void due.delete(own);
    },
    advance(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        const next = [...due].filter(([, at]) => at <= endMs).toSorted(([, a], [, b]) => a - b)[0];
        if (next === undefined) break;
        due.delete(next[0]);
        nowMs = Math.max(nowMs, next[1]);
        next[0]();
      }
      nowMs = endMs;
    },
    get timers() {
      return due.size;
    },
  };
}

test("each wait before a restart is twice the last, up to a minute, and short again after a long life", () => {
  const delay = createRestartDelay();
  delay.started(0);
  expect(Array.from({ length: 8 }, () => delay.next(10) / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  delay.started(100_000);
  expect(delay.next(160_000)).toBe(60_000);
  expect(delay.next(160_001)).toBe(1_000);
});

test("a worker that is gone is started again once, later after each loss, and says when", () => {
  const clock = createHandClock();
  let starts = 0;
  const plan = createStartPlan(clock, () => {
    starts += 1;
    plan.started();
  });
  expect(plan.startAgain("it crashed")).toMatchObject({ kind: "worker", database: null });
  expect(plan.problem?.hint).toContain("in 1 s");
  expect(plan.startAgain("told twice")).toBe(plan.problem);
  clock.advance(999);
  expect(starts).toBe(0);
  clock.advance(1);
  expect([starts, plan.problem, clock.timers]).toEqual([1, undefined, 0]);
  expect(plan.startAgain("again").hint).toContain("in 2 s");
  plan.cancel();
  clock.advance(100_000);
  expect(starts).toBe(1);
});

test("where there is no driver, the worker is not started again", () => {
  const clock = createHandClock();
  const plan = createStartPlan(clock, () => expect.unreachable());
  plan.giveUp("no SQLite");
  expect(plan.startAgain("it ended")).toMatchObject({ kind: "driver", message: "no SQLite" });
  expect(clock.timers).toBe(0);
});

test("where there is no room for the driver, it is tried again every few seconds", () => {
  const clock = createHandClock();
  let starts = 0;
  const plan = createStartPlan(clock, () => {
    starts += 1;
    plan.started();
  });
  for (let round = 1; round <= 20; round += 1) {
    plan.awaitRoom("no room");
    expect(plan.startAgain("it ended")).toMatchObject({ kind: "full", message: "no room", database: null });
    clock.advance(5_000);
    expect(starts).toBe(round);
  }
});

test("an early start takes the place of the planned one", () => {
  const clock = createHandClock();
  const plan = createStartPlan(clock, () => expect.unreachable());
  plan.startIn(5_000);
  plan.started();
  clock.advance(10_000);
  expect(clock.timers).toBe(0);
});

const problem = (database: StoreProblem["database"], kind: StoreProblem["kind"]): StoreProblem => ({
  database,
  kind,
  message: "m",
  hint: "h",
});

test("a store is degraded while anything is wrong with it, and its listeners are told", () => {
  const board = createHealthBoard();
  const told: StoreHealth["status"][] = [];
  const unlisten = board.listen(({ status }) => told.push(status));
  board.set([problem("state", "damaged")]);
  expect(board.health.status).toBe("opening");
  board.open();
  expect([board.health.status, board.hasNoRecords()]).toEqual(["degraded", false]);
  board.set([problem("records", "full")]);
  expect(board.hasNoRecords()).toBe(true);
  board.set([]);
  expect([board.health.status, board.hasNoRecords()]).toEqual(["ready", false]);
  unlisten();
  board.set([problem("records", "full")]);
  expect(told).toEqual(["opening", "degraded", "degraded", "ready"]);
});

test("a lost worker's problem is over when it is back; that of a driver leaves no records", () => {
  const board = createHealthBoard();
  board.lose(problem(null, "worker"));
  expect([board.health.status, board.hasNoRecords()]).toEqual(["degraded", false]);
  board.open();
  expect(board.health).toEqual({ status: "ready", problems: [] });
  board.lose(problem(null, "full"));
  expect(board.hasNoRecords()).toBe(true);
  board.open();
  expect(board.health).toEqual({ status: "ready", problems: [] });
  board.lose(problem(null, "driver"));
  expect(board.hasNoRecords()).toBe(true);
});

test("a closed store stays closed, whatever is told of it later", () => {
  const board = createHealthBoard();
  board.close();
  board.set([problem("records", "full")]);
  board.lose(problem(null, "worker"));
  board.open();
  expect(board.health).toEqual({ status: "closed", problems: [] });
});

test("use puts idleness off, with one timer however often it is used", () => {
  const clock = createHandClock();
  let idle = 0;
  const watch = createIdleWatch({ clock, idleMs: 100, againMs: 100, onIdle: () => ++idle > 0 });
  for (let use = 0; use < 20; use += 1) {
    watch.touch();
    expect(clock.timers).toBe(1);
    clock.advance(60);
  }
  expect(idle).toBe(0);
  clock.advance(40);
  expect([idle, clock.timers]).toEqual([1, 0]);
});

test("what cannot be spared yet is asked again, and nothing is asked after a stop", () => {
  const clock = createHandClock();
  let asked = 0;
  const watch = createIdleWatch({ clock, idleMs: 100, againMs: 100, onIdle: () => ++asked === 3 });
  watch.touch();
  clock.advance(1_000);
  expect(asked).toBe(3);
  watch.touch();
  watch.stop();
  clock.advance(1_000);
  expect(asked).toBe(3);
});

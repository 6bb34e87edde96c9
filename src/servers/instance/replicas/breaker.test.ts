import { expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../../../test/harness/manual-clock.ts";
import { createBreaker, type Breaker, type BreakerState, type CallEnd } from "./breaker.ts";

const policy = { breakerPercent: 50, breakerCalls: 10, breakerWindowMs: 60_000, breakerWaitMs: 1_000 };

interface World {
  readonly clock: ManualClock;
  readonly breaker: Breaker;
  readonly states: BreakerState[];
  alive: boolean;
  asked: number;
  call(name: string, end: CallEnd | undefined, times?: number): void;
}

function createWorld(isOn = true): World {
  const clock = createManualClock();
  const states: BreakerState[] = [];
  const breaker = createBreaker({
    clock,
    policy: () => policy,
    isOn: () => isOn,
    onChange: (state) => void states.push(state),
    async isAlive() {
      world.asked += 1;
      return await Promise.resolve(world.alive);
    },
  });
  const world: World = {
    ...{ clock, breaker, states },
    alive: true,
    asked: 0,
    call(name, end, times = 1) {
      for (let at = 0; at < times; at += 1) breaker.noteEnd(breaker.noteSent(), name, end);
    },
  };
  return world;
}

test("it opens at its share of failures, not before there are enough calls, and not for what says nothing", async () => {
  const { breaker, call, clock } = createWorld();
  call("a", undefined, 100);
  call("a", "broken", 9);
  await clock.advance(0);
  expect(breaker.state).toBe("closed");
  call("a", "broken");
  await clock.advance(0);
  expect(breaker.state).toBe("open");
  expect(breaker.admits()).toBe(false);
  expect(breaker.nextTryMs).toBe(1_000);
});

test("failures of one in three calls do not open it, nor do old ones", async () => {
  const { breaker, call, clock } = createWorld();
  for (let at = 0; at < 50; at += 1) {
    call("a", "ok", 2);
    call("a", "broken");
  }
  const other = createWorld();
  other.call("a", "broken", 9);
  await other.clock.advance(61_000);
  other.call("a", "broken", 9);
  await Promise.all([clock.advance(0), other.clock.advance(0)]);
  expect([breaker.state, other.breaker.state]).toEqual(["closed", "closed"]);
});

test("a tool that always fails, between others that work, does not open it; a server that fails at all does", async () => {
  const one = createWorld();
  const all = createWorld();
  for (let at = 0; at < 30; at += 1) {
    one.call("broken", "broken", 3);
    one.call("works", "ok");
    for (const [index, name] of ["a", "b", "c", "d", "e"].entries())
      all.call(name, (at + index) % 5 < 3 ? "broken" : "ok");
  }
  await Promise.all([one.clock.advance(0), all.clock.advance(0)]);
  expect([one.breaker.state, all.breaker.state]).toEqual(["closed", "open"]);
});

test("timeouts of one tool open it only where the server gives no sign of life; those of several do at once", async () => {
  const slow = createWorld();
  const dead = createWorld();
  dead.alive = false;
  const several = createWorld();
  slow.call("a", "silent", 10);
  dead.call("a", "silent", 10);
  several.call("a", "silent", 5);
  several.call("b", "silent", 5);
  for (const { clock } of [slow, dead, several]) await clock.advance(0);
  expect([slow, dead, several].map(({ breaker }) => breaker.state)).toEqual(["closed", "open", "open"]);
  expect([slow, dead, several].map(({ asked }) => asked)).toEqual([1, 1, 0]);
});

test("it asks after a wait that doubles, lets single calls through, and closes after two that succeed", async () => {
  const world = createWorld();
  const { breaker, call, clock, states } = world;
  world.alive = false;
  call("a", "broken", 10);
  for (const waitMs of [1_000, 2_000, 4_000, 8_000]) {
    expect(breaker.nextTryMs ?? 0).toBe(waitMs);
    await clock.advance(waitMs);
  }
  expect(breaker.state).toBe("open");
  world.alive = true;
  await clock.advance(breaker.nextTryMs ?? 0);
  expect(breaker.state).toBe("half-open");
  const sent = breaker.noteSent();
  expect(breaker.admits()).toBe(false);
  breaker.noteEnd(sent, "a", "ok");
  expect(breaker.admits()).toBe(true);
  call("a", "ok");
  expect(breaker.state).toBe("closed");
  expect(states.at(-1)).toBe("closed");
  expect(breaker.failureRate).toBe(0);
});

test("a try that fails opens it again, a call from before says nothing, and a cancelled one is tried again", async () => {
  const { breaker, call, clock } = createWorld();
  const before = breaker.noteSent();
  call("a", "broken", 10);
  await clock.advance(1_000);
  breaker.noteEnd(before, "a", "broken");
  expect(breaker.state).toBe("half-open");
  call("a", undefined);
  expect(breaker.admits()).toBe(true);
  call("a", "broken");
  expect(breaker.state).toBe("open");
  expect(breaker.nextTryMs).toBe(2_000);
});

test("that was started again it knows nothing of before; switched off it never opens", async () => {
  const { breaker, call, clock } = createWorld();
  call("a", "broken", 10);
  await clock.advance(0);
  breaker.reset();
  expect([breaker.state, breaker.failureRate]).toEqual(["closed", 0]);
  await clock.advance(600_000);
  expect(breaker.state).toBe("closed");
  const off = createWorld(false);
  off.call("a", "broken", 50);
  await off.clock.advance(0);
  expect([off.breaker.state, off.breaker.failureRate]).toEqual(["closed", 1]);
});

test("ten thousand names of tools cost no more than a hundred", async () => {
  const { breaker, call, clock } = createWorld();
  for (let at = 0; at < 10_000; at += 1) call(`tool-${at}`, at % 2 === 0 ? "broken" : "ok");
  await clock.advance(0);
  expect(breaker.state).toBe("open");
});

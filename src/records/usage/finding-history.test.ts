import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/harness/manual-clock.ts";
import { createTestStore, whenOpened } from "../../../test/harness/records.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { createFindingHistory, findingWriteMs, type FindingHistory } from "./finding-history.ts";
import type { FindingSpent } from "./finding-spent.ts";
import type { FindingSession } from "./finding.ts";

const dayMs = 86_400_000;
let folder: string;
let clock: ManualClock;
const stores: RecordStore[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-finding-"));
  clock = createManualClock();
  // As today, because what is written is deleted by the real clock.
  await clock.advance(Math.floor(Date.now() / dayMs) * dayMs + 1_000);
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface Life extends AsyncDisposable {
  readonly history: FindingHistory;
  readonly store: RecordStore;
  session(given?: Partial<FindingSession>): Mutable<FindingSession>;
  spend(principal: string): Mutable<FindingSpent>;
}

/** One life of a gateway, as far as finding tools goes. */
async function live(): Promise<Life> {
  const store = await whenOpened(createTestStore(folder, { clock }));
  stores.push(store);
  const sessions: FindingSession[] = [];
  const spent: FindingSpent[] = [];
  const sinceMs = clock.now();
  const finding = { sessions: () => sessions, today: () => ({ sinceMs, spent }) };
  const history = createFindingHistory({ finding, clock, store: () => store });
  return {
    history,
    store,
    session(given = {}) {
      const saved = { tokens: 100, isExact: true };
      const what = { client: "c", exposure: "meta", startedMs: clock.now(), isLazy: false, saved, spent: 0 };
      const made = { principal: "ada", ...what, ...given };
      sessions.push(made);
      return made;
    },
    spend(principal) {
      const made = { principal, answers: 1, answerTokens: 10, wrappedCalls: 0, wrappingTokens: 0 };
      spent.push(made);
      return made;
    },
    async [Symbol.asyncDispose]() {
      history[Symbol.dispose]();
      await store.close(10_000);
    },
  };
}

const ask = { exposure: "meta", principal: undefined };

test("sessions and what was spent today outlive the gateway, with their last figures and only once", async () => {
  const first = await live();
  const firstMs = clock.now();
  const session = first.session();
  const unknown = first.session({ saved: undefined, client: null, isLazy: true });
  const spent = first.spend("ada");
  await clock.advance(findingWriteMs);
  session.spent = 30;
  spent.answers = 4;
  spent.answerTokens = 40;
  await first[Symbol.asyncDispose]();
  await clock.advance(1_000);
  await using second = await live();
  second.session({ startedMs: clock.now(), spent: 7 });
  second.spend("ada");
  await clock.advance(findingWriteMs);
  await second.store.flush();
  const { sessions, spent: days, sinceMs } = await second.history.read(ask);
  expect(
    sessions.map(({ client, startedMs, isLazy, saved, spent: tokens }) => [client, startedMs, isLazy, saved, tokens]),
  ).toEqual([
    [unknown.client, firstMs, true, undefined, 0],
    ["c", firstMs, false, { tokens: 100, isExact: true }, 30],
    ["c", expect.any(Number), false, { tokens: 100, isExact: true }, 7],
  ]);
  expect(days.map(({ answers, answerTokens }) => [answers, answerTokens])).toEqual([
    [4, 40],
    [1, 10],
  ]);
  expect(sinceMs).toBe(firstMs);
});

test("others see their own, of the exposure that they ask for", async () => {
  await using first = await live();
  first.session({ principal: "bob" });
  first.session({ exposure: "other" });
  first.spend("bob");
  await first[Symbol.asyncDispose]();
  await using second = await live();
  const read = async (principal?: string, exposure = "meta") => {
    const { sessions, spent } = await second.history.read({ principal, exposure });
    return [sessions.length, spent.length];
  };
  expect(await read()).toEqual([1, 1]);
  expect(await read("bob")).toEqual([1, 1]);
  expect(await read("ada")).toEqual([0, 0]);
  expect(await read("ada", "other")).toEqual([1, 0]);
});

test("sessions are told of for thirty days, and what was spent for one", async () => {
  const first = await live();
  first.session();
  first.session({ startedMs: clock.now() + dayMs });
  first.spend("ada");
  await first[Symbol.asyncDispose]();
  await clock.advance(30 * dayMs + 1);
  await using second = await live();
  const { sessions, spent, sinceMs } = await second.history.read(ask);
  expect([sessions.length, spent.length, sinceMs]).toEqual([1, 0, clock.now()]);
});

test("without a store, and with one that cannot be read, what this gateway measured is told", async () => {
  await using only = await live();
  only.session();
  only.spend("ada");
  await only.store.close(10_000);
  expect(await only.history.read(ask)).toMatchObject({ sessions: [{ client: "c" }], spent: [{ answers: 1 }] });
});

test("what has not changed is not written again", async () => {
  await using one = await live();
  const session = one.session();
  one.spend("ada");
  const written = async (): Promise<number> => {
    await clock.advance(findingWriteMs);
    await one.store.flush();
    return one.store.figures().writtenRows;
  };
  expect([await written(), await written()]).toEqual([2, 2]);
  session.spent += 1;
  expect([await written(), await written()]).toEqual([3, 3]);
});

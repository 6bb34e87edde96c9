import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { BrowserSessionRecord } from "../../store/store.ts";
import { createBrowserSessions } from "./browser-sessions.ts";

function open() {
  let kept: readonly BrowserSessionRecord[] = [];
  const clock = createManualClock();
  const store = {
    read: () => kept,
    write: async (records: readonly BrowserSessionRecord[]) => void (kept = await Promise.resolve(records)),
  };
  const sessions = createBrowserSessions({ store, clock });
  const start = async (tokenHash: string | null, person = tokenHash) =>
    await sessions.start({ tokenHash, person }, "Browser");
  const isIn = ({ cookie, key }: Awaited<ReturnType<typeof start>>): boolean =>
    sessions.find(cookie, key) !== undefined;
  return { start, isIn, sessions, clock, kept: () => kept };
}

test("of more than ten browsers with one token the oldest is logged out, and nobody else's", async () => {
  const { start, isIn, sessions, kept } = open();
  const [owner, other, first, second] = [await start(null), await start("b"), await start("a"), await start("a")];
  for (let index = 2; index < 11; index += 1) await start("a");
  expect([owner, other, first, second].map(isIn)).toEqual([true, true, false, true]);
  expect([sessions.list().length, kept().length]).toEqual([12, 12]);
});

test("where all tokens have as many as possible, another browser is refused, and none is logged out for it", async () => {
  const { start, isIn, sessions, clock } = open();
  const logins = [];
  for (let index = 0; index < 100; index += 1) logins.push(await start(`token ${index % 10}`));
  await expect(start("one more")).rejects.toMatchObject({ code: "BROWSER_LIMIT" });
  expect(logins.every(isIn)).toBe(true);
  // The owner gets in, as does somebody who takes the place of an own one.
  expect([isIn(await start(null)), isIn(await start("token 0")), isIn(logins[0]!)]).toEqual([true, true, false]);
  await sessions.end(logins[1]!.session.id);
  expect(isIn(await start("one more"))).toBe(true);
  await expect(start("and another")).rejects.toMatchObject({ code: "BROWSER_LIMIT" });
  await clock.advance(12 * 3_600_000);
  expect(isIn(await start("and another"))).toBe(true);
});

test("FAULT K: whoever has ten tokens takes no more places than with one, and other people still get in", async () => {
  const { start, isIn, sessions } = open();
  const first = await start("token 0", "bob");
  for (let index = 1; index < 100; index += 1) await start(`token ${index % 10}`, "bob");
  expect([sessions.list().length, isIn(first)]).toEqual([10, false]);
  const others = [];
  for (let index = 0; index < 90; index += 1) others.push(await start(`of ${index}`, `person ${index}`));
  await expect(start("one more", "cid")).rejects.toMatchObject({ code: "BROWSER_LIMIT" });
  // Who has places already takes one of these, with a token that is new, too.
  expect([isIn(await start("token 11", "bob")), others.every(isIn), sessions.list().length]).toEqual([true, true, 100]);
});

test("sessions that an earlier version kept without a person count by their token, and end as the others do", async () => {
  const { start, isIn, sessions, kept } = open();
  const old = await start("token 0", null);
  const own = await start("token 0", "bob");
  expect(kept().map(({ person }) => person)).toEqual([null, "bob"]);
  expect([isIn(old), isIn(own), sessions.list().length]).toEqual([true, true, 2]);
  for (let index = 0; index < 10; index += 1) await start("token 1", "bob");
  expect([isIn(old), isIn(own)]).toEqual([true, false]);
});

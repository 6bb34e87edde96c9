import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { createAdmission } from "./admission.ts";

const person = (id: string): Principal => ({
  id: id as PrincipalId,
  team: null,
  roles: [],
  scopes: [],
  user: null,
  via: "config",
});
const [alice, bob] = [person("alice"), person("bob")];
const limited = (retryAfterS: number) =>
  expect.objectContaining({ code: "RATE_LIMITED", data: { retry_after_s: retryAfterS } }) as Error;

test("so many at once, and room again when one ends; nobody else notices", () => {
  const admission = createAdmission(
    () => ({ concurrentCalls: 2, callsPerSecond: 1_000, openStreams: 1 }),
    createManualClock(),
  );
  const leave = admission.admit(alice);
  admission.admit(alice);
  expect(() => admission.admit(alice)).toThrow(limited(1));
  admission.admit(bob);
  leave();
  admission.admit(alice);
});

test("so many a second: a burst of one second's worth, then as fast as time goes", async () => {
  const clock = createManualClock();
  const admission = createAdmission(() => ({ concurrentCalls: 1_000, callsPerSecond: 10, openStreams: 1 }), clock);
  const count = (): number => {
    for (let calls = 0; ; calls += 1) {
      try {
        admission.admit(alice)();
      } catch {
        return calls;
      }
    }
  };
  expect(count()).toBe(10);
  expect(() => admission.admit(alice)).toThrow(limited(1));
  await clock.advance(300);
  expect(count()).toBe(3);
  await clock.advance(3_600_000);
  expect(count()).toBe(10);
});

test("a large answer counts as several calls, and is paid for before the next", async () => {
  const clock = createManualClock();
  const admission = createAdmission(() => ({ concurrentCalls: 10, callsPerSecond: 10, openStreams: 1 }), clock);
  admission.admit(alice)(60_000);
  admission.admit(alice)(65_536 * 20);
  expect(() => admission.admit(alice)).toThrow(limited(2));
  admission.admit(bob);
  await clock.advance(1_200);
  expect(() => admission.admit(alice)).toThrow(limited(1));
  await clock.advance(200);
  admission.admit(alice);
});

test("a call allocates nothing: what ends it is the same function every time", () => {
  const admission = createAdmission(
    () => ({ concurrentCalls: 10, callsPerSecond: 10, openStreams: 1 }),
    createManualClock(),
  );
  expect(admission.admit(alice)).toBe(admission.admit(alice));
});

test("streams are counted apart, and limits may change", () => {
  let openStreams = 1;
  const admission = createAdmission(
    () => ({ concurrentCalls: 1, callsPerSecond: 10, openStreams }),
    createManualClock(),
  );
  const close = admission.openStream(alice);
  admission.admit(alice);
  expect(() => admission.openStream(alice)).toThrow(limited(30));
  openStreams = 2;
  admission.openStream(alice);
  expect(() => admission.openStream(alice)).toThrow(limited(30));
  close();
  admission.openStream(alice);
});

test("a user in two teams is one person: both together get no more than one alone", () => {
  const limits = { concurrentCalls: 2, callsPerSecond: 1_000, openStreams: 1 };
  const admission = createAdmission(() => limits, createManualClock());
  const [red, blue] = [
    { ...person("m_1"), user: "u_1", team: "red" },
    { ...person("m_2"), user: "u_1", team: "blue" },
  ];
  const leave = admission.admit(red);
  admission.admit(blue);
  expect(() => admission.admit(red)).toThrow(limited(1));
  expect(() => admission.admit(blue)).toThrow(limited(1));
  admission.admit({ ...person("m_3"), user: "u_2", team: "red" });
  leave();
  admission.admit(blue);
  admission.openStream(red);
  expect(() => admission.openStream(blue)).toThrow(limited(30));
});

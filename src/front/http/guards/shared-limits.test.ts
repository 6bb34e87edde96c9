import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { createAdmission, type Admission } from "./admission.ts";
import { createSharedLimits, type SharedLimits } from "./shared-limits.ts";

const person = (id: string): Principal => ({
  ...{ id: id as PrincipalId, team: null, roles: [], scopes: [], user: null, via: "config" },
});
const [alice, bob] = [person("alice"), person("bob")];
const all = { concurrentCalls: 20, callsPerSecond: 100, openStreams: 8 };

/** Gateways that tell each other, with one clock. */
function start(count: number) {
  const clock = createManualClock();
  const told: number[] = [];
  const silent = new Set<number>();
  const gateways: { readonly admission: Admission; readonly shared: SharedLimits }[] = [];
  for (let at = 0; at < count; at += 1) {
    const admission = createAdmission(() => all, clock);
    const shared = createSharedLimits({
      ...{ admission, clock, limits: () => all, gateways: () => count },
      tell(uses) {
        told.push(at);
        if (silent.has(at)) return;
        for (const [other, { shared: theirs }] of gateways.entries()) if (other !== at) theirs.note(String(at), uses);
      },
    });
    gateways.push({ admission, shared });
  }
  return { clock, told, silent, at: (index: number) => gateways[index]?.admission as Admission };
}

function admitted(admission: Admission, most: number, who = alice): (() => void)[] {
  const left: (() => void)[] = [];
  try {
    while (left.length < most) left.push(admission.admit(who));
  } catch (error) {
    expect(error).toMatchObject({ code: "RATE_LIMITED" });
  }
  return left;
}

test("what runs at one gateway counts at the others, for that person, until it ends", async () => {
  const { clock, at } = start(3);
  const running = admitted(at(0), 15);
  await clock.advance(250);
  expect(admitted(at(1), 100)).toHaveLength(5);
  expect(admitted(at(2), 1, bob)).toHaveLength(1);
  for (const leave of running) leave();
  await clock.advance(250);
  expect(admitted(at(1), 100)).toHaveLength(15);
});

test("calls a second are those of all gateways", async () => {
  const { clock, at } = start(2);
  let calls = 0;
  for (let second = 0; second < 10 * 20; second += 1) {
    await clock.advance(50);
    for (const gateway of [0, 1])
      for (const leave of admitted(at(gateway), 20)) {
        calls += 1;
        leave();
      }
  }
  // Each began with a second's worth.
  expect(calls).toBeGreaterThan(900);
  expect(calls).toBeLessThan(1_350);
});

test("streams count as well, and what a gateway that fell silent told is forgotten", async () => {
  const { clock, at, silent } = start(2);
  for (let open = 0; open < 8; open += 1) at(0).openStream(alice);
  await clock.advance(250);
  expect(() => at(1).openStream(alice)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  at(1).openStream(bob);
  silent.add(0);
  await clock.advance(2_500);
  at(1).openStream(alice);
});

test("nothing is told of those who use little, or where a gateway is alone", async () => {
  const several = start(2);
  admitted(several.at(0), 5);
  await several.clock.advance(1_000);
  expect(several.told).toEqual([]);
  const alone = start(1);
  admitted(alone.at(0), 20);
  await alone.clock.advance(1_000);
  expect(alone.told).toEqual([]);
});

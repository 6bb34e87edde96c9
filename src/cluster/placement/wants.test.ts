import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { KnownNode } from "../leases/node-membership.ts";
import { createWants } from "./wants.ts";

const two = { id: "two", state: "ready", leasedUntilMs: 9e9 } as unknown as KnownNode;

/** The instances that are given, and to whom, when a node asks for so long, and is reached or not. */
async function given(facts: {
  readonly forMs: number;
  readonly isReached: boolean;
  readonly isGranted?: boolean;
  readonly isFit?: boolean;
  readonly node?: Partial<KnownNode>;
}): Promise<readonly string[]> {
  const done: string[] = [];
  const consider = createWants({
    store: { grant: async () => facts.isGranted ?? true },
    membership: { nodes: () => [{ ...two, ...facts.node }] },
    placed: {
      mayGoTo: () => facts.isFit ?? true,
      giveTo: async (instance, node) => void done.push(`${instance} to ${node}`),
    },
    reach: async () => ({
      ask: async () => {
        if (!facts.isReached) throw new Error("silent");
        return { k: "told", id: 1 };
      },
    }),
    clock: createManualClock(),
    leaseMs: 5_000,
    drainMs: () => 1_000,
  });
  const want = { instance: "notes", node: "two", forMs: facts.forMs };
  consider([want, want]);
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  return done;
}

test("a node that cannot be reached either gets what it wants, once", async () => {
  expect(await given({ forMs: 0, isReached: false })).toEqual(["notes to two"]);
});

test("one that is reached gets it when it could not reach this one for a lease", async () => {
  expect(await given({ forMs: 4_999, isReached: true })).toEqual([]);
  expect(await given({ forMs: 5_000, isReached: true })).toEqual(["notes to two"]);
});

test("none gets what was handed over a moment ago, what it may not run, or anything without a lease", async () => {
  expect(await given({ forMs: 0, isReached: false, isGranted: false })).toEqual([]);
  expect(await given({ forMs: 0, isReached: false, isFit: false })).toEqual([]);
  expect(await given({ forMs: 0, isReached: false, node: { state: "draining" } })).toEqual([]);
  expect(await given({ forMs: 0, isReached: false, node: { leasedUntilMs: -1 } })).toEqual([]);
});

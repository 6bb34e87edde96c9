import { expect, test } from "vitest";
import { chooseReplica } from "./choice.ts";
import type { Replica } from "./replica.ts";

type Facts = { readonly running?: number; readonly failureRate?: number; readonly state?: "open" | "half-open" };

function replica({ running = 0, failureRate = 0, state }: Facts = {}): Replica {
  const breaker = { state: state ?? "closed", failureRate, admits: () => state !== "open" };
  return { calls: { running, breaker } } as unknown as Replica;
}

const none: ReadonlySet<Replica> = new Set();

function shares(replicas: readonly Replica[], times: number): readonly number[] {
  const counts = replicas.map(() => 0);
  for (let at = 0; at < times; at += 1) {
    const index = replicas.indexOf(chooseReplica(replicas, none) as Replica);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

test("equals get equal shares", () => {
  for (const count of shares([replica(), replica(), replica(), replica()], 4_000)) {
    expect(count).toBeGreaterThan(800);
    expect(count).toBeLessThan(1_200);
  }
});

test("one with more calls in flight than all others, or that fails, is never the better of two", () => {
  expect(shares([replica({ running: 5 }), replica(), replica()], 500)[0]).toBe(0);
  expect(shares([replica({ failureRate: 0.5 }), replica(), replica()], 500)[0]).toBe(0);
});

test("one with an open breaker, or that was tried, is left out; one that is tried again gets the next call", () => {
  const [open, up, trial] = [replica({ state: "open" }), replica(), replica({ state: "half-open", failureRate: 1 })];
  expect(chooseReplica([open, up], none)).toBe(up);
  expect(chooseReplica([open, up], new Set([up]))).toBeUndefined();
  expect(chooseReplica([up, trial], none)).toBe(trial);
});

import { readFileSync } from "node:fs";
import type { Call } from "./load.ts";
import type { Line, NodeName, World } from "./world.ts";

/** Something that must never happen, and what shows it. */
export interface Violation {
  readonly rule: keyof typeof invariants;
  readonly what: string;
}

export const invariants = {
  I1: "no acknowledged call is without its effect",
  I2: "no call has its effect twice",
  I3: "no process has an effect after a newer one of its instance began",
  I5: "no process of a node runs one second after the node was fenced",
} as const;

/** By what servers wrote, in the order in which they did, and what callers were told. */
export function judge(calls: readonly Call[], lines: readonly Line[]): readonly Violation[] {
  const violations: Violation[] = [];
  const times = new Map<string, number>();
  const newest = new Map<string, number>();
  for (const { instance, pid, began, id, at } of lines) {
    if (began !== undefined) {
      newest.set(instance, pid);
      continue;
    }
    const effect = `${instance}: ${id} by process ${pid} at ${new Date(at).toISOString()}`;
    if (newest.get(instance) !== pid) violations.push({ rule: "I3", what: `${effect}, after ${newest.get(instance)}` });
    const before = times.get(id ?? "") ?? 0;
    if (before > 0) violations.push({ rule: "I2", what: effect });
    times.set(id ?? "", before + 1);
  }
  for (const { id, instance, outcome, node } of calls)
    if (outcome === "acked" && !times.has(id))
      violations.push({ rule: "I1", what: `${instance}: ${id} was acknowledged by ${node}` });
  return violations;
}

/** The longest time of an instance without an acknowledged call. */
export function longestGap(calls: readonly Call[]): { readonly instance: string; readonly ms: number } {
  let longest = { instance: "", ms: 0 };
  const last = new Map<string, number>();
  for (const { instance, endedMs } of calls.filter(isAcked).toSorted((a, b) => a.endedMs - b.endedMs)) {
    const ms = endedMs - (last.get(instance) ?? endedMs);
    if (ms > longest.ms) longest = { instance, ms };
    last.set(instance, endedMs);
  }
  return longest;
}

export function isAcked({ outcome }: Call): boolean {
  return outcome === "acked";
}

/** Looks at the processes of nodes that were fenced. */
export interface FenceWatch extends Disposable {
  readonly violations: readonly Violation[];
  /** How often a node was fenced. */
  readonly fencings: number;
}

const lookMs = 100;
const allowedMs = 1_000;
const fencedText = "serves none of its servers";

interface Fencing {
  readonly node: NodeName;
  readonly pids: readonly number[];
  /** How long the watch itself was awake since then: a machine that stands still gives processes no time to end. */
  awakeMs: number;
}

export function watchFences(world: World): FenceWatch {
  const violations: Violation[] = [];
  const open = new Set<Fencing>();
  const seen = new Map<object, number>();
  let fencings = 0;
  let isOver = false;

  async function look(): Promise<void> {
    const lines = await world.lines();
    for (const { name, gateway } of world.nodes) {
      if (gateway === undefined) continue;
      const count = gateway.stderr().split(fencedText).length - 1;
      if (count > (seen.get(gateway) ?? 0)) {
        const own = lines.filter(({ began }) => began === gateway.process.pid);
        open.add({ node: name, pids: own.map(({ pid }) => pid).filter(isAlive), awakeMs: 0 });
        fencings += 1;
      }
      seen.set(gateway, count);
    }
    for (const fencing of open) {
      const left = fencing.pids.filter(isAlive);
      fencing.awakeMs += lookMs;
      if (left.length > 0 && fencing.awakeMs <= allowedMs) continue;
      open.delete(fencing);
      if (left.length > 0) violations.push({ rule: "I5", what: `${fencing.node}: processes ${left.join(", ")}` });
    }
  }

  void (async () => {
    while (!isOver) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  })();
  return {
    violations,
    get fencings() {
      return fencings;
    },
    [Symbol.dispose]() {
      isOver = true;
    },
  };
}

/** One that has ended and whose end was not asked for yet is not alive. */
function isAlive(pid: number): boolean {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.[0];
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

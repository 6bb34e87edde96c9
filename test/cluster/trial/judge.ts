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
  const violations = lateEffects(lines);
  const seen = new Set<string | undefined>();
  for (const { instance, pid, began, id, at } of lines) {
    if (began !== undefined) continue;
    if (seen.has(id)) violations.push({ rule: "I2", what: `${instance}: ${id} at ${timeOf(at)} by process ${pid}` });
    seen.add(id);
  }
  for (const { id, instance, outcome, node } of calls)
    if (outcome === "acked" && !seen.has(id))
      violations.push({ rule: "I1", what: `${instance}: ${id} was acknowledged by ${node}` });
  return violations;
}

/** A start that was given up may still show itself, too late: a process counts when it is used. */
function lateEffects(lines: readonly Line[]): Violation[] {
  const used = new Set(lines.filter(({ began }) => began === undefined).map(({ pid }) => pid));
  const newest = new Map<string, Line>();
  const processes = new Map<number, Line>();
  const violations: Violation[] = [];
  for (const line of lines) {
    const { instance, pid, began, id, at } = line;
    if (began !== undefined) processes.set(pid, line);
    if (began !== undefined && used.has(pid)) newest.set(instance, line);
    const last = newest.get(instance);
    if (began !== undefined || last?.pid === pid) continue;
    const what = `${instance}: ${id} at ${timeOf(at)} by ${describeProcess(processes.get(pid))}`;
    violations.push({ rule: "I3", what: `${what}, after ${describeProcess(last)}` });
  }
  return violations;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 23);
}

function describeProcess(began: Line | undefined): string {
  return began === undefined
    ? "an unknown process"
    : `${began.pid} of ${began.node}, which began at ${timeOf(began.at)}`;
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
const defaultAllowedMs = 1_000;
const fencedLine = /"time":"([^"]+)".*serves none of its servers/g;

interface Fencing {
  readonly node: NodeName;
  readonly gateway: number | undefined;
  readonly atMs: number;
  readonly pids: readonly number[];
  /** How long the watch itself was awake since then: a machine that stands still gives processes no time to end. */
  awakeMs: number;
}

export function watchFences(world: World, allowedMs = defaultAllowedMs): FenceWatch {
  const violations: Violation[] = [];
  const open = new Set<Fencing>();
  const seen = new Map<object, number>();
  let fencings = 0;
  let isOver = false;

  async function look(): Promise<void> {
    const lines = await world.lines();
    for (const { name, gateway } of world.nodes) {
      if (gateway === undefined) continue;
      const times = [...gateway.stderr().matchAll(fencedLine)].map(([, time = ""]) => Date.parse(time));
      for (const atMs of times.slice(seen.get(gateway) ?? 0)) {
        const before = lines.filter(({ began, at }) => began === gateway.process.pid && at < atMs);
        open.add({
          node: name,
          gateway: gateway.process.pid,
          atMs,
          pids: before.map(({ pid }) => pid).filter(isRunning),
          awakeMs: 0,
        });
        fencings += 1;
      }
      seen.set(gateway, times.length);
    }
    for (const fencing of open) {
      const left = fencing.pids.filter(isRunning);
      // A node that is frozen ends nothing; it may be so again by now.
      if (stateOf(fencing.gateway) !== "T") fencing.awakeMs += lookMs;
      if (left.length > 0 && fencing.awakeMs <= allowedMs) continue;
      open.delete(fencing);
      const what = `${fencing.node}, fenced at ${timeOf(fencing.atMs)}: processes ${left.join(", ")}`;
      if (left.length > 0) violations.push({ rule: "I5", what });
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

/** One that has ended, or was stopped to be killed, runs no more. */
function isRunning(pid: number): boolean {
  return !["", "Z", "X", "T"].includes(stateOf(pid));
}

/** proc(5): the letter of its state; empty where there is no such process. */
function stateOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.[0] ?? "";
  } catch {
    return "";
  }
}

import { createHash } from "node:crypto";
import { availableParallelism, totalmem } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../../config/config.ts";
import { canonicalJson } from "../../config/file/hash.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { readDescendants, readResidentBytes, readWork } from "../../servers/process/process-table.ts";
import type { NodeLoad } from "../../store/shared.ts";

export interface NodeLoadDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly events: Pick<EventBus, "on">;
  /** The processes of servers, each of which may have started others. */
  readonly processes: () => readonly number[];
  readonly waitingStarts: () => number;
}

/** Sums since the start, at one moment. */
interface Sums {
  readonly atMs: number;
  readonly calls: number;
  readonly forwarded: number;
  readonly cpuMs: number;
}

/** Figures of a shorter time jump; reading /proc more often than that costs more than it tells. */
const spanMs = 5_000;

/**
 * What a node has to do. It is measured while somebody asks for it, at most every five seconds and one process in a
 * turn: the answer is of the measurement before, and undefined until there is one.
 */
export function createNodeLoad({ clock, events, processes, waitingStarts }: NodeLoadDeps): () => NodeLoad | undefined {
  let calls = 0;
  let forwarded = 0;
  /** CPU time of processes, those that have ended included. */
  let serversMs = 0;
  let known: ReadonlyMap<number, number> = new Map();
  let before: Sums | undefined;
  let measured: Omit<NodeLoad, "waitingStarts"> | undefined;
  let isMeasuring = false;
  events.on(["mcp.request.logs"], ({ node }) => {
    calls += 1;
    if (node !== undefined) forwarded += 1;
  });

  async function measure(): Promise<void> {
    const works = new Map<number, number>();
    let memoryBytes = 0;
    for (const root of processes()) {
      const tree = readDescendants(root) ?? [root];
      const { cpuMs } = readWork(tree);
      works.set(root, cpuMs);
      serversMs += Math.max(0, cpuMs - (known.get(root) ?? 0));
      memoryBytes += tree.reduce((sum, pid) => sum + readResidentBytes(pid), 0);
      await nextTurn();
    }
    known = works;
    const { user, system } = process.cpuUsage();
    const now = { atMs: clock.monotonic(), calls, forwarded, cpuMs: (user + system) / 1_000 + serversMs };
    // What was done before the first look was done in an unknown time.
    if (before !== undefined) measured = { ...toRates(before, now), ...toSizes(memoryBytes) };
    before = now;
  }

  return () => {
    if (!isMeasuring && (before === undefined || clock.monotonic() - before.atMs >= spanMs)) {
      isMeasuring = true;
      void measure().finally(() => (isMeasuring = false));
    }
    return measured && { ...measured, waitingStarts: waitingStarts() };
  };
}

function toRates(before: Sums, now: Sums) {
  const seconds = (now.atMs - before.atMs) / 1_000;
  const perSecond = (sum: number): number => Math.round((sum / seconds) * 100) / 100;
  return {
    callsPerSecond: perSecond(now.calls - before.calls),
    forwardedPerSecond: perSecond(now.forwarded - before.forwarded),
    cpuCores: perSecond((now.cpuMs - before.cpuMs) / 1_000),
  };
}

/** A container may have less than its machine. Only Linux tells the memory of other processes. */
function toSizes(memoryBytes: number) {
  const mostBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return {
    cores: availableParallelism(),
    memoryBytes: process.platform === "linux" ? memoryBytes : null,
    machineBytes: Math.min(totalmem(), mostBytes),
  };
}

/** Of what nodes have to have in common: servers, wherever their node keeps its files, and rules of calls. */
export function createConfigHash(config: () => Config): () => string {
  let hashed: { readonly of: Config; readonly hash: string } | undefined;
  return () => {
    const of = config();
    if (hashed?.of === of) return hashed.hash;
    const servers = of.servers.map(
      ({ slug, transport, roots, scope, tools, disabledReason, exclusive, place, files }) => {
        const kept = "cwd" in transport ? { ...transport, cwd: undefined } : transport;
        // Members that are not set are left out: releases that do not know it have the same hash.
        const labels = Object.keys(place.labels).length > 0 ? place.labels : undefined;
        const everyNode = place.everyNode || undefined;
        const placing = { exclusive: exclusive || undefined, everyNode, labels, files };
        return { slug, transport: kept, roots, scope, tools, disabledReason, ...placing };
      },
    );
    const text = canonicalJson({ servers, policy: of.settings.policy });
    hashed = { of, hash: createHash("sha256").update(text, "utf8").digest("hex") };
    return hashed.hash;
  };
}

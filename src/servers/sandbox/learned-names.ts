import { join } from "node:path";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";

/** Hosts that one server reached while somebody wanted to know them. */
export interface Learning {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** As `sandbox.network` has them, in the order in which they were reached. */
  readonly network: readonly string[];
  /** Whether there were more than an entry may have. */
  readonly isFull: boolean;
}

/** What confined servers reach, noted for a time and kept over restarts. */
export interface LearnedNames {
  /** Notes a host of `sandbox.network`, while that is wanted of this server. */
  note(server: string, host: string): void;
  /** Begins, for so long; what was noted before is forgotten. */
  begin(server: string, forMs: number): Learning;
  of(server: string): Learning | undefined;
  forget(server: string): void;
}

/** Where it is kept. */
export interface LearnedFile {
  load(): Promise<unknown>;
  save(value: unknown): void;
}

/** Beside the homes of confined servers. */
export function learnedFileOf(dataDir: string): string {
  return join(dataDir, "sandboxes", "learned.json");
}

/** As many as an entry may have. */
export const mostLearned = 200;
/** Far more than a configuration has; beyond it the one that began first is forgotten. */
const mostServers = 1_000;
const format = 1;

/** Reads what an earlier gateway noted. Each host is written once, when it is first reached. */
export async function openLearnedNames(file: LearnedFile, clock: Pick<Clock, "now">): Promise<LearnedNames> {
  const learnings = new Map(Object.entries(readLearnings(await file.load())));
  const save = (): void => file.save({ format, servers: Object.fromEntries(learnings) });

  return {
    note(server, host) {
      const before = learnings.get(server);
      if (before === undefined || clock.now() >= before.untilMs || before.isFull || before.network.includes(host))
        return;
      const isFull = before.network.length >= mostLearned;
      learnings.set(server, { ...before, isFull, network: isFull ? before.network : [...before.network, host] });
      save();
    },
    begin(server, forMs) {
      const sinceMs = clock.now();
      const learning = { sinceMs, untilMs: sinceMs + forMs, network: [], isFull: false };
      learnings.delete(server);
      learnings.set(server, learning);
      const [oldest] = learnings.keys();
      if (learnings.size > mostServers && oldest !== undefined) learnings.delete(oldest);
      save();
      return learning;
    },
    of: (server) => learnings.get(server),
    forget(server) {
      if (learnings.delete(server)) save();
    },
  };
}

/** What was noted, as answers and commands have it. */
export interface DescribedLearning extends Pick<Learning, "isFull"> {
  readonly since: string;
  readonly until: string;
  readonly isOver: boolean;
  readonly network: string[];
}

/** Pure. */
export function describeLearning({ sinceMs, untilMs, network, isFull }: Learning, nowMs: number): DescribedLearning {
  const [since, until] = [new Date(sinceMs).toISOString(), new Date(untilMs).toISOString()];
  return { since, until, isOver: nowMs >= untilMs, network: network.toSorted(), isFull };
}

/** What was kept, by server; anything else is skipped, because somebody may have edited the file. Pure. */
export function readLearnings(kept: unknown): Readonly<Record<string, Learning>> {
  if (!isJsonObject(kept) || kept["format"] !== format || !isJsonObject(kept["servers"])) return {};
  const servers = Object.entries(kept["servers"]).slice(0, mostServers);
  return Object.fromEntries(
    servers.flatMap(([server, value]) => {
      const learning = readLearning(value);
      return learning === undefined ? [] : [[server, learning] as const];
    }),
  );
}

function readLearning(value: unknown): Learning | undefined {
  if (!isJsonObject(value)) return undefined;
  const { sinceMs, untilMs, network, isFull } = value;
  if (!isTime(sinceMs) || !isTime(untilMs) || !Array.isArray(network)) return undefined;
  const names = network.slice(0, mostLearned).filter(isHost);
  return { sinceMs, untilMs, network: names, isFull: isFull === true };
}

const lastTimeMs = 8.64e15;

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && Math.abs(value) <= lastTimeMs;
}

const hostPattern = /^[a-z0-9_.-]{1,253}(?::\d{1,5})?$/;

function isHost(value: unknown): value is string {
  return typeof value === "string" && hostPattern.test(value);
}

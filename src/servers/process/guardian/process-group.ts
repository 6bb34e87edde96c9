import { setTimeout as pause } from "node:timers/promises";
import type { ProcessRow, ProcessTable } from "../process-table.ts";
import { spawn } from "node:child_process";

/** Identifies processes that belong together, before ancestry is considered. */
export interface FamilyTraits {
  /**
   * Pids of the processes that founded the family's groups and sessions, with their start times. A process of the
   * same pid with another start time founded something else.
   */
  readonly founders: ReadonlyMap<number, string | undefined>;
  /** Whether a mark in a process's environment is one of the family's. */
  readonly isMarked: (mark: string) => boolean;
  /** Processes that were members when last seen, with their start times. */
  readonly descendants?: ReadonlyMap<number, string>;
  /**
   * Processes that count as members in any case: we have stopped them, so they cannot end, and their pids cannot be
   * reused.
   */
  readonly held?: ReadonlySet<number>;
}

/**
 * The members of a family: marked processes; processes in a founder's session or group (a server may have cleared its
 * environment); descendants of these and of processes seen before; and processes in a group or session that one of
 * them founded. Never includes this process, its guardian (`except`), or pid 1.
 */
export function findFamily(
  rows: readonly ProcessRow[],
  traits: FamilyTraits,
  except: readonly number[] = [],
): readonly ProcessRow[] {
  const banned = new Set([0, 1, process.pid, ...except]);
  const candidates = rows.filter((row) => !banned.has(row.pid) && !except.includes(row.session));
  const members = new Map(candidates.filter((row) => isFirstHand(row, rows, traits)).map((row) => [row.pid, row]));
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const row of candidates) if (isRelated(row, members)) members.set(row.pid, row);
  }
  return [...members.values()];
}

function isRelated(row: ProcessRow, members: ReadonlyMap<number, ProcessRow>): boolean {
  return members.has(row.parent) || members.has(row.group) || members.has(row.session);
}

function isFirstHand(row: ProcessRow, rows: readonly ProcessRow[], traits: FamilyTraits): boolean {
  if (row.marks.some(traits.isMarked) || traits.held?.has(row.pid)) return true;
  if (traits.descendants?.get(row.pid) === row.startTime) return true;
  return [row.session, row.group].some((founder) => {
    if (!traits.founders.has(founder)) return false;
    const namesake = rows.find((other) => other.pid === founder);
    return namesake === undefined || namesake.startTime === traits.founders.get(founder);
  });
}

/**
 * Kills a family and waits for its end. Members are stopped first, and killed when a reading of /proc shows no new
 * ones. Otherwise one could fork while its parent, perhaps the only trace of it, is being killed. Ends when two
 * readings in a row show no member. Resolves to the pids that could not be killed within a few seconds, because they
 * belong to another user or are stuck in the kernel.
 */
export async function killFamily(
  table: ProcessTable,
  traits: FamilyTraits,
  except: readonly number[] = [],
): Promise<readonly number[]> {
  let left: readonly ProcessRow[] = [];
  let held: ReadonlySet<number> = new Set();
  let freezes = 0;
  let quiet = 0;
  for (let pass = 0; pass < maxPasses && quiet < 2; pass += 1) {
    const rows = await readOrUndefined(table);
    if (rows) left = findFamily(rows, { ...traits, held }, except);
    const fresh = left.filter((row) => !held.has(row.pid));
    quiet = rows && left.length === 0 ? quiet + 1 : 0;
    if (fresh.length > 0 && freezes < maxFreezes) {
      for (const row of fresh) signalProcess(row.pid, "SIGSTOP");
      held = new Set(left.map((row) => row.pid));
      freezes += 1;
      continue;
    }
    for (const row of left) signalProcess(row.pid, "SIGKILL");
    held = new Set();
    freezes = 0;
    if (quiet < 2) await pause(Math.min(5 + pass, maxPauseMs));
  }
  return left.map((row) => row.pid);
}

/** 100 readings with pauses of up to 50 ms, about 5 s. Processes left then cannot be killed by us. */
const maxPasses = 100;
const maxPauseMs = 50;

/** A family that has new members at every reading is killed after this many. */
const maxFreezes = 10;

/**
 * Without free file descriptors /proc cannot be listed. That passes, and until then the family must not count as ended.
 */
async function readOrUndefined(table: ProcessTable): Promise<readonly ProcessRow[] | undefined> {
  try {
    return await table.read();
  } catch {
    return undefined;
  }
}

/** Sends a signal to one process. Returns false when it has ended or we may not signal it. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Sends a signal to a whole process group at once; the kernel lets no member fork in between. Returns false when
 * there is no such group.
 */
export function signalGroup(founder: number, signal: NodeJS.Signals): boolean {
  return founder > 1 && signalProcess(-founder, signal);
}

/**
 * Kills a process and its descendants. Windows has neither process groups nor readable environments, so a child whose
 * parent has already ended is not found. Resolves when taskkill is done, whatever it found.
 */
export function killWindowsTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const killer = spawn("taskkill", ["/PID", String(pid), "/T", "/F"], {
      stdio: "ignore",
      windowsHide: true,
    });
    killer.once("error", () => resolve());
    killer.once("exit", () => resolve());
  });
}

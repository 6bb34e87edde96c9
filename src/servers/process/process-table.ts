import { readdirSync, openSync, readSync, closeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readMarks } from "./marker.ts";

/** One living process as Linux shows it. Zombies and kernel threads are left out: neither runs anything. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Process group and session: the pid of whoever founded it. */
  readonly group: number;
  readonly session: number;
  /** Ticks since boot: with the pid it names a process for good, because pids come round again. */
  readonly startTime: string;
  /** Marks found in its environment; none when it has none or when they may not be read. */
  readonly marks: readonly string[];
}

/** What runs on this machine. One table serves all trees of a gateway. */
export interface ProcessTable {
  /**
   * Reads /proc. The reading begins after the call, so what was started before the call is in it; callers who wait at
   * the same time share one. Empty on systems without /proc. Rejects when /proc cannot be listed (no file descriptors
   * left).
   */
  read(): Promise<readonly ProcessRow[]>;
}

export function createProcessTable(): ProcessTable {
  // Environments are remembered: reading them is the dear part, and a server that overwrites its own still counts as
  // ours.
  let known: ReadonlyMap<string, readonly string[]> = new Map();
  let current: Promise<readonly ProcessRow[]> | undefined;
  let next: Promise<readonly ProcessRow[]> | undefined;

  async function readNow(): Promise<readonly ProcessRow[]> {
    const rows = await readRows(known);
    known = new Map(rows.filter((row) => row.known).map((row) => [`${row.pid}@${row.startTime}`, row.marks]));
    return rows;
  }

  function start(): Promise<readonly ProcessRow[]> {
    next = undefined;
    const reading = readNow().finally(() => {
      if (current === reading) current = undefined;
    });
    current = reading;
    return reading;
  }

  return {
    read() {
      if (!current) return start();
      next ??= current.then(start, start);
      return next;
    },
  };
}

interface FoundRow extends ProcessRow {
  /** Whether `marks` is final. An empty environment is not: the process may be in the middle of exec. */
  readonly known: boolean;
}

/** A few ms for hundreds of processes, in slices, so that no call waits for it. */
async function readRows(known: ReadonlyMap<string, readonly string[]>): Promise<readonly FoundRow[]> {
  const rows: FoundRow[] = [];
  let untilPause = sliceSize;
  for (const pid of listPids()) {
    const row = readRow(pid, known);
    if (row) rows.push(row);
    untilPause -= 1;
    if (untilPause > 0) continue;
    untilPause = sliceSize;
    await nextTurn();
  }
  return rows;
}

const sliceSize = 50;

function listPids(): readonly number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
}

function readRow(pid: number, known: ReadonlyMap<string, readonly string[]>): FoundRow | undefined {
  const stat = readProcess(pid);
  if (!stat) return undefined;
  const remembered = known.get(`${pid}@${stat.startTime}`);
  if (remembered) return { ...stat, marks: remembered, known: true };
  const environment = readEnvironment(pid);
  return { ...stat, marks: readMarks(environment), known: environment !== "" };
}

type Stat = Omit<ProcessRow, "marks">;

/** proc(5), /proc/pid/stat: the name may hold spaces and brackets, so fields are counted from the last bracket. */
export function readProcess(pid: number): Stat | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "X", parent, group, session] = fields;
  if (state === "Z" || state === "X" || (Number(fields[6]) & kernelThreadFlag) !== 0) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: fields[19] ?? "",
  };
}

const kernelThreadFlag = 0x20_0000;

function readEnvironment(pid: number): string {
  return readProc(`/proc/${pid}/environ`) ?? unreadable;
}

/** Stands for the environment of a process of somebody else. */
const unreadable = "\0";

/**
 * Read into again and again: readFileSync takes 64 KB for each of the hundred small files of a look round. Holds
 * nothing between two reads.
 */
const scratch = Buffer.allocUnsafeSlow(16_384);

function readProc(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    let text = "";
    for (;;) {
      const count = readSync(descriptor, scratch, 0, scratch.length, null);
      if (count === 0) return text;
      text += scratch.toString("latin1", 0, count);
    }
  } catch {
    // It ended, or belongs to another user.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * The process and its descendants, by the kernel's own lists of children: a few small files instead of all of /proc.
 * Undefined where the kernel keeps none. Who has left the family (setsid and an exited parent) is not in it.
 */
export function readDescendants(founder: number): readonly number[] | undefined {
  const found = [founder];
  for (let index = 0; index < found.length && found.length < mostDescendants; index += 1) {
    const pid = found[index] as number;
    const threads = listThreads(pid);
    for (const thread of threads) {
      const children = readProc(`/proc/${pid}/task/${thread}/children`);
      if (children === undefined && index === 0 && thread === String(pid)) return undefined;
      for (const child of (children ?? "").split(" ")) if (child.trim() !== "") found.push(Number(child));
    }
  }
  return found;
}

/** A fork bomb is over every limit long before this. */
const mostDescendants = 10_000;

function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The start time of a living process, or undefined: the second half of its identity. */
export function readStartTime(pid: number): string | undefined {
  return process.platform === "linux" ? readProcess(pid)?.startTime : undefined;
}

/** Memory that a process holds now, in bytes; shared pages count in full. 0 when it is gone. */
export function readResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** What processes have done since they began, with those of their children that have ended. */
export interface ProcessWork {
  readonly cpuMs: number;
  /** Read and written, by whatever means: files, pipes, sockets. */
  readonly ioBytes: number;
}

/** One that is gone has done nothing; what may not be read of another user's counts as nothing too. */
export function readWork(pids: readonly number[]): ProcessWork {
  let ticks = 0;
  let ioBytes = 0;
  for (const pid of pids) {
    const stat = readProc(`/proc/${pid}/stat`) ?? "";
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    for (const field of fields.slice(11, 15)) ticks += Number(field);
    for (const match of (readProc(`/proc/${pid}/io`) ?? "").matchAll(/^[rw]char: (\d+)$/gm))
      ioBytes += Number(match[1]);
  }
  return { cpuMs: ticks * msPerTick, ioBytes };
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const msPerTick = 10;

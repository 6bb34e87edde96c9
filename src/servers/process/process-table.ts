import { readdirSync, openSync, readSync, closeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readMarks } from "./marker.ts";

/**
 * The descendants of a server as they were when last looked at. A process that has left the server's session and has
 * an environment of its own is connected to the server only by ancestry, and no longer when its parent ends. From
 * then on it is known only because it was seen here.
 */
export interface Descendants {
  /** Start times by pid. */
  readonly seen: ReadonlyMap<number, string>;
  /**
   * Looks again; call it only while the founder is alive. Returns all pids, the founder's first; undefined where the
   * kernel keeps no lists of children.
   */
  look(): readonly number[] | undefined;
}

/**
 * `onSessions` is called when the descendants are in other sessions than before; it gets all sessions except the
 * founder's.
 */
export function createDescendants(founder: number, onSessions: (sessions: readonly number[]) => void): Descendants {
  let seen: ReadonlyMap<number, string> = new Map();
  let told = "";
  return {
    get seen() {
      return seen;
    },
    look() {
      if (process.platform !== "linux") return undefined;
      const pids = readDescendants(founder);
      if (pids === undefined) return undefined;
      const next = new Map<number, string>();
      const sessions = new Set<number>();
      for (const pid of new Set([...pids, ...seen.keys()])) {
        const found = pid === founder ? undefined : readProcess(pid);
        if (found === undefined || (!pids.includes(pid) && found.startTime !== seen.get(pid))) continue;
        next.set(pid, found.startTime);
        if (found.session !== founder) sessions.add(found.session);
      }
      seen = next;
      const text = [...sessions].join(" ");
      if (text !== told) onSessions([...sessions]);
      told = text;
      return pids;
    },
  };
}

/** One living process as Linux shows it. Zombies and kernel threads are left out, because neither runs a program. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Process group and session, each named by the pid of the process that founded it. */
  readonly group: number;
  readonly session: number;
  /** In ticks since boot. Together with the pid it identifies a process for good; a pid alone may be reused. */
  readonly startTime: string;
  /** The marks in its environment; empty when there are none or we may not read it. */
  readonly marks: readonly string[];
}

/** The processes of this machine. One table serves all trees of a gateway. */
export interface ProcessTable {
  /**
   * Reads /proc. Reading begins after the call, so it includes whatever was started before; concurrent callers share
   * a reading. Empty on systems without /proc. Rejects when /proc cannot be listed, because no file descriptors are
   * left.
   */
  read(): Promise<readonly ProcessRow[]>;
}

/** A table that has not read anything yet. */
export function createProcessTable(): ProcessTable {
  // Marks are cached: reading environments is the expensive part, and a server that overwrites its own environment
  // still counts as ours.
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
  /**
   * Whether `marks` is final. With an empty environment it is not, because the process may be in the middle of exec.
   */
  readonly known: boolean;
}

/** Takes a few ms for hundreds of processes, and yields in between so that no call has to wait for it. */
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

/**
 * Reads /proc/pid/stat (proc(5)); undefined for a process that has ended, a zombie or a kernel thread. The name may
 * contain spaces and brackets, so fields are counted from the last bracket.
 */
function readProcess(pid: number): Stat | undefined {
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

/** Represents the environment of another user's process. */
const unreadable = "\0";

/**
 * A buffer for all reads: readFileSync would allocate 64 KB for each of about a hundred small files per look. It
 * holds nothing between two reads.
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
    // The process ended, or belongs to another user.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * The process and its descendants, from the kernel's own lists of children: a few small files instead of all of
 * /proc. Undefined where the kernel keeps none. Processes whose parent has exited are not included.
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

/** A fork bomb has exceeded every limit long before this. */
const mostDescendants = 10_000;

function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The start time of a living process, which together with the pid identifies it; undefined when it has ended. */
export function readStartTime(pid: number): string | undefined {
  return process.platform === "linux" ? readProcess(pid)?.startTime : undefined;
}

/** The name of a process's program, cut at 15 characters; undefined when it has ended. */
export function readName(pid: number): string | undefined {
  return readProc(`/proc/${pid}/comm`)?.trimEnd();
}

/** The resident memory of a process in bytes, shared pages in full; 0 when it has ended. */
export function readResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** What processes have done since they began, including their children that have ended. */
export interface ProcessWork {
  readonly cpuMs: number;
  /** Bytes read and written in any way: files, pipes, sockets. */
  readonly ioBytes: number;
}

/** The sum over these processes. Ended ones count as 0, and so do those of other users that we may not read. */
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

/** USER_HZ is 100 on every Linux that Node supports. */
const msPerTick = 10;

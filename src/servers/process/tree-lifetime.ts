import type { Readable, Writable } from "node:stream";
import { findFamily, killFamily, signalGroup, signalProcess, type FamilyTraits } from "./family.ts";
import type { Guardian } from "./guardian.ts";
import type { TreeMark } from "./marker.ts";
import { createDescendants } from "./descendants.ts";
import { createPatience, type Patience } from "./patience.ts";
import { readResidentBytes, readStartTime, readWork, type ProcessRow, type ProcessWork } from "./process-table.ts";
import { killWindowsTree } from "./windows.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface TreeUsage {
  readonly processes: number;
  /** Resident memory of all members; pages that they share count for each. */
  readonly residentBytes: number;
}

/** How a process tree is watched and ended. */
export interface TreeLifetime {
  /**
   * Settles when no process of the tree is left, or what is left cannot be killed. Follows every exit by itself.
   * Never rejects.
   */
  readonly gone: Promise<void>;
  /**
   * Ends the tree: closes stdin, after a moment SIGTERM to every member, `timeoutMs` after the call SIGKILL. An abort
   * cuts the patience short, it never leaves the tree running. Resolves when the tree is gone. Later calls share the
   * first one's deadline. With `asksTwice` SIGTERM comes a second time at half of it: npm puts an install in order at
   * the first one, but not before a download that hangs has ended; at the second it ends with its lock taken away.
   */
  stop(options: StopOptions, signal: AbortSignal): Promise<void>;
  /** SIGKILL to every member, at once; `gone` tells when it is done. */
  kill(): void;
  /** What the tree uses now; zeros where there is no /proc. */
  usage(): Promise<TreeUsage>;
  /** What the tree has done so far; undefined where that cannot be seen. */
  work(): TreeWork | undefined;
}

export interface TreeWork extends ProcessWork {
  readonly pids: readonly number[];
}

export interface StopOptions {
  readonly timeoutMs: number;
  readonly asksTwice?: boolean;
}

export interface TreeParts {
  readonly pid: number;
  readonly mark: TreeMark;
  readonly exited: Promise<Exit>;
  readonly streams: {
    readonly stdin: Writable;
    readonly stdout: Readable;
    readonly stderr: Readable;
  };
  readonly guardian: Pick<Guardian, "table" | "pid" | "note" | "remove">;
}

export function createTreeLifetime({ pid, mark, exited, streams, guardian }: TreeParts): TreeLifetime {
  const descendants = createDescendants(pid, (sessions) => guardian.note(pid, sessions));
  const traits: FamilyTraits = {
    founders: new Map([[pid, readStartTime(pid)]]),
    isMarked: (other) => other === mark,
    get descendants() {
      return descendants.seen;
    },
  };
  const patience = createPatience();
  /** From then on the founder's number may belong to somebody else. */
  let hasExited = false;
  let stopping: Promise<void> | undefined;
  let ending: Promise<readonly number[]> | undefined;

  const gone = new Promise<void>((resolve) => {
    void exited.then(async () => {
      if (stopping) {
        hasExited = true;
        await waitForMembers();
      }
      // Still in the turn in which the exit was noticed: nobody else can have the number yet.
      const ended = endAll();
      hasExited = true;
      await ended;
      guardian.remove(pid);
      resolve();
    });
    // A founder that cannot be killed never exits; nobody waits for it longer than killing takes.
    void patience.ended.then(endAll).then((stubborn) => {
      if (stubborn.length > 0) resolve();
    });
  });

  async function members(): Promise<readonly ProcessRow[]> {
    return findFamily(await guardian.table.read(), traits, exceptOf(guardian));
  }

  /**
   * What is left after the founder has left as it was asked to: it got SIGTERM too, and has time until the deadline.
   */
  async function waitForMembers(): Promise<void> {
    for (let pauseMs = 5; !patience.isOver(); pauseMs = Math.min(pauseMs * 2, 100)) {
      if (await members().then(isEmpty, () => false)) return;
      await patience.sleep(pauseMs);
    }
  }

  function endAll(): Promise<readonly number[]> {
    ending ??= killTree({ pid, traits, guardian, streams, hasExited: () => hasExited });
    return ending;
  }

  /** Says nothing to a tree that is being killed: SIGCONT would set free what is held for that. */
  async function askAll(signals: readonly NodeJS.Signals[]): Promise<void> {
    if (process.platform === "win32" || ending || patience.isOver()) return;
    if (!hasExited) for (const signal of signals) signalGroup(pid, signal);
    const others = (await members().catch(() => [])).filter((row) => row.group !== pid || hasExited);
    if (ending || patience.isOver()) return;
    for (const row of others) for (const signal of signals) signalProcess(row.pid, signal);
  }

  function endInput(): void {
    // Before it ends: its children would be nobody's then.
    if (!hasExited) descendants.look();
    streams.stdin.end();
  }

  return {
    gone,
    stop(options, signal) {
      stopping ??= askToEnd(options, { patience, exited, gone, endInput, askAll });
      const hurry = () => patience.end();
      if (signal.aborted) hurry();
      signal.addEventListener("abort", hurry, { once: true });
      return gone.finally(() => signal.removeEventListener("abort", hurry));
    },
    kill: () => patience.end(),
    async usage() {
      // Every few seconds for every server: all of /proc would cost an idle gateway more than everything else together.
      const near = hasExited ? undefined : descendants.look();
      const pids = near ?? (await members()).map((row) => row.pid);
      return {
        processes: pids.length,
        residentBytes: pids.reduce((sum, member) => sum + readResidentBytes(member), 0),
      };
    },
    work() {
      const pids = hasExited ? undefined : descendants.look();
      return pids && { pids, ...readWork(pids) };
    },
  };
}

interface Doomed extends Pick<TreeParts, "pid" | "guardian" | "streams"> {
  readonly traits: FamilyTraits;
  /** From then on the founder's number may belong to somebody else. */
  readonly hasExited: () => boolean;
}

/** Resolves to the pids that could not be killed. */
async function killTree({ pid, traits, guardian, streams, hasExited }: Doomed): Promise<readonly number[]> {
  const founded = !hasExited();
  if (process.platform === "win32") await killWindowsTree(pid);
  // Stopped first, as in killFamily: a killed parent would be one trace less.
  else if (founded) signalGroup(pid, process.platform === "linux" ? "SIGSTOP" : "SIGKILL");
  const stubborn = await killFamily(guardian.table, traits, exceptOf(guardian));
  if (founded && !hasExited()) signalGroup(pid, "SIGKILL");
  // Only somebody whom we may not kill can still hold these; nobody shall wait for him.
  if (stubborn.length > 0) for (const stream of Object.values(streams)) stream.destroy();
  return stubborn;
}

/** What a tree is asked with. */
interface Asking {
  readonly patience: Patience;
  readonly exited: Promise<Exit>;
  readonly gone: Promise<void>;
  readonly endInput: () => void;
  readonly askAll: (signals: readonly NodeJS.Signals[]) => Promise<void>;
}

async function askToEnd({ timeoutMs, asksTwice = false }: StopOptions, asking: Asking): Promise<void> {
  const { patience, exited, gone, endInput, askAll } = asking;
  const deadline = performance.now() + timeoutMs;
  endInput();
  await patience.wait(exited, Math.min(endOfInputGraceMs, timeoutMs));
  // A stopped process would keep SIGTERM for later: SIGCONT lets it hear (fault 80).
  await askAll(["SIGTERM", "SIGCONT"]);
  if (asksTwice) {
    await patience.wait(gone, timeoutMs / 2);
    await askAll(["SIGTERM"]);
  }
  await patience.wait(gone, deadline - performance.now());
  patience.end();
}

/** A server that ends when its input does shall end by itself, without a signal in the middle of its last write. */
const endOfInputGraceMs = 250;

function exceptOf({ pid }: TreeParts["guardian"]): readonly number[] {
  return pid === undefined ? [] : [pid];
}

function isEmpty(rows: readonly ProcessRow[]): boolean {
  return rows.length === 0;
}

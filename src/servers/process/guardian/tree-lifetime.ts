import type { Readable, Writable } from "node:stream";
import {
  findFamily,
  killFamily,
  signalGroup,
  signalProcess,
  type FamilyTraits,
  killWindowsTree,
} from "./process-group.ts";
import type { Guardian } from "./guardian.ts";
import type { TreeMark } from "../marker.ts";
import {
  createDescendants,
  readResidentBytes,
  readStartTime,
  readWork,
  type ProcessRow,
  type ProcessWork,
} from "../process-table.ts";

/** How a process ended: an exit code or a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a tree uses now. */
export interface TreeUsage {
  readonly processes: number;
  /** The resident memory of all members; shared pages count for each of them. */
  readonly residentBytes: number;
}

/** Observes a process tree and ends it. */
export interface TreeLifetime {
  /**
   * Settles when no process of the tree is left, or the rest cannot be killed. When the server exits, its descendants
   * are killed without any call. Never rejects.
   */
  readonly gone: Promise<void>;
  /**
   * Ends the tree. stdin is closed; a moment later every member gets SIGTERM, and `timeoutMs` after the call SIGKILL.
   * When the signal aborts, SIGKILL follows at once. Resolves when the tree has ended. Further calls share the deadline
   * of the first.
   *
   * With `asksTwice`, SIGTERM is sent again at half of the time. npm reacts to the first one by tidying up its
   * install, but waits for a download that hangs; at the second one it ends, after removing its lock.
   */
  stop(options: StopOptions, signal: AbortSignal): Promise<void>;
  /** Sends SIGKILL to every member at once; `gone` tells when that is done. */
  kill(): void;
  /** What the tree uses now; zeros where there is no /proc. */
  usage(): Promise<TreeUsage>;
  /** What the tree has done so far; undefined where that cannot be observed. */
  work(): TreeWork | undefined;
}

/** The work of a tree, and its current pids. */
export interface TreeWork extends ProcessWork {
  readonly pids: readonly number[];
}

/** See {@link TreeLifetime.stop}. */
export interface StopOptions {
  readonly timeoutMs: number;
  readonly asksTwice?: boolean;
}

/** The parts of a tree that has been started. */
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
  /** Members that are not asked to end: see `TreeSpec.isEngine`. */
  readonly isEngine?: ((pid: number) => boolean) | undefined;
}

/** Takes charge of a tree that has just been started. */
export function createTreeLifetime(parts: TreeParts): TreeLifetime {
  const { pid, mark, exited, streams, guardian, isEngine } = parts;
  const descendants = createDescendants(pid, (sessions) => guardian.note(pid, sessions));
  const traits: FamilyTraits = {
    founders: new Map([[pid, readStartTime(pid)]]),
    isMarked: (other) => other === mark,
    get descendants() {
      return descendants.seen;
    },
  };
  const patience = createPatience();
  /** From then on the founder's pid may be reused. */
  let hasExited = false;
  let stopping: Promise<void> | undefined;
  let ending: Promise<readonly number[]> | undefined;

  const gone = new Promise<void>((resolve) => {
    void exited.then(async () => {
      if (stopping) {
        hasExited = true;
        await waitForMembers();
      }
      // This is still the turn of the event loop in which the exit was noticed, so the pid cannot have been reused
      // yet.
      const ended = endAll();
      hasExited = true;
      await ended;
      guardian.remove(pid);
      resolve();
    });
    // A founder that cannot be killed never exits; `gone` waits for it no longer than killing takes.
    void patience.ended.then(endAll).then((stubborn) => {
      if (stubborn.length > 0) resolve();
    });
  });

  async function members(): Promise<readonly ProcessRow[]> {
    return findFamily(await guardian.table.read(), traits, exceptOf(guardian));
  }

  /**
   * Waits, until the deadline, for members that are left after the founder has ended as requested; they got SIGTERM
   * too.
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

  /** Does nothing once the tree is being killed, because SIGCONT would release members that are stopped for that. */
  async function askAll(signals: readonly NodeJS.Signals[]): Promise<void> {
    if (process.platform === "win32" || ending || patience.isOver()) return;
    const isAsked = hasExited || isEngine !== undefined;
    if (!isAsked) for (const signal of signals) signalGroup(pid, signal);
    const others = (await members().catch(() => [])).filter((row) => row.group !== pid || isAsked);
    if (ending || patience.isOver()) return;
    for (const row of others)
      if (isEngine?.(row.pid) !== true) for (const signal of signals) signalProcess(row.pid, signal);
  }

  function endInput(): void {
    // Looks at the descendants before the founder ends, because after that they have another parent.
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
      // Called for every server every few seconds: reading all of /proc would cost an idle gateway more than
      // everything else together.
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
  /** From then on the founder's pid may be reused. */
  readonly hasExited: () => boolean;
}

/** Kills the whole tree. Resolves to the pids that could not be killed. */
async function killTree({ pid, traits, guardian, streams, hasExited }: Doomed): Promise<readonly number[]> {
  const founded = !hasExited();
  if (process.platform === "win32") await killWindowsTree(pid);
  // Stopped before being killed, as in killFamily, because the descendants of a killed parent are harder to find.
  else if (founded) signalGroup(pid, process.platform === "linux" ? "SIGSTOP" : "SIGKILL");
  const stubborn = await killFamily(guardian.table, traits, exceptOf(guardian));
  if (founded && !hasExited()) signalGroup(pid, "SIGKILL");
  // The process that still holds these streams cannot be killed by us, and must not be waited for.
  if (stubborn.length > 0) for (const stream of Object.values(streams)) stream.destroy();
  return stubborn;
}

/** What ending a tree needs. */
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
  // A stopped process would receive SIGTERM only when it continues, so SIGCONT follows (fault 80).
  await askAll(["SIGTERM", "SIGCONT"]);
  if (asksTwice) {
    await patience.wait(gone, timeoutMs / 2);
    await askAll(["SIGTERM"]);
  }
  await patience.wait(gone, deadline - performance.now());
  patience.end();
}

/** Time for a server to end by itself when its input ends, so that no signal interrupts its last write. */
const endOfInputGraceMs = 250;

function exceptOf({ pid }: TreeParts["guardian"]): readonly number[] {
  return pid === undefined ? [] : [pid];
}

function isEmpty(rows: readonly ProcessRow[]): boolean {
  return rows.length === 0;
}

/** Waits that can be cut short for good: once it has ended, every wait returns at once. */
interface Patience {
  /** Ends all current and future waits. Further calls have no effect. */
  end(): void;
  /** Whether `end` has been called. */
  isOver(): boolean;
  /** Resolves when `end` is called. */
  readonly ended: Promise<void>;
  /** Resolves when `promise` settles, after `limitMs`, or when patience ends, whichever comes first. Never rejects. */
  wait(promise: Promise<unknown>, limitMs: number): Promise<void>;
  /** Resolves after `delayMs`, or when patience ends. */
  sleep(delayMs: number): Promise<void>;
}

/** Patience that has not ended. */
function createPatience(): Patience {
  let over = false;
  let wake: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    wake = resolve;
  });

  async function sleep(delayMs: number, earlier: Promise<unknown> = ended): Promise<void> {
    if (over || delayMs <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, delayMs);
    });
    await Promise.race([elapsed, ended, earlier]).catch(() => undefined);
    clearTimeout(timer);
  }

  return {
    end() {
      over = true;
      wake();
    },
    isOver: () => over,
    ended,
    wait: (promise, limitMs) => sleep(limitMs, promise),
    sleep: (delayMs) => sleep(delayMs),
  };
}

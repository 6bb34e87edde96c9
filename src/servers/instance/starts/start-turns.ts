import type { Transport } from "../../../config/config.ts";
import { untilAborted } from "../../../kernel/runtime/abort.ts";
import { npxFormOf } from "../../upstream/runner/npx-form.ts";
import { packageRunnerOf } from "../../upstream/runner/package-runner.ts";
import type { StartQueue } from "./start-queue.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";

/**
 * Decides which servers may start now. Package runners that may have to install something wait in a queue of their own,
 * so that they delay no other server.
 */
export interface StartTurns {
  /** Runs `start` when it is its turn. */
  run<T>(transport: Transport, starter: Starter, start: () => Promise<T>): Promise<T>;
  /**
   * Tells that the server has been up, now or in an earlier run of the gateway, so that starting it installs nothing
   * new.
   */
  noteInstalled(transport: Transport): void;
  readonly waiting: number;
  /** Call when more starts may be allowed than before. */
  wake(): void;
}

/** The queue of ordinary starts, and that of starts that may install something. */
export interface StartQueues {
  readonly starts: StartQueue;
  readonly installs: StartQueue;
}

/**
 * More specifications than any configuration has. Beyond it the oldest is forgotten, and its next start counts as an
 * install once more.
 */
const mostSpecifications = 10_000;

/**
 * An install keeps the machine busy until the server is up, unlike other starts, so it keeps its turn until then. Two
 * installs of the same specification would write to the same folder; they run one after the other, and the second
 * finds everything installed.
 */
export function createStartTurns({ starts, installs }: StartQueues): StartTurns {
  const installed = new Set<string>();
  const installing = new Map<string, Promise<unknown>>();

  async function install<T>(starter: Starter, start: () => Promise<T>): Promise<T> {
    const release = await installs.acquire(starter.owner ?? "", starter.signal);
    try {
      return await start();
    } finally {
      release();
    }
  }

  return {
    async run(transport, starter, start) {
      const specification = specificationOf(transport);
      while (specification !== undefined && !installed.has(specification)) {
        const other = installing.get(specification);
        if (other !== undefined) {
          await untilAborted(other.then(ignore, ignore), starter.signal);
          continue;
        }
        const running = install(starter, start).finally(() => installing.delete(specification));
        installing.set(specification, running);
        return await running;
      }
      return await withTurn(starts, starter, start);
    },
    noteInstalled(transport) {
      const specification = specificationOf(transport);
      if (specification === undefined) return;
      installed.delete(specification);
      installed.add(specification);
      const [oldest] = installed;
      if (installed.size > mostSpecifications && oldest !== undefined) installed.delete(oldest);
    },
    get waiting() {
      return starts.waiting + installs.waiting;
    },
    wake() {
      starts.wake();
      installs.wake();
    },
  };
}

function ignore(): void {}

/**
 * Identifies what a package runner installs, independent of environment variables: the package where nothing else
 * matters, otherwise the whole command line. Undefined for servers that never install anything.
 */
function specificationOf(transport: Transport): string | undefined {
  if (!hasProcess(transport) || packageRunnerOf(transport) === undefined) return undefined;
  const npx = npxFormOf(transport);
  return JSON.stringify(npx === undefined ? [transport.command, ...transport.args] : ["npx", npx.specification]);
}

/** Who wants to start something, and the signal that ends the wait. */
interface Starter {
  readonly owner: PrincipalId | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * How long one start may keep its turn. Starts take turns because they keep the machine busy. A start that takes
 * longer is waiting for something else or hangs, and must not delay the others (fault 65). The servers of a
 * configuration are a few dozen, and all are needed at once; personal ones may be hundreds, and may delay each other
 * a little (fault 86).
 */
const longestTurnMs = { shared: 100, personal: 2_000 } as const;

/**
 * Runs `start` when it is its turn. The turn ends with the start or after the longest turn, in which case the start
 * continues.
 */
export async function withTurn<T>(queue: StartQueue, starter: Starter, start: () => Promise<T>): Promise<T> {
  const { owner, clock, signal } = starter;
  const release = await queue.acquire(owner ?? "", signal);
  const cancelTurn = clock.after(longestTurnMs[owner === null ? "shared" : "personal"], release);
  try {
    return await start();
  } finally {
    cancelTurn();
    release();
  }
}

import type { Transport } from "../../../config/config.ts";
import { untilAborted } from "../../../kernel/runtime/abort.ts";
import { npxFormOf } from "../../upstream/runner/npx-form.ts";
import { packageRunnerOf } from "../../upstream/runner/package-runner.ts";
import type { StartQueue } from "./start-queue.ts";
import { withTurn, type Starter } from "./start-turn.ts";
import { hasProcess } from "../../../config/entry/transports.ts";

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

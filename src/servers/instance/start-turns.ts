import type { Transport } from "../../config/config.ts";
import { untilAborted } from "../../kernel/abort.ts";
import { npxFormOf } from "../upstream/runner/npx-form.ts";
import { packageRunnerOf } from "../upstream/runner/package-runner.ts";
import type { StartQueue } from "./start-queue.ts";
import { withTurn, type Starter } from "./start-turn.ts";
import { hasProcess } from "../../config/transports.ts";

/** Who may start now. Package runners that may have to install wait in a line of their own, and hold up nobody else. */
export interface StartTurns {
  /** Runs `start` when its turn has come. */
  run<T>(transport: Transport, starter: Starter, start: () => Promise<T>): Promise<T>;
  /** Came up now, or in an earlier life: from now on starting it installs nothing new. */
  noteInstalled(transport: Transport): void;
  readonly waiting: number;
  /** To be called when there may be more turns than before. */
  wake(): void;
}

export interface StartQueues {
  readonly starts: StartQueue;
  readonly installs: StartQueue;
}

/**
 * More specifications than any configuration has; the oldest is forgotten first, and costs one more turn among the
 * installs.
 */
const mostSpecifications = 10_000;

/**
 * An install is busy until the server is up, unlike other starts: its turn is held until it is up or has failed. Two
 * of one specification would write into one folder, so that they go one after the other; the second then installs
 * nothing.
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
 * What is installed, whatever the variables of whoever starts it: the package where it is known to be all that
 * counts, otherwise the whole command line. Undefined where nothing ever is.
 */
function specificationOf(transport: Transport): string | undefined {
  if (!hasProcess(transport) || packageRunnerOf(transport) === undefined) return undefined;
  const npx = npxFormOf(transport);
  return JSON.stringify(npx === undefined ? [transport.command, ...transport.args] : ["npx", npx.specification]);
}

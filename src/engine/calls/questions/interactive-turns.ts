import { createSemaphore, type Semaphore } from "../../../kernel/runtime/semaphore.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import type { ServerAnswer } from "../server-answer.ts";

/** Rejects with the signal's reason when it aborts before the turn has come. */
export type RunInTurn = (
  instance: Instance,
  signal: AbortSignal,
  run: () => Promise<ServerAnswer>,
) => Promise<ServerAnswer>;

/** Calls of an `interactive` server run one after the other, so that its questions belong to exactly one of them. */
export function createInteractiveTurns(): RunInTurn {
  const turns = new WeakMap<Instance, Semaphore>();

  return async (instance, signal, run) => {
    let turn = turns.get(instance);
    if (turn === undefined) turns.set(instance, (turn = createSemaphore(1)));
    const release = await turn.acquire(signal);
    try {
      return await run();
    } finally {
      release();
    }
  };
}

import type { ToolEntry } from "../model/snapshot.ts";
import { forgetOldest } from "./phrases/written-phrases.ts";

/** Answers without phrases, after which a tool is left alone until the next start. */
const attemptLimit = 3;

/** Tools that shall be asked for, the longest waiting first, each definition once. */
export interface WaitingTools {
  readonly size: number;
  /** Tools for which the model wrote nothing of use. */
  readonly givenUp: number;
  /** Unless it is given up. One that waits already waits as the newest, which is dropped last. */
  add(tool: ToolEntry): void;
  take(): ToolEntry | undefined;
  /** An answer was of no use. */
  tryAgain(tool: ToolEntry): void;
}

export function createWaitingTools(): WaitingTools {
  const waiting = new Map<string, ToolEntry>();
  const attempts = new Map<string, number>();
  const triesOf = (tool: ToolEntry): number => attempts.get(tool.hash) ?? 0;

  function add(tool: ToolEntry): void {
    if (triesOf(tool) >= attemptLimit) return;
    waiting.delete(tool.hash);
    waiting.set(tool.hash, tool);
    forgetOldest(waiting);
  }

  return {
    get size() {
      return waiting.size;
    },
    get givenUp() {
      return [...attempts.values()].filter((tries) => tries >= attemptLimit).length;
    },
    add,
    take() {
      const [next] = waiting.values();
      if (next !== undefined) waiting.delete(next.hash);
      return next;
    },
    tryAgain(tool) {
      attempts.set(tool.hash, triesOf(tool) + 1);
      forgetOldest(attempts);
      add(tool);
    },
  };
}

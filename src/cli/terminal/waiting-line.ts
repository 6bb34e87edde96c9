import { clipText } from "./fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** A line that tells a person that something is being waited for. */
export interface WaitingLine {
  /** Removes the line where that is possible. */
  readonly end: () => void;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Whatever takes less time than this needs no line. */
const patienceMs = 1_000;
const lookMs = 1_000;

/**
 * On a terminal, one line that counts the seconds and is removed at the end. Elsewhere the sentence is written once,
 * because what was written cannot be removed.
 */
export function showWaiting(sentence: string | (() => string), output: Terminal): WaitingLine {
  const startedMs = performance.now();
  let shown = false;
  // A line that wraps could not be drawn over.
  const fitted = (given: typeof sentence, seconds: number): string => {
    const count = ` (${seconds} s)`;
    const text = plainText(typeof given === "string" ? given : given());
    return `${clipText(text, Math.max(10, (output.columns || 80) - count.length - 1))}${count}`;
  };
  const show = (): void => {
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    if (output.isTTY === true) output.write(`\r${fitted(sentence, seconds)}\u001b[K`);
    else output.write(`${typeof sentence === "string" ? sentence : sentence()}\n`);
    shown = true;
  };
  let timer = setTimeout(function next() {
    show();
    if (output.isTTY === true) timer = setTimeout(next, lookMs);
  }, patienceMs);
  return {
    end() {
      clearTimeout(timer);
      if (shown && output.isTTY === true) output.write("\r\u001b[K");
    },
  };
}

/**
 * Shows on stderr that something takes a while, where stderr is a terminal: programs that read it see nothing. A
 * sentence that counts is asked for each time.
 */
export async function whileWaiting<T>(sentence: string | (() => string), work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return await work();
  const waiting = showWaiting(sentence, process.stderr);
  try {
    return await work();
  } finally {
    waiting.end();
  }
}

/**
 * Ends what waits when somebody presses Ctrl-C, so that what was started is stopped before the command ends. `hint` is
 * what the person is told of what was under way.
 */
export function interrupted(hint = "Nothing was changed."): AbortSignal {
  const controller = new AbortController();
  const end = (): void => controller.abort(new GatewayError("CALL_CANCELLED", "interrupted", { hint }));
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  return controller.signal;
}

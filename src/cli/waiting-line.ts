/** A line that shows a person that something is still being waited for. */
export interface WaitingLine {
  /** Takes it away, where it can be taken away. */
  readonly end: () => void;
}

interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** What is done by then needs no line. */
const patienceMs = 1_000;
const lookMs = 1_000;

/**
 * On a terminal one line that counts the seconds, and goes when it ends; otherwise the sentence once, because what
 * was written stays.
 */
export function showWaiting(sentence: string, output: Terminal): WaitingLine {
  const startedMs = performance.now();
  let shown = false;
  const show = (): void => {
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    if (output.isTTY === true) output.write(`\r${sentence} (${seconds} s)\u001b[K`);
    else output.write(`${sentence}\n`);
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

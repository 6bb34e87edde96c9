/** A line that tells a person that something is being waited for. */
export interface WaitingLine {
  /** Removes the line where that is possible. */
  readonly end: () => void;
}

interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Whatever takes less time than this needs no line. */
const patienceMs = 1_000;
const lookMs = 1_000;

/**
 * On a terminal, one line that counts the seconds and is removed at the end. Elsewhere the sentence is written once,
 * because what was written cannot be removed.
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

/** A terminal with one line that is updated in place, below lines that stay. */
export interface TerminalScreen {
  /** Prints whole lines above the updated line. */
  print(text: string): void;
  /** Replaces the updated line. An empty text removes it. */
  progress(text: string): void;
}

const clearLine = "\r\u001b[2K";

/** `columns` is called each time, because a line that wraps could not be removed. */
export function createTerminalScreen(write: (text: string) => void, columns: () => number): TerminalScreen {
  let shown = "";
  return {
    print(text) {
      write(`${shown === "" ? "" : clearLine}${text}${shown}`);
    },
    progress(text) {
      const next = text.slice(0, Math.max(20, columns() - 1));
      if (next === shown) return;
      write(`${shown === "" ? "" : clearLine}${next}`);
      shown = next;
    },
  };
}

/** A terminal that holds one line that changes, and lines above it that stay. */
export interface TerminalScreen {
  /** Prints whole lines above the line that changes. */
  print(text: string): void;
  /** Replaces the line that changes; an empty text takes it away. */
  progress(text: string): void;
}

const clearLine = "\r\u001b[2K";

/** `columns` is asked each time: a line that wraps could not be taken back. */
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

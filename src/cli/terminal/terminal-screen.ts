import { writeSync } from "node:fs";
import measure from "fast-string-truncated-width";

/** A terminal with some lines at its bottom that are drawn again in place, below lines that stay. */
export interface TerminalScreen {
  /** Prints whole lines above the lines at the bottom. */
  print(text: string): void;
  /** Replaces the lines at the bottom. None removes them. What does not fit on the screen is left out. */
  show(lines: readonly string[]): void;
  readonly size: () => ScreenSize;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** As much of a line as fits into so many columns: wide characters take two, colours none. */
export function fitLine(line: string, columns: number): string {
  const { truncated, index } = measure(line, { limit: columns });
  if (!truncated) return line;
  // What was coloured has lost its end.
  return line.includes("\u001b") ? `${line.slice(0, index)}\u001b[0m` : line.slice(0, index);
}

/** The screen behind stderr. One that does not know its size is as large as terminals used to be. */
export function openScreen(): TerminalScreen {
  const { stderr } = process;
  return createTerminalScreen(writeToTerminal, () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }));
}

/** Writes to stderr. The terminal may be closed while a gateway is still draining. */
function writeToTerminal(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // EIO or EPIPE: there is no reader any more.
  }
}

/** `size` is called each time, because people resize their windows. */
export function createTerminalScreen(write: (text: string) => void, size: () => ScreenSize): TerminalScreen {
  let shown: readonly string[] = [];

  /** Takes the lines away. In a window that has become narrower since, each may take several rows. */
  function clear(): string {
    if (shown.length === 0) return "";
    const { columns, rows } = size();
    const taken = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(measure(line).width / columns)), 0);
    const up = Math.min(taken, rows) - 1;
    return up === 0 ? "\r\u001b[2K" : `\r\u001b[${up}A\u001b[J`;
  }

  function fit(lines: readonly string[]): readonly string[] {
    const { columns, rows } = size();
    return lines.slice(0, Math.max(1, rows - 1)).map((line) => fitLine(line, Math.max(1, columns - 1)));
  }

  return {
    print(text) {
      write(`${clear()}${text}${shown.join("\n")}`);
    },
    show(lines) {
      const next = fit(lines);
      if (next.length === shown.length && next.every((line, at) => line === shown[at])) return;
      write(`${clear()}${next.join("\n")}`);
      shown = next;
    },
    size,
  };
}

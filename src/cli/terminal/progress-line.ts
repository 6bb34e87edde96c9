import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { createTerminalScreen } from "./terminal-screen.ts";

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** How far a call is, on one line of a terminal. Nothing is written elsewhere. */
export interface ProgressLine {
  /** Takes the params of notifications/progress. */
  show(params: JsonObject): void;
  /** Removes the line. */
  end(): void;
}

export function createProgressLine(output: Output): ProgressLine {
  if (output.isTTY !== true) return { show: () => undefined, end: () => undefined };
  const screen = createTerminalScreen(
    (text) => void output.write(text),
    () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
  );
  return { show: (params) => screen.show([toProgressText(params)]), end: () => screen.show([]) };
}

/** `3 of 10: reading`, as far as the server says it. */
export function toProgressText({ progress, total, message }: JsonObject): string {
  const done = `${numberText(progress)}${total === undefined ? "" : ` of ${numberText(total)}`}`;
  return plainText(typeof message === "string" && message !== "" ? `${done}: ${message}` : done);
}

function numberText(value: unknown): string {
  return typeof value === "number" ? String(Math.round(value * 100) / 100) : "?";
}

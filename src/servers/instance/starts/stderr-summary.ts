import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** A kind of line that says why a program ended. Kinds further up in the table are more reliable. */
interface LineKind {
  readonly pattern: RegExp;
  /** Which of several such lines to use: most programs name the cause first, a Python traceback names it last. */
  readonly which: "first" | "last";
}

const lineKinds: readonly LineKind[] = [
  // npm names the cause in the lines after its error code, and the place of its log further down.
  { pattern: /^npm (?:error|ERR!) (?:code \S+$|4\d\d .*\S)/, which: "first" },
  { pattern: /Cannot find (?:module|package) |\bMODULE_NOT_FOUND\b/, which: "first" },
  { pattern: /Cannot connect to the Docker daemon|^docker: |Error response from daemon/, which: "first" },
  { pattern: /\b(?:EADDRINUSE|EACCES|ECONNREFUSED|ENOTFOUND|ENOENT|ENOSPC)\b/, which: "first" },
  { pattern: /: (?:command )?not found$|: Permission denied$|is not recognized as /, which: "first" },
  { pattern: /^[\w.]*(?:Error|Exception|Interrupt)(?:: |$)/, which: "last" },
  { pattern: /error|exception|fatal|panic/i, which: "last" },
];

/** Stack frames, and lines that programs write after they have said everything. */
const uninformative = /^\s*at |A complete log of this run|^\s*$|^npm (?:error|ERR!)\s*(?:\d{3}\s*)?$|^Node\.js v\d/;

const mostLines = 3;
const mostCharacters = 200;

/** The few lines of stderr that explain best why a program ended; its last lines when none is conspicuous. Pure. */
export function summarizeStderr(stderr: readonly string[]): readonly string[] {
  const lines = stderr.filter((line) => !uninformative.test(line));
  for (const { pattern, which } of lineKinds) {
    const found =
      which === "first"
        ? lines.findIndex((line) => pattern.test(line))
        : lines.findLastIndex((line) => pattern.test(line));
    if (found !== -1) return shortened(lines.slice(found, found + mostLines));
  }
  return shortened(lines.slice(-mostLines));
}

function shortened(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.trim().slice(0, mostCharacters));
}

/**
 * The error's message with the most informative lines of stderr appended, because an exit code or a deadline alone says
 * little. The error's `stderr` has all the lines that were kept.
 */
export function withStderrSummary({ message, data }: GatewayError): string {
  const stderr = Array.isArray(data?.["stderr"]) ? (data["stderr"] as readonly unknown[]).map(String) : [];
  const words = summarizeStderr(stderr);
  return words.length === 0 ? message : `${message}; its last output: ${words.join(" | ")}`;
}

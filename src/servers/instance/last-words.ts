import type { GatewayError } from "../../kernel/gateway-error.ts";

/** A kind of line that tells why a program ended, more surely than one further down in this table. */
interface Telling {
  readonly pattern: RegExp;
  /** Of several such lines: a program that goes down names the cause first, a Python traceback last. */
  readonly which: "first" | "last";
}

const tellings: readonly Telling[] = [
  // npm tells the cause in the lines after its code; where its log is stands below.
  { pattern: /^npm (?:error|ERR!) (?:code \S+$|4\d\d .*\S)/, which: "first" },
  { pattern: /Cannot find (?:module|package) |\bMODULE_NOT_FOUND\b/, which: "first" },
  { pattern: /Cannot connect to the Docker daemon|^docker: |Error response from daemon/, which: "first" },
  { pattern: /\b(?:EADDRINUSE|EACCES|ECONNREFUSED|ENOTFOUND|ENOENT|ENOSPC)\b/, which: "first" },
  { pattern: /: (?:command )?not found$|: Permission denied$|is not recognized as /, which: "first" },
  { pattern: /^[\w.]*(?:Error|Exception|Interrupt)(?:: |$)/, which: "last" },
  { pattern: /error|exception|fatal|panic/i, which: "last" },
];

/** Frames of a stack, and what programs say when everything has been said. */
const untelling = /^\s*at |A complete log of this run|^\s*$|^npm (?:error|ERR!)\s*(?:\d{3}\s*)?$|^Node\.js v\d/;

const mostLines = 3;
const mostCharacters = 200;

/**
 * The few lines of stderr that say most about why a program ended; its last ones, where none says more than another.
 * Pure.
 */
export function tellingLines(stderr: readonly string[]): readonly string[] {
  const lines = stderr.filter((line) => !untelling.test(line));
  for (const { pattern, which } of tellings) {
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
 * An exit code or a deadline says little: what a server wrote before says more. All that is kept is in the error's
 * `stderr`.
 */
export function withLastWords({ message, data }: GatewayError): string {
  const stderr = Array.isArray(data?.["stderr"]) ? (data["stderr"] as readonly unknown[]).map(String) : [];
  const words = tellingLines(stderr);
  return words.length === 0 ? message : `${message}; its last words: ${words.join(" | ")}`;
}

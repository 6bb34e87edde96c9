import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Closed } from "../../upstream/connection.ts";

/** The failure that a call gets when its connection ended. */
export function toClosedCause(
  server: string,
  hasProcess: boolean,
  closed: Closed,
  stderr: readonly string[],
): GatewayError {
  if (closed.kind === "exited") {
    const how = closed.signal === null ? `exited with code ${closed.code}` : `was killed by ${closed.signal}`;
    return new GatewayError("UPSTREAM_CLOSED", `${server} ${how}`, {
      data: { exitCode: closed.code, signal: closed.signal, stderr: closed.stderr },
    });
  }
  if (closed.kind === "moved") return new GatewayError("INSTANCE_MOVED", `${server} runs at another node by now`);
  const message = closed.kind === "lost" ? closed.reason : `${server} was stopped`;
  return hasProcess
    ? new GatewayError("UPSTREAM_CLOSED", message, { data: { stderr } })
    : new GatewayError("CONNECT_FAILED", message);
}

/** Whether a process ended in good order: such servers serve one call, or end when they are not used. */
export function isCleanEnd(closed: Closed): boolean {
  return closed.kind === "exited" && closed.code === 0 && closed.signal === null && closed.inFlight === 0;
}

/** Why a server's state is lost, as a sentence that begins with "it". */
export function toEndReason(closed: Closed): string {
  if (isCleanEnd(closed)) return "it ended on its own: exit code 0";
  if (closed.kind === "exited")
    return closed.signal === null ? `it crashed: exit code ${closed.code}` : `it crashed: killed by ${closed.signal}`;
  if (closed.kind === "moved")
    return closed.isLost === true ? `its node ${closed.node} was lost` : `it moved away from ${closed.node}`;
  return closed.kind === "lost" ? `its connection was lost: ${closed.reason}` : "it was stopped";
}

/** The server is elsewhere, or no node may run it now: nothing is wrong with it, and another start finds out. */
export function isElsewhere({ code }: GatewayError): boolean {
  return code === "INSTANCE_MOVED" || code === "NODE_FENCED" || code === "NODE_SILENT";
}

/** A new error object for each caller, because each needs its own stack and may be changed on its way. */
export function copyOf(cause: GatewayError, message: string = cause.message): GatewayError {
  return new GatewayError(cause.code, message, {
    hint: cause.hint,
    ...(cause.data === undefined ? {} : { data: cause.data }),
  });
}

/** No call can have taken effect in a process that ended while it was started. */
export function withStartHint({ code, message, data }: GatewayError): GatewayError {
  return new GatewayError(code, message, {
    hint: "Its last output says why it ended; run its command in a terminal to see all of it.",
    ...(data === undefined ? {} : { data }),
  });
}

/** Exit code and signal of the server's process; null where unknown. */
export function exitOf(cause: GatewayError): { readonly exitCode: number | null; readonly signal: string | null } {
  const { exitCode, signal } = cause.data ?? {};
  return {
    exitCode: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal : null,
  };
}

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
  return words.length === 0 ? message : `${message}${summaryMark}${words.join(" | ")}`;
}

const summaryMark = "; its last output: ";

/** The message alone, for those who are shown the lines themselves. */
export function withoutStderrSummary(message: string): string {
  return message.split(summaryMark, 1).join("");
}

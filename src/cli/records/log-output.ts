import { writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { givenOption } from "../../config/given.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";

/** Where the lines of the log go. */
export interface LogOutput {
  /** Writes one JSON line, including its line feed. Never throws, never waits. */
  readonly write: (line: string) => void;
  /** The file that contains the lines, if there is one. */
  readonly file: string | undefined;
}

export type LogFormat = (typeof formats)[number];

const formats = ["json", "pretty", "file"] as const;

/** The value of `--log-format`. Undefined when it is not given. Throws CONFIG_INVALID for an unknown word. */
export function readLogFormat(context: CommandContext): LogFormat | undefined {
  const given = givenOption(context, "log-format");
  if (given === undefined) return undefined;
  const format = formats.find((name) => name === given.text);
  if (format !== undefined) return format;
  throw new GatewayError("CONFIG_INVALID", `${given.name}: expected json, pretty or file`, {
    hint: `Correct ${given.name}, or leave it out.`,
  });
}

export interface LogOutputOptions {
  readonly format: LogFormat | undefined;
  /** Undefined when stderr is no terminal. */
  readonly screen: TerminalScreen | undefined;
  /** The folder of this gateway in the data directory. */
  readonly folder: string;
}

/**
 * Programs read JSON lines on stderr. On a terminal, a person reads warnings as plain lines, and the whole log goes to
 * a file in the data directory. `--log-format` sends the whole log to stderr in the named form, or to that file alone:
 * the file is rotated, whereas the target of stderr may grow without limit.
 */
export async function openLogOutput({ format, screen, folder }: LogOutputOptions): Promise<LogOutput> {
  if (format === "pretty") return { write: (line) => show(toPlainLine(line), screen), file: undefined };
  if (format === "json" || (format === undefined && screen === undefined))
    return { write: (line) => show(line, screen), file: undefined };
  const file = await openLogFile(join(folder, "logs"));
  return {
    write(line) {
      file.write(line);
      if (format === undefined && isWarning(line)) screen?.print(toPlainLine(line));
    },
    file: join(folder, "logs", logName),
  };
}

const logName = "gateway.log";
/** About what a busy gateway writes in a day. With the older files the log takes at most 20 MB. */
const fileSize = "5M";
const olderFiles = 3;

async function openLogFile(folder: string): Promise<{ write(line: string): void }> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const { createStream } = await import("rotating-file-stream");
  const name = (index: number | Date | null): string => (typeof index === "number" ? `gateway.${index}.log` : logName);
  const stream = createStream(name as (index: number | Date | null) => string, {
    path: folder,
    size: fileSize,
    rotate: olderFiles,
    mode: 0o600,
  });
  // A full disk must not end the gateway. What cannot be written is lost.
  stream.on("error", () => undefined);
  return { write: (line) => void stream.write(line) };
}

function show(line: string, screen: TerminalScreen | undefined): void {
  if (screen !== undefined) {
    screen.print(line);
    return;
  }
  try {
    writeSync(2, line);
  } catch {
    // EAGAIN or EPIPE: there is no reader.
  }
}

function isWarning(line: string): boolean {
  return /^\{"level":"(?:warn|error|fatal)"/.test(line);
}

/** A line such as `14:02:11 warning: github: it ended with code 1`. */
export function toPlainLine(line: string): string {
  const entry = parseEntry(line);
  const text = (name: string): string | undefined => {
    const value = entry[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const level = text("level");
  const word = level === "warn" ? "warning: " : level === "error" || level === "fatal" ? "error: " : "";
  const message = text("msg") ?? "";
  const server = text("server");
  // Many messages already begin with the name of their server.
  const about = server === undefined || message.startsWith(`${server}:`) ? "" : `${server}: `;
  const time = new Date(text("time") ?? Date.now()).toTimeString().slice(0, 8);
  const error = isJsonObject(entry["err"]) ? entry["err"]["message"] : undefined;
  const cause = typeof error === "string" && error !== message ? ` (${error})` : "";
  return `${plainText(`${time} ${word}${about}${message}${cause}`)}\n`;
}

function parseEntry(line: string): Readonly<Record<string, unknown>> {
  try {
    const entry: unknown = JSON.parse(line);
    return isJsonObject(entry) ? entry : { msg: line };
  } catch {
    return { msg: line.trimEnd() };
  }
}

import { writeSync } from "node:fs";
import { pino } from "pino";
import type { Log, LogFields } from "../../kernel/runtime/log.ts";
import { cutTexts } from "../redaction/peer-text.ts";

/** How to log. */
export interface PinoLogOptions {
  readonly level: string;
  /** Takes secrets out of a line (`Redaction.text`). */
  readonly redact: (text: string) => string;
  /** Writes a line; stderr by default. */
  readonly write?: (line: string) => void;
}

/**
 * A log that writes one JSON object per line to stderr, synchronously. Secrets are redacted in every field (fault J).
 */
export function createPinoLog(options: PinoLogOptions): Log {
  const write = options.write ?? ((line: string) => writeAll(line));
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(options.redact(line)) },
  );
  // What a peer said may be in any of them.
  const log = (level: keyof Log) => (fields: LogFields, message: string) =>
    logger[level](withShortTexts(fields, options.redact), String(cutTexts(message, options.redact)));
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

function withShortTexts(fields: LogFields, redact: (text: string) => string): LogFields {
  let short = fields;
  for (const [name, value] of Object.entries(fields)) {
    const cut = value instanceof Error ? withShortMessage(value, redact) : cutTexts(value, redact);
    if (cut !== value) short = { ...short, [name]: cut };
  }
  return short;
}

/** As pino writes an error. */
function withShortMessage(error: Error, redact: (text: string) => string): unknown {
  const { name: type, message, stack = "" } = error;
  return message.length + stack.length > longestError ? cutTexts({ type, message, stack }, redact) : error;
}

const longestError = 16_384;

/** Writes a line. One that cannot be written is lost, because a full pipe must not end the gateway. */
function writeAll(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // EAGAIN or EPIPE: stderr has no reader.
  }
}

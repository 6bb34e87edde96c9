import { writeSync } from "node:fs";
import { pino } from "pino";
import type { Log, LogFields } from "../kernel/log.ts";

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
  return {
    debug: (fields: LogFields, message: string) => logger.debug(fields, message),
    info: (fields: LogFields, message: string) => logger.info(fields, message),
    warn: (fields: LogFields, message: string) => logger.warn(fields, message),
    error: (fields: LogFields, message: string) => logger.error(fields, message),
  };
}

/** Writes a line. One that cannot be written is lost, because a full pipe must not end the gateway. */
function writeAll(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // EAGAIN or EPIPE: nobody reads stderr.
  }
}

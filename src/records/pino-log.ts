import { writeSync } from "node:fs";
import { pino } from "pino";
import type { Log, LogFields } from "../kernel/log.ts";

/** How to log, and what to redact. */
export interface PinoLogOptions {
  readonly level: string;
  /** Secret values, which are redacted wherever they occur. */
  readonly secrets: () => ReadonlySet<string>;
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
    { write: (line: string) => write(redact(line, options.secrets())) },
  );
  return {
    debug: (fields: LogFields, message: string) => logger.debug(fields, message),
    info: (fields: LogFields, message: string) => logger.info(fields, message),
    warn: (fields: LogFields, message: string) => logger.warn(fields, message),
    error: (fields: LogFields, message: string) => logger.error(fields, message),
  };
}

/** Replaces every secret in a text, also where it is escaped as in JSON. */
export function redact(text: string, secrets: ReadonlySet<string>): string {
  const found: string[] = [];
  for (const secret of secrets) {
    if (text.includes(secret)) found.push(secret);
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret && text.includes(escaped)) found.push(escaped);
  }
  // Longest first: if a shorter secret is the beginning of a longer one, replacing it first would leave the longer
  // one's end.
  found.sort((one, other) => other.length - one.length);
  return found.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

/** Writes a line. One that cannot be written is lost, because a full pipe must not end the gateway. */
function writeAll(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // EAGAIN or EPIPE: nobody reads stderr.
  }
}

import { writeSync } from "node:fs";
import { pino } from "pino";
import type { Log, LogFields } from "../kernel/log.ts";

export interface PinoLogOptions {
  readonly level: string;
  /** Values that must never be written. */
  readonly secrets: () => ReadonlySet<string>;
  /** Where lines go: stderr, unless a test wants to read them. */
  readonly write?: (line: string) => void;
}

/** One JSON object per line on stderr, written at once; secrets are replaced whatever field they stand in (fault J). */
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

/** Replaces every secret in a text, also in the form that JSON gives it. */
export function redact(text: string, secrets: ReadonlySet<string>): string {
  const found: string[] = [];
  for (const secret of secrets) {
    if (text.includes(secret)) found.push(secret);
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret && text.includes(escaped)) found.push(escaped);
  }
  // The longest first: one may be the beginning of another, whose end would be left.
  found.sort((one, other) => other.length - one.length);
  return found.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

/** A full pipe must not end the gateway: what cannot be written is lost. */
function writeAll(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // EAGAIN or EPIPE: nobody reads.
  }
}

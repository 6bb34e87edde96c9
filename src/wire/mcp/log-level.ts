/** The severities of RFC 5424, lowest first (2025-11-25, server/utilities/logging). */
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Whether a value is the name of a log level. */
export function isLogLevel(level: unknown): level is string {
  return typeof level === "string" && levels.includes(level);
}

/**
 * Whether a client that asked for messages of level `least` and above gets one of this level. A client that never
 * asked gets everything that its server sends.
 */
export function isWanted(level: unknown, least: string | undefined): boolean {
  return least === undefined || levels.indexOf(String(level)) >= levels.indexOf(least);
}

/** The lowest of the levels that several clients asked for; undefined when there is none. */
export function leastLevel(wanted: readonly string[]): string | undefined {
  return levels.find((level) => wanted.includes(level));
}

/** RFC 5424 severities, least first (2025-11-25, server/utilities/logging). */
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLogLevel(level: unknown): level is string {
  return typeof level === "string" && levels.includes(level);
}

/**
 * Whether a message of that level is for a client that asked for `least` and above; one that never asked gets all
 * that its server sends.
 */
export function isWanted(level: unknown, least: string | undefined): boolean {
  return least === undefined || levels.indexOf(String(level)) >= levels.indexOf(least);
}

/** The most talkative of several; undefined when there is none. */
export function leastLevel(wanted: readonly string[]): string | undefined {
  return levels.find((level) => wanted.includes(level));
}

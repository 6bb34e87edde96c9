import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import type { LogLevel } from "../../store/record-rows.ts";
import type { RecordSink } from "./record-sink.ts";

/** Lines of a flood say nothing new, and the newest hundred are kept in any case. */
const linesPerSecond = 50;
/** Longer lines are cut: stack traces fit. */
const longestLine = 4_096;

/** Replaces the lines of a second that were too many. */
export const floodMark = "[further lines of this second were not recorded]";

/** Records what servers write to stderr and send as log messages. Returns the function that ends that. */
export function logServers(events: Pick<EventBus, "on">, sink: Pick<RecordSink, "append">): () => void {
  /** Lines of this second, by instance. */
  let counted = new Map<string, number>();
  let second = 0;
  return events.on(["mcp.server.logs"], (event) => {
    const now = Math.floor(event.atMs / 1_000);
    if (now !== second) {
      second = now;
      counted = new Map();
    }
    const count = (counted.get(event.instance) ?? 0) + 1;
    counted.set(event.instance, count);
    if (count > linesPerSecond + 1) return;
    const isLast = count > linesPerSecond;
    sink.append("log", {
      atMs: event.atMs,
      team: event.team ?? null,
      instance: event.instance,
      server: event.server,
      level: isLast ? "warning" : levelOf(event),
      line: isLast ? floodMark : event.line.slice(0, longestLine),
    });
  });
}

/** What the protocol calls levels (2025-11-25, server/utilities/logging), as four of them. */
const levels: Readonly<Record<string, LogLevel>> = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warning",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
};

/** The level of a line: said by the protocol, or guessed from what a program wrote to stderr. */
export function levelOf({ level, line }: Pick<EventOf<"mcp.server.logs">, "level" | "line">): LogLevel {
  return levels[level] ?? guessLevel(line);
}

/** A word in capitals, in brackets or before a colon near the beginning, as loggers write it; or a number of pino's. */
const named = /(?:^|[\s[("|<])(FATAL|CRITICAL|PANIC|ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE)(?=[\s\]):|>",]|$)/;
const lowerNamed = /^(?:\S{0,40}\s+){0,3}\[?(fatal|panic|error|warn|warning|info|debug|trace)(?:\]|:)/;
const asField = /"?level"?\s*[=:]\s*"?(fatal|panic|error|warn(?:ing)?|info|debug|trace|[1-6]0)\b/i;
const failing = /^(?:Uncaught\s+)?(?:[A-Z]\w*)?(?:Error|Exception)\b|^Traceback |^\s+at .+:\d+|^npm (?:ERR!|error)/;

function guessLevel(line: string): LogLevel {
  const start = line.slice(0, 200);
  const word = named.exec(start)?.[1] ?? asField.exec(start)?.[1] ?? lowerNamed.exec(start)?.[1];
  if (word === undefined) return failing.test(start) ? "error" : "info";
  switch (word.toLowerCase()) {
    case "fatal":
    case "critical":
    case "panic":
    case "error":
    case "err":
    case "50":
    case "60":
      return "error";
    case "warn":
    case "warning":
    case "40":
      return "warning";
    case "debug":
    case "trace":
    case "10":
    case "20":
      return "debug";
    default:
      return "info";
  }
}

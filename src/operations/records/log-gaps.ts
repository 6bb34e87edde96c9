import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import { floodMark } from "../../records/calls/server-lines.ts";
import type { ServerLogLine } from "../../store/record-rows.ts";

/** Lines that servers wrote while somebody read along, and that were never there to be read. */
export interface LostLines extends Disposable {
  /** Before the records are read: what was written until now has to be among them. */
  begin(): void;
  /**
   * With the rows that were found. Returns how many lines are lost for certain and were not told before: those that
   * were missing at the last look already, because a slow disk may still write the lines that are missing at this one.
   */
  end(found: readonly Pick<ServerLogLine, "atMs" | "line">[]): number;
  /** Whether some are missing that may still be found. */
  readonly isUnsure: boolean;
}

/**
 * Only the newest hundred lines of an instance are kept, and fifty a second are recorded: a reader that stalls, and one
 * of a flood, misses others. Every line is an event, so that those which are not found can be counted.
 *
 * @param isWanted whether a line is among those that are read
 */
export function countLostLines(
  events: Pick<EventBus, "on">,
  isWanted: (line: EventOf<"mcp.server.logs">) => boolean,
): LostLines {
  const startMs = Date.now();
  let written = 0;
  let settled = 0;
  let writtenAtLook = 0;
  let missing = 0;
  const stop = events.on(["mcp.server.logs"], (line) => {
    if (isWanted(line)) written += 1;
  });
  return {
    begin() {
      writtenAtLook = written;
    },
    end(found) {
      settled += found.filter(({ atMs, line }) => atMs >= startMs && line !== floodMark).length;
      const missingNow = Math.max(0, writtenAtLook - settled);
      const lost = Math.min(missing, missingNow);
      settled += lost;
      missing = missingNow - lost;
      return lost;
    },
    get isUnsure() {
      return missing > 0;
    },
    [Symbol.dispose]: stop,
  };
}

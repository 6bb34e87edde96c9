import type { EventBus } from "../../kernel/events/event-bus.ts";
import { publishedTypes, type PublishedEvent, type PublishedType } from "../../kernel/events/published-events.ts";

/** Events that are recorded elsewhere (calls, lines of servers), or that say nothing a day later. */
const unrecorded: ReadonlySet<PublishedType> = new Set([
  "mcp.request.logs",
  "mcp.server.logs",
  "namespace.used",
  "resource.updated",
  "search.done",
]);

/** A server that deviates from the protocol in every message says nothing new with the next one. */
const mostInSecond = 20;
/** Events that wait until the recorder is loaded: what happens in a start with many servers. */
const mostWaiting = 500;

/** The events that are recorded, from the start on, although what records them is loaded later. */
export interface RecordedEvents {
  /** From now on events go there, those that waited first. */
  open(record: (event: PublishedEvent) => void): void;
  stop(): void;
}

export function collectEvents(events: Pick<EventBus, "on">): RecordedEvents {
  let waiting: PublishedEvent[] | undefined = [];
  let record: ((event: PublishedEvent) => void) | undefined;
  let second = 0;
  let counted = new Map<string, number>();

  /** By instance and type, so that a crash is recorded beside a flood of oddities. */
  function isFlood(event: PublishedEvent): boolean {
    const now = Math.floor(event.atMs / 1_000);
    if (now !== second) {
      second = now;
      counted = new Map();
    }
    const key = `${event.type} ${"instance" in event ? event.instance : ""}`;
    const count = (counted.get(key) ?? 0) + 1;
    counted.set(key, count);
    return count > mostInSecond;
  }

  const types = publishedTypes.filter((type) => !unrecorded.has(type));
  const unsubscribe = events.on(types, (event) => {
    if (isFlood(event)) return;
    if (record !== undefined) record(event);
    else if (waiting !== undefined && waiting.length < mostWaiting) waiting.push(event);
  });
  return {
    open(to) {
      record = to;
      waiting?.forEach(to);
      waiting = undefined;
    },
    stop() {
      unsubscribe();
      waiting = undefined;
    },
  };
}

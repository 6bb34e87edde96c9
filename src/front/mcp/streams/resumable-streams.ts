import { randomUUID } from "node:crypto";
import { createEventLog, parseEventId, type EventLog } from "./event-log.ts";

/**
 * The event streams of one legacy session that its client may come back to with Last-Event-ID (2025-11-25,
 * transports, resumability).
 */
export interface ResumableStreams {
  /** A log for a new stream; undefined when the client's revision has no resumable streams. */
  open(): EventLog | undefined;
  /** The stream and the event in it that a Last-Event-ID names; undefined when it is none of these, or forgotten. */
  find(lastEventId: string): { readonly log: EventLog; readonly number: number } | undefined;
}

/** Streams that are kept per session; beyond it the oldest is forgotten. Each log has limits of its own. */
const mostLogs = 16;
/** What the client is told to wait before it comes back to a stream that broke off. */
export const clientRetryMs = 1_000;
/** Revisions whose clients understand an event without data (2025-11-25, transports; SEP-1699). */
const resumableRevisions: ReadonlySet<string> = new Set(["2025-11-25"]);

export function createResumableStreams(revision: string): ResumableStreams {
  const logs = new Map<string, EventLog>();
  return {
    open() {
      if (!resumableRevisions.has(revision)) return undefined;
      const log = createEventLog(randomUUID(), clientRetryMs);
      logs.set(log.id, log);
      for (const id of logs.keys()) {
        if (logs.size <= mostLogs) break;
        logs.delete(id);
      }
      return log;
    },
    find(lastEventId) {
      const place = parseEventId(lastEventId);
      const log = place === undefined ? undefined : logs.get(place.stream);
      return log === undefined || place === undefined ? undefined : { log, number: place.number };
    },
  };
}

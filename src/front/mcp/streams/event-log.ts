import { randomUUID } from "node:crypto";
import { eventText, primeText } from "../../../wire/sse/event-text.ts";

/**
 * The event streams of one legacy session that its client may come back to with Last-Event-ID (2025-11-25,
 * transports, resumability).
 */
export interface ResumableStreams {
  /**
   * A log for a new stream; undefined when the client's revision has no resumable streams.
   *
   * @param idText the id of the request that it answers
   */
  open(idText?: string): EventLog | undefined;
  /** The stream and the event in it that a Last-Event-ID names; undefined when it is none of these, or forgotten. */
  find(lastEventId: string): { readonly log: EventLog; readonly number: number } | undefined;
}

/** Streams that are kept per session; beyond it the oldest is forgotten. Each log has limits of its own. */
const mostLogs = 16;
/** What the client is told to wait before it comes back to a stream that broke off. */
export const clientRetryMs = 1_000;
/** Revisions whose clients understand an event without data (2025-11-25, transports; SEP-1699). */
const resumableRevisions: ReadonlySet<string> = new Set(["2025-11-25"]);

/** Of ids of requests that are told to other nodes; longer ones are not. */
const longestIdText = 100;

/** `node`: this node of a cluster, which ids of streams begin with; undefined where the gateway is alone. */
export function createResumableStreams(revision: string, node?: string): ResumableStreams {
  const logs = new Map<string, EventLog>();

  function name(idText: string): string {
    if (node === undefined) return randomUUID();
    const request = idText.length > longestIdText ? "" : Buffer.from(idText, "latin1").toString("base64url");
    return `${node}.${request}.${randomUUID()}`;
  }

  return {
    open(idText = "") {
      if (!resumableRevisions.has(revision)) return undefined;
      const log = createEventLog(name(idText), clientRetryMs);
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

/**
 * What was sent on one stream of a legacy session, kept for a client that comes back with Last-Event-ID (2025-11-25,
 * transports, resumability). Bounded: what does not fit is forgotten from the front, and a client that wants it
 * starts over.
 */
export interface EventLog {
  readonly id: string;
  /** The text of the first event: an id without data, so that the client can come back from the start. */
  prime(): string;
  /** Keeps a message and returns the text of its event. */
  append(message: string): string;
  end(): void;
  readonly ended: boolean;
  /** Whether a client that came back is being sent new events. */
  readonly isFollowed: boolean;
  /** The events behind number `after`, and then every new one, until the listener is taken off again. */
  follow(after: number, listener: EventListener): () => void;
}

export interface EventListener {
  onEvent(text: string): void;
  onEnd(): void;
}

const keptEvents = 256;
const keptBytes = 4 * 1024 * 1024;

export function createEventLog(id: string, retryMs: number): EventLog {
  let events: { readonly number: number; readonly text: string }[] = [];
  let bytes = 0;
  let lastNumber = 0;
  let ended = false;
  const listeners = new Set<EventListener>();

  function keep(text: string): void {
    events.push({ number: lastNumber, text });
    bytes += text.length;
    while (events.length > keptEvents || bytes > keptBytes) {
      bytes -= events[0]?.text.length ?? 0;
      events = events.slice(1);
    }
  }

  return {
    id,
    prime: () => primeText(`${id}_0`, retryMs),
    append(message) {
      lastNumber += 1;
      const text = eventText("message", message, `${id}_${lastNumber}`);
      keep(text);
      for (const listener of listeners) listener.onEvent(text);
      return text;
    },
    end() {
      ended = true;
      for (const listener of listeners) listener.onEnd();
      listeners.clear();
    },
    get ended() {
      return ended;
    },
    get isFollowed() {
      return listeners.size > 0;
    },
    follow(after, listener) {
      for (const event of events) if (event.number > after) listener.onEvent(event.text);
      if (ended) {
        listener.onEnd();
        return () => undefined;
      }
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Splits `{stream}_{number}`; undefined when it is not one of ours. */
export function parseEventId(text: string): { readonly stream: string; readonly number: number } | undefined {
  const form = /^([A-Za-z0-9._-]+)_(\d{1,9})$/.exec(text);
  return form?.[1] === undefined || form[2] === undefined ? undefined : { stream: form[1], number: Number(form[2]) };
}

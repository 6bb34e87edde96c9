import type { ServerResponse } from "node:http";
import type { LiveEvents, LiveReader } from "../../../records/events/live-events.ts";
import { asciiText } from "../../../wire/json/ascii-json.ts";
import { eventStreamType, eventText, keepAliveText, primeText } from "../../../wire/sse/event-text.ts";
import type { Headers } from "../answer.ts";

export interface EventFeedOptions {
  readonly response: ServerResponse;
  readonly headers: Headers;
  /** The last event that the reader has seen. */
  readonly position: string | undefined;
}

/**
 * What may wait for a reader: four lists of a hundred tools, or a thousand other events. One that reads more slowly is
 * left; it comes back and is told what it missed, or that it missed something (fault 26).
 */
const mostWaitingBytes = 1024 * 1024;
const keepAliveMs = 15_000;
/** When a reader whose stream was cut comes back. */
const retryMs = 2_000;

/** Sends events on a response until its reader goes, does not read, or may not read any more. */
export function openEventFeed(
  live: Pick<LiveEvents, "follow">,
  { principal, wants }: Pick<LiveReader, "principal" | "wants">,
  { response, headers, position }: EventFeedOptions,
): void {
  const isFull = (): boolean => response.writableLength > mostWaitingBytes;

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    response.write(text, "latin1");
  }

  function send(text: string): void {
    if (isFull()) response.destroy();
    else write(text);
  }

  response.writeHead(200, {
    ...headers,
    "Content-Type": eventStreamType,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  const reading = live.follow(
    {
      principal,
      wants,
      onEvent: (type, text, id) => send(eventText(type, asciiText(text), id)),
      isFull,
      onReset: (id) => write(eventText("reset", "{}", id)),
      onEnd: () => response.end(),
    },
    position,
  );
  // A reader who is cut off before the first event can come back to this place.
  write(primeText(reading.position, retryMs));
  const keepAlive = setInterval(() => send(keepAliveText), keepAliveMs);
  keepAlive.unref();
  response.once("close", () => {
    clearInterval(keepAlive);
    reading.leave();
  });
}

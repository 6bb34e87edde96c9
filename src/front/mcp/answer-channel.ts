import type { ServerResponse } from "node:http";
import { asciiJson } from "../../protocol/ascii-json.ts";
import { toEventData } from "./event-data.ts";
import type { EventLog } from "./event-log.ts";

/**
 * The way back for one request over HTTP. Starts as a single JSON answer; becomes an event stream when something has to be said
 * before the answer, and the client takes event streams. All text is latin1: see `protocol/ascii-json.ts`.
 */
export interface AnswerChannel {
  /** Sends a message that belongs to this request, before its answer; false when the client takes no streams. */
  send(message: string): boolean;
  /** The answer: `body` is `"result":…` or `"error":…`. Nothing can be sent after it. */
  finish(body: string, httpStatus?: number): void;
  /** Ends the response without an answer (a notification that was accepted, a client that is gone). */
  readonly gone: boolean;
  readonly streaming: boolean;
}

export interface AnswerChannelOptions {
  readonly idText: string;
  readonly acceptsStream: boolean;
  /** False for a client that takes nothing but event streams. */
  readonly acceptsJson: boolean;
  readonly headers: readonly string[];
  /** Makes the place where events are kept for a client that comes back (legacy sessions); undefined where streams are not resumable. */
  readonly openLog: (() => EventLog | undefined) | undefined;
  /** Bytes that may wait for a client that reads slowly; beyond it the stream is closed (FAULTS.md 26). */
  readonly bufferBytes: number;
  /** Comment lines while nothing else is said, so that nobody on the way closes the stream. */
  readonly keepAliveMs: number;
  readonly onGone: () => void;
}

const jsonHeaders = ["Content-Type", "application/json"];
const streamHeaders = ["Content-Type", "text/event-stream", "Cache-Control", "no-cache, no-transform", "X-Accel-Buffering", "no"];

export function createAnswerChannel(response: ServerResponse, options: AnswerChannelOptions): AnswerChannel {
  let streaming = false;
  let finished = false;
  let gone = false;
  let keepAlive: NodeJS.Timeout | undefined;
  let events: EventLog | undefined;

  response.on("close", () => {
    clearInterval(keepAlive);
    if (finished || gone) return;
    gone = true;
    options.onGone();
  });

  function openStream(): void {
    streaming = true;
    response.writeHead(200, [...streamHeaders, ...options.headers]);
    events = options.openLog?.();
    if (events !== undefined) write(events.prime());
    keepAlive = setInterval(() => write(": keep-alive\n\n"), options.keepAliveMs);
    keepAlive.unref();
  }

  function write(text: string): void {
    if (gone) return;
    if (response.writableLength > options.bufferBytes) {
      response.destroy();
      return;
    }
    response.write(text, "latin1");
  }

  function writeEvent(message: string): void {
    if (events !== undefined) write(events.append(message));
    else write(`event: message\ndata: ${toEventData(message)}\n\n`);
  }

  return {
    get gone() {
      return gone;
    },
    get streaming() {
      return streaming;
    },
    send(message) {
      if (finished || !options.acceptsStream) return false;
      if (!streaming && !gone) openStream();
      writeEvent(message);
      return true;
    },
    finish(body, httpStatus = 200) {
      if (finished) return;
      const message = `{"jsonrpc":"2.0","id":${options.idText},${body}}`;
      if (!streaming && !options.acceptsJson && httpStatus === 200 && !gone) openStream();
      finished = true;
      if (streaming) {
        writeEvent(message);
        events?.end();
        if (!gone) response.end();
        return;
      }
      if (gone) return;
      response.writeHead(httpStatus, [...jsonHeaders, "Content-Length", String(message.length), ...options.headers]);
      response.end(message, "latin1");
    },
  };
}

/** The `"error":…` part of an answer. */
export function errorBody(error: { readonly code: number; readonly message: string; readonly data?: unknown }): string {
  return `"error":${asciiJson(error.data === undefined ? { code: error.code, message: error.message } : { code: error.code, message: error.message, data: error.data })}`;
}

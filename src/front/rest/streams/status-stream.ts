import type { ServerResponse } from "node:http";
import type { Instance } from "../../../servers/instance/instance.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { eventStreamType, eventText, keepAliveText } from "../../../wire/sse/event-text.ts";
import type { Headers } from "../answer.ts";

/** The state of an instance. */
export interface StatusLine {
  readonly instance: string;
  readonly server: string;
  readonly status: string;
  readonly dormant: boolean;
  readonly reason: string;
}

export interface StatusStreamOptions {
  readonly response: ServerResponse;
  readonly headers: Headers;
  /** The stream ends with one of these; none: it goes on. */
  readonly until: ReadonlySet<string>;
  /** Undefined when it is not there any more, or not for this reader. */
  readonly read: () => StatusLine | undefined;
  /** Calls back when something may have changed. Returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
  /** Calls `end` when the reader may not read any more. Returns what ends that. */
  readonly onGone: (end: () => void) => () => void;
}

const keepAliveMs = 15_000;
/** Of a reader that does not read: some hundred statuses. It can ask again, and knows the status then. */
const mostWaitingBytes = 64 * 1024;

export function readStatus(instance: Instance, redact: (text: string) => string): StatusLine {
  const { status, dormant, reason } = instance.statusView();
  return { instance: instance.id, server: instance.server.slug, status, dormant, reason: redact(reason) };
}

/** Sends the status of one instance on a response, now and whenever it is another one. */
export function openStatusStream(options: StatusStreamOptions): void {
  const { response, headers, until, read, onChange, onGone } = options;
  let last = "";

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > mostWaitingBytes) response.destroy();
    else response.write(text, "latin1");
  }

  function tell(): void {
    const line = read();
    if (line === undefined) {
      write(eventText("gone", "{}"));
      response.end();
      return;
    }
    const text = asciiJson(line);
    if (text !== last) write(eventText("status", text));
    last = text;
    if (until.has(line.status)) response.end();
  }

  response.writeHead(200, {
    ...headers,
    "Content-Type": eventStreamType,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  const stopListening = onChange(tell);
  const stopWaiting = onGone(() => response.end());
  // One that was taken away changes its status no more.
  const keepAlive = setInterval(() => {
    write(keepAliveText);
    tell();
  }, keepAliveMs);
  keepAlive.unref();
  response.once("close", () => {
    clearInterval(keepAlive);
    stopListening();
    stopWaiting();
  });
  tell();
}

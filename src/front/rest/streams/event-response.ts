import type { ServerResponse } from "node:http";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { eventStreamType, eventText, keepAliveText } from "../../../wire/sse/event-text.ts";
import { toProblem } from "../../http/problem.ts";

/**
 * Server-sent events for one call. Nothing is sent before the first event, so that a call that fails at once is
 * answered with its status.
 */
export interface EventStream {
  send(event: string, data: object): void;
  /** The same with JSON as the server wrote it, as latin1 text. */
  sendText(event: string, data: string): void;
  /** Sends the last event, with JSON as the server wrote it, as latin1 text. */
  end(event: string, data: string): void;
  fail(failure: GatewayError): void;
  readonly isOpen: boolean;
}

/**
 * Bytes that may wait for a client that reads slowly. Beyond this the stream is closed, and the call with it (fault
 * 26).
 */
const bufferBytes = 8 * 1024 * 1024;
const keepAliveMs = 15_000;

/** Sends the head of a stream of events, and calls `beat` from time to time until it ends. Returns what stops that. */
export function beginEvents(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  beat: () => void,
): () => void {
  response.writeHead(200, {
    ...headers,
    "Content-Type": eventStreamType,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  const keepAlive = setInterval(beat, keepAliveMs);
  keepAlive.unref();
  const stop = (): void => clearInterval(keepAlive);
  response.once("close", stop);
  return stop;
}

/** Prepares an event stream. Headers are sent with the first event. */
export function openEventStream(response: ServerResponse, headers: Readonly<Record<string, string>>): EventStream {
  let stopKeepAlive: (() => void) | undefined;
  let isOpen = false;

  function open(): void {
    if (isOpen) return;
    isOpen = true;
    stopKeepAlive = beginEvents(response, headers, () => write(keepAliveText));
  }

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > bufferBytes) response.destroy();
    else response.write(text, "latin1");
  }

  function sendText(event: string, data: string): void {
    open();
    write(eventText(event, data));
  }

  function finish(event: string, data: string): void {
    open();
    write(eventText(event, data));
    stopKeepAlive?.();
    response.end();
  }

  return {
    get isOpen() {
      return isOpen;
    },
    send: (event, data) => sendText(event, asciiJson(data)),
    sendText,
    end: finish,
    fail: (failure) => finish("error", asciiJson(toProblem(failure))),
  };
}

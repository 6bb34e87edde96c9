import type { IncomingMessage, ServerResponse } from "node:http";
import { eventStreamHeaders, keepAliveText } from "../../../wire/sse/event-text.ts";
import { keepAliveMs } from "../streams/answer-channel.ts";
import type { Session } from "./session.ts";

/** Bytes that may wait for a client that came back and reads slowly: more than one log keeps. */
const mostWaitingBytes = 8 * 1024 * 1024;

/**
 * Answers a GET with an event stream (2025-11-25, transports): the session's push channel, or, with Last-Event-ID,
 * the rest of a stream that broke off. `onClose` runs when it ends.
 */
export function openSessionStream(
  session: Session,
  request: IncomingMessage,
  response: ServerResponse,
  onClose: () => void,
): void {
  response.writeHead(200, [...eventStreamHeaders]);
  response.flushHeaders();
  const keepAlive = setInterval(() => response.write(keepAliveText), keepAliveMs);
  keepAlive.unref();
  response.on("close", () => {
    clearInterval(keepAlive);
    onClose();
  });
  const last = request.headers["last-event-id"];
  const place = typeof last === "string" ? session.streams.find(last) : undefined;
  if (place === undefined) {
    session.pushes.attachStream(response);
    return;
  }
  const onEvent = (text: string): void => {
    if (response.writableLength > mostWaitingBytes) response.destroy();
    else response.write(text, "latin1");
  };
  const leave = place.log.follow(place.number, { onEvent, onEnd: () => response.end() });
  response.on("close", leave);
}

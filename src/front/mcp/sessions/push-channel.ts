import type { ServerResponse } from "node:http";
import { eventText } from "../../../wire/sse/event-text.ts";

/**
 * How the gateway reaches one legacy client outside of its requests: notifications, and questions that belong to no
 * call. Over Streamable HTTP this is the GET stream, while the client has one open; over stdio and HTTP+SSE it is the
 * one line that carries everything.
 */
export interface PushChannel {
  /** False when the client has no stream open: then the message is lost, as the revision allows. */
  send(message: string): boolean;
  readonly open: boolean;
  /** Sends on this GET stream from now on, and ends the one before: a client has one at a time. */
  attachStream(stream: ServerResponse, onMessage?: (message: string) => void): void;
  /** Sends by this function from now on. Its owner watches how much waits for the client. */
  attachLine(send: (message: string) => void): void;
  end(): void;
}

/** Bytes that may wait on a GET stream. Beyond it the stream is closed: the client reads too slowly, or not at all. */
const mostWaitingBytes = 8 * 1024 * 1024;

export function createPushChannel(): PushChannel {
  let stream: ServerResponse | undefined;
  let onPush: ((message: string) => void) | undefined;
  let line: ((message: string) => void) | undefined;

  const openStream = (): ServerResponse | undefined =>
    stream === undefined || stream.destroyed || stream.writableEnded ? undefined : stream;

  return {
    send(message) {
      if (line !== undefined) {
        line(message);
        return true;
      }
      const to = openStream();
      if (to === undefined) return false;
      if (to.writableLength > mostWaitingBytes) {
        to.destroy();
        return false;
      }
      onPush?.(message);
      to.write(eventText("message", message), "latin1");
      return true;
    },
    get open() {
      return line !== undefined || openStream() !== undefined;
    },
    attachStream(next, onMessage) {
      stream?.end();
      stream = next;
      onPush = onMessage;
    },
    attachLine(send) {
      line = send;
    },
    end() {
      stream?.end();
    },
  };
}

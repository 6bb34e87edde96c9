import type { ServerResponse } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import { eventPieces, eventText } from "../../../wire/sse/event-text.ts";
import type { WireText } from "../answers/result-text.ts";

/**
 * Events on one response that carries the answers to many requests. What waits for the client to read them is bounded
 * in two steps: first the client is not listened to until it has read, then it is left.
 */
export interface PacedEvents {
  /** Whether the stream has ended, from either side. */
  readonly over: boolean;
  /** Writes text that is an event, or a comment, already. */
  write(text: string): void;
  /** Writes a message as one event; nothing happens when the stream is over. */
  send(message: WireText): void;
  /**
   * Undefined when the client may say something; a wait while it has much left to read, which also ends when the
   * client goes. Throws RATE_LIMITED when many of its messages wait already.
   */
  room(): Promise<void> | undefined;
}

/** Two of the largest results: several may be ready at the same moment. Beyond it the client is left. */
const mostWaitingBytes = 64 * 1024 * 1024;
/** From here on the client has to read before it is listened to. */
const pauseFromBytes = 8 * 1024 * 1024;
/** Messages of the client that may wait until it has read; each is a connection. */
const mostWaitingMessages = 64;
/** The wait that a client is told when it does not read: it is unknown when it will. */
const busyRetryS = 1;

/** `memory` is told of large messages that were written out: their bytes are not used any more. */
export function createPacedEvents(response: ServerResponse, memory: LargeBuffers): PacedEvents {
  let waitingMessages = 0;
  let draining: Promise<void> | undefined;

  const isOver = (): boolean => response.destroyed || response.writableEnded;

  async function untilRead(): Promise<void> {
    waitingMessages += 1;
    draining ??= new Promise<void>((resolve) => {
      response.once("drain", resolve);
      response.once("close", resolve);
    }).then(() => void (draining = undefined));
    await draining;
    waitingMessages -= 1;
  }

  return {
    get over() {
      return isOver();
    },
    write: (text) => void response.write(text, "latin1"),
    send(message) {
      if (isOver()) return;
      if (response.writableLength > mostWaitingBytes) {
        response.destroy();
        return;
      }
      if (typeof message === "string") {
        response.write(eventText("message", message), "latin1");
        return;
      }
      const pieces = eventPieces("message", message);
      const last = pieces.pop() as string | Buffer;
      for (const piece of pieces) response.write(piece, "latin1");
      response.write(last, "latin1", (error) => {
        if (error == null) memory.written(message);
      });
    },
    room() {
      if (isOver() || response.writableLength <= pauseFromBytes) return undefined;
      if (waitingMessages >= mostWaitingMessages)
        throw new GatewayError("RATE_LIMITED", "the client does not read its event stream", {
          data: { retry_after_s: busyRetryS },
        });
      return untilRead();
    },
  };
}

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { AnswerChannel } from "./answer-channel.ts";
import type { Endpoint } from "./endpoint.ts";
import { answerPieces, answerText } from "../../wire/mcp/envelope.ts";
import { eventPieces, eventStreamHeaders, eventText, keepAliveText } from "../../wire/sse/event-text.ts";
import type { WireText } from "./result-text.ts";
import type { Session } from "./session.ts";

/** The event stream of one client of HTTP+SSE (2024-11-05, transports): everything that is said to it goes here. */
export interface SseStream {
  /** Names the stream in the URL that its messages are posted to. No credential: a POST authenticates itself. */
  readonly id: string;
  readonly principal: Principal;
  readonly endpoint: Endpoint;
  /** Made by `initialize`. A client that reconnected by itself goes on without one. */
  session: Session | undefined;
  lastUseMs: number;
  readonly closed: boolean;
  /** The way back for one request; `signal` aborts when the client has cancelled it. */
  openChannel(idText: string, signal: AbortSignal, onGone: () => void): AnswerChannel;
  /** One message. A client that does not read is left when too much waits for it. */
  send(message: WireText): void;
  /**
   * Undefined when the client may say something; a wait while it has much left to read. Throws RATE_LIMITED when many
   * of its messages wait already.
   */
  room(): Promise<void> | undefined;
  end(): void;
}

export interface SseStreamOptions {
  readonly response: ServerResponse;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  /** The path that a proxy serves the gateway below, before the path in the announced URL; usually empty. */
  readonly prefix: string;
  /** What else the announced URL carries, from `&` on. */
  readonly query: string;
  readonly nowMs: number;
  readonly keepAliveMs: number;
  /** Told of large answers that were written out: nobody else looks at their bytes then. */
  readonly memory: LargeBuffers;
  readonly onClose: (stream: SseStream) => void;
}

/** Two of the largest results: all answers share the stream, and several may be ready in one moment. */
const mostWaitingBytes = 64 * 1024 * 1024;
/** From here on a client has to read before it is listened to. */
const pauseFromBytes = 8 * 1024 * 1024;
/** Messages of one client that may wait until it has read; each is a connection. */
const mostWaitingMessages = 64;
/** Nobody knows when a client will read. */
const busyRetryS = 1;

/** Opens the stream, and says where messages are to be posted. */
export function createSseStream(options: SseStreamOptions): SseStream {
  const { response, endpoint, principal } = options;
  const id = randomUUID();
  /** What to do for each request in flight when the client goes. */
  const unanswered = new Set<() => void>();
  let closed = false;
  let waitingMessages = 0;
  let draining: Promise<void> | undefined;

  const isOver = (): boolean => closed || response.destroyed || response.writableEnded;

  function write(text: string | Buffer, written?: (error?: Error | null) => void): void {
    response.write(text, "latin1", written);
  }

  function send(message: WireText): void {
    if (isOver()) return;
    if (response.writableLength > mostWaitingBytes) {
      response.destroy();
      return;
    }
    if (typeof message === "string") {
      write(eventText("message", message));
      return;
    }
    const pieces = eventPieces("message", message);
    const last = pieces.pop() as string | Buffer;
    for (const piece of pieces) write(piece);
    write(last, (error) => {
      if (error == null) options.memory.written(message);
    });
  }

  async function untilRead(): Promise<void> {
    waitingMessages += 1;
    draining ??= new Promise<void>((resolve) => {
      response.once("drain", resolve);
      response.once("close", resolve);
    }).then(() => void (draining = undefined));
    await draining;
    waitingMessages -= 1;
  }

  const stream: SseStream = {
    id,
    principal,
    endpoint,
    session: undefined,
    lastUseMs: options.nowMs,
    get closed() {
      return isOver();
    },
    openChannel(idText, signal, onGone) {
      let finished = false;
      unanswered.add(onGone);
      return {
        get gone() {
          return isOver();
        },
        streaming: true,
        send(message) {
          if (finished || isOver()) return false;
          send(message);
          return true;
        },
        finish(body) {
          unanswered.delete(onGone);
          if (finished) return;
          finished = true;
          // A cancelled request gets no answer (2024-11-05, cancellation).
          if (signal.aborted) return;
          send(typeof body === "string" ? answerText(idText, body) : answerPieces(idText, body));
        },
      };
    },
    send,
    room() {
      if (isOver() || response.writableLength <= pauseFromBytes) return undefined;
      if (waitingMessages >= mostWaitingMessages)
        throw new GatewayError("RATE_LIMITED", "the client does not read its event stream", {
          data: { retry_after_s: busyRetryS },
        });
      return untilRead();
    },
    end() {
      if (!isOver()) response.end();
    },
  };

  response.writeHead(200, [...eventStreamHeaders]);
  write(eventText("endpoint", `${options.prefix}${endpoint.path}/messages?sessionId=${id}${options.query}`));
  const keepAlive = setInterval(() => isOver() || write(keepAliveText), options.keepAliveMs);
  keepAlive.unref();
  response.once("close", () => {
    clearInterval(keepAlive);
    closed = true;
    for (const onGone of unanswered) onGone();
    unanswered.clear();
    options.onClose(stream);
  });
  return stream;
}

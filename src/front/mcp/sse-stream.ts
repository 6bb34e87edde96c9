import { carriageReturn, lineFeed } from "../../wire/json/characters.ts";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Principal } from "../../kernel/principal.ts";
import { streamHeaders, type AnswerChannel } from "./answer-channel.ts";
import type { Endpoint } from "./endpoint.ts";
import { toEventData } from "../../wire/sse/event-data.ts";
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
   * Undefined when the client may say something; a wait while it has much left to read. Throws RATE_LIMITED when many of its messages
   * wait already.
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
      write(`event: message\ndata: ${toEventData(message)}\n\n`);
      return;
    }
    write("event: message\ndata: ");
    for (const piece of message) writeLines(piece, write);
    write("\n\n", (error) => {
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
          const head = `{"jsonrpc":"2.0","id":${idText},`;
          send(typeof body === "string" ? `${head}${body}}` : [head, ...body, "}"]);
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

  response.writeHead(200, [...streamHeaders]);
  write(`event: endpoint\ndata: ${options.prefix}${endpoint.path}/messages?sessionId=${id}${options.query}\n\n`);
  const keepAlive = setInterval(() => isOver() || write(": keep-alive\n\n"), options.keepAliveMs);
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

/** Each line is a data line of its own, as in `event-data.ts`; the bytes between line ends are not copied. */
function writeLines(piece: string | Buffer, write: (text: string | Buffer) => void): void {
  if (typeof piece === "string") {
    write(toEventData(piece));
    return;
  }
  let start = 0;
  for (let at = nextLineEnd(piece, 0); at !== -1; at = nextLineEnd(piece, start)) {
    if (at > start) write(piece.subarray(start, at));
    write("\ndata: ");
    start = at + (piece[at] === carriageReturn && piece[at + 1] === lineFeed ? 2 : 1);
  }
  if (start < piece.length) write(piece.subarray(start));
}

function nextLineEnd(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(lineFeed, from);
  const carriage = bytes.indexOf(carriageReturn, from);
  return feed === -1 || carriage === -1 ? Math.max(feed, carriage) : Math.min(feed, carriage);
}

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { MessageTap, TapPeer } from "../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import { heldId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { AnswerChannel } from "../streams/answer-channel.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { answerPieces, answerText } from "../../../wire/mcp/envelope.ts";
import { eventStreamHeaders, eventText, keepAliveText } from "../../../wire/sse/event-text.ts";
import { createPacedEvents, type PacedEvents } from "../listen/paced-events.ts";
import type { WireText } from "../answers/result-text.ts";
import type { Session } from "../sessions/session.ts";

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
  readonly send: PacedEvents["send"];
  readonly room: PacedEvents["room"];
  end(): void;
}

/** Its client, as those know it who look at messages. */
export function peerOfStream({ id, principal, session }: SseStream): TapPeer {
  return { side: "client", key: id, name: session?.clientName, principal: principal.id };
}

export interface SseStreamOptions {
  readonly response: ServerResponse;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  /** The path that a proxy serves the gateway below, before the path in the announced URL; usually empty. */
  readonly prefix: string;
  /** What else the announced URL carries, from `&` on. */
  readonly query: string;
  /** The node of a cluster that has it, which its id begins with. */
  readonly node: string | undefined;
  readonly nowMs: number;
  readonly keepAliveMs: number;
  /** Told of large answers that were written out: their bytes are not used any more. */
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly onClose: (stream: SseStream) => void;
}

/** Opens the stream, and says where messages are to be posted. */
export function createSseStream(options: SseStreamOptions): SseStream {
  const { response, endpoint, principal } = options;
  const id = heldId(options.node, randomUUID());
  const events = createPacedEvents(response, options.memory);
  /** What to do for each request that has no answer yet when the client goes. */
  const unanswered = new Set<() => void>();

  function send(message: WireText): void {
    options.tap.take?.(peerOfStream(stream), "out", message);
    events.send(message);
  }

  const stream: SseStream = {
    id,
    principal,
    endpoint,
    session: undefined,
    lastUseMs: options.nowMs,
    get closed() {
      return events.over;
    },
    openChannel(idText, signal, onGone) {
      let finished = false;
      unanswered.add(onGone);
      return {
        send(message) {
          if (finished || events.over) return false;
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
    room: events.room,
    end() {
      if (!events.over) response.end();
    },
  };

  response.writeHead(200, [...eventStreamHeaders]);
  events.write(eventText("endpoint", `${options.prefix}${endpoint.path}/messages?sessionId=${id}${options.query}`));
  const keepAlive = setInterval(() => events.over || events.write(keepAliveText), options.keepAliveMs);
  keepAlive.unref();
  response.once("close", () => {
    clearInterval(keepAlive);
    for (const onGone of unanswered) onGone();
    unanswered.clear();
    options.onClose(stream);
  });
  return stream;
}

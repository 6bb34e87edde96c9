import type { Question } from "../../kernel/call/call-context.ts";
import { fromSentFailure, GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createSignal } from "../../kernel/runtime/abort.ts";
import type { Opened } from "../../servers/instance/instance-deps.ts";
import type { Closed, Peer, UpstreamRequest } from "../../servers/upstream/connection.ts";
import type {
  createWaitingRequests,
  WaitingRequest,
  WaitingRequests,
} from "../../servers/upstream/waiting-requests.ts";
import type { FrameStream } from "./frames.ts";
import { moved, packParams, type AnsweringFrame, type SentRequest, type Wants } from "./messages.ts";

/** A connection to an instance at another node, as engine and instance know connections to servers. */
export interface FarConnection {
  toOpened(peer: Peer): Opened;
  /** A frame about one of its requests. */
  take(frame: OfRequests, body: Buffer): void;
  /** It has ended. While there is a link, the other node still answers each request that it was sent. */
  end(how: Closed): void;
}

type OfRequests = Exclude<
  AnsweringFrame,
  { k: "told" | "saying" | "happened" | "opened" | "refused" | "ended" | "event" }
>;
type Ask = Extract<OfRequests, { k: "ask" }>;

export interface FarOptions {
  readonly frames: FrameStream;
  readonly node: string;
  /** The number of the channel. */
  readonly c: number;
  readonly server: string;
  /** Given, so that a gateway that is alone loads no file more for it. */
  readonly waiting: typeof createWaitingRequests;
  /** Nothing more comes for it. */
  readonly onEnd: () => void;
}

export function createFarConnection({ frames, node, c, server, waiting, onEnd }: FarOptions): FarConnection {
  const table = waiting({ server, sendCancel: (_text, id) => frames.send({ k: "cancel", c, id }) });
  const { promise: closed, done: settleClosed } = createSignal<Closed>();
  const answerAsked = createAnswering(frames, c, table);
  let lastActivityMs = performance.now();
  let ended: Closed | undefined;

  function end(how: Closed): void {
    ended ??= how;
    settleClosed(ended);
    const isLost = how.kind === "moved" && how.isLost === true;
    // One that has moved is left by its instance, too; what was sent before is still answered by the other node.
    if (isLost || ended.kind === "asked")
      table.failAll((request) => {
        // The server may have seen it.
        request.onSent?.();
        return isLost
          ? unknownOutcome(server, request.method, node)
          : new GatewayError("UPSTREAM_CLOSED", `${server} was stopped`);
      });
    if (table.size === 0) onEnd();
  }

  function settle(frame: Extract<OfRequests, { k: "result" | "error" | "failed" | "message" }>, body: Buffer): void {
    const entry = table.take(frame.id);
    if (ended !== undefined && table.size === 0) onEnd();
    if (entry === undefined) return;
    if (frame.k !== "failed" || frame.sent) entry.request.onSent?.();
    if (frame.k === "failed") entry.reject(fromSentFailure(frame.failure));
    else entry.settle(frame.k === "result" ? { kind: "result", result: body } : { kind: "error", error: body });
  }

  function take(frame: OfRequests, body: Buffer): void {
    lastActivityMs = performance.now();
    if (frame.k === "result" || frame.k === "error" || frame.k === "failed") return settle(frame, body);
    const entry = table.get(frame.id);
    if (entry === undefined) return;
    const { request } = entry;
    switch (frame.k) {
      case "progress":
        table.noteLife(entry);
        return request.onProgress?.(frame.params);
      case "log":
        return request.onLog?.(frame.params);
      case "message":
        return void request.replies?.send(body.toString("latin1"));
      case "breakOff":
        return request.replies?.breakOff?.(frame.nextMs);
      case "ask":
        return void answerAsked(entry, frame, body);
    }
  }

  const toOpened = (peer: Peer): Opened => ({
    ...{ far: { node }, peer, closed, pending: table.pending },
    request: async (request) =>
      await table.open(request, (id) => {
        if (ended !== undefined) throw moved(server, node);
        lastActivityMs = performance.now();
        const [lengths, body] = packParams(request.params);
        frames.send({ k: "request", c, id, lengths, ...toSent(request), wants: wantsOf(request) }, body);
      }),
    notify: async (method, params) => frames.send({ k: "notify", c, method, params }),
    get inFlight() {
      return table.size;
    },
    get lastActivityMs() {
      return lastActivityMs;
    },
    async [Symbol.asyncDispose]() {
      // After a move the other node still answers what it was sent.
      if (ended !== undefined) return;
      frames.send({ k: "close", c });
      end({ kind: "asked" });
    },
  });

  return { toOpened, take, end };
}

function unknownOutcome(server: string, method: string, node: string): GatewayError {
  return new GatewayError(
    "OUTCOME_UNKNOWN",
    `${node}, which runs ${server}, was lost while it worked on ${method}: it may or may not have taken effect`,
  );
}

function toSent(request: UpstreamRequest): SentRequest {
  const { method, meta, era, clientCapabilities, logLevel, timeoutMs, maxTimeoutMs } = request;
  const { client, headers, passedHeaders, nameHeader } = request;
  return {
    ...{ method, meta, era, clientCapabilities, logLevel, timeoutMs, maxTimeoutMs },
    ...{ client, headers, passedHeaders, nameHeader },
  };
}

function wantsOf({ onProgress, onLog, ask, replies }: UpstreamRequest): Wants {
  return {
    ...{ progress: onProgress !== undefined, log: onLog !== undefined, ask: ask !== undefined },
    ...{ replies: replies !== undefined, breakOff: replies?.breakOff !== undefined },
  };
}

/** Puts questions of servers at other nodes to the client. */
function createAnswering(frames: FrameStream, c: number, table: WaitingRequests) {
  return async (entry: WaitingRequest, { q, method, key, wantsProgress }: Ask, params: Buffer): Promise<void> => {
    const { ask, signal } = entry.request;
    const question: Question = {
      ...{ method, params },
      ...(key === undefined ? {} : { key }),
      onProgress: wantsProgress ? (told) => frames.send({ k: "answering", c, q, params: told }) : undefined,
    };
    try {
      if (ask === undefined) throw new GatewayError("CAPABILITY_MISSING", "the client cannot be asked");
      const answer = await table.withClockStopped(entry, async () => await ask(question, signal));
      const body = answer.kind === "result" ? answer.result : answer.error;
      frames.send({ k: "answer", c, q, as: answer.kind }, body);
    } catch (error) {
      frames.send({ k: "unanswered", c, q, message: error instanceof Error ? error.message : "" });
    }
  };
}

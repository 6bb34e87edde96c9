import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { HttpExchange, HttpExchangeSink } from "./exchange/http-exchange.ts";
import type { LegacySession } from "./legacy/legacy-session.ts";
import { signOfRefusal, type RefusalSign } from "./exchange/refusal-sign.ts";
import type { Wire } from "./exchange/wire.ts";

/**
 * The GET stream of a legacy session, on which the server sends what belongs to no request. Most servers have none
 * (405).
 */
export interface BackgroundStream {
  close(): void;
}

/** The session, and what to call for what comes. */
export interface BackgroundStreamOptions {
  readonly wire: Wire;
  readonly session: LegacySession;
  readonly onMessage: (message: Buffer) => void;
  /** Called when the server refused the stream, although it had one in this session before. */
  readonly onRefused: (sign: RefusalSign) => void;
}

/** What ends one stream, and says nothing of the next one. */
const isOfStream: ReadonlySet<string> = new Set(["UPSTREAM_CLOSED", "RESULT_TOO_LARGE", "UPSTREAM_PROTOCOL"]);

/**
 * Opens the stream, and opens it again, with growing delays, whenever it ends while the session lives. A refusal
 * other than 5xx ends it for good: the first time it says that there is no such stream, whatever its status.
 */
export function openBackgroundStream(options: BackgroundStreamOptions): BackgroundStream {
  const { wire, session } = options;
  const { resumeDelayMs, maxResumeDelayMs } = wire.tuning;
  let exchange: HttpExchange | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let failures = 0;
  let hasBeenOpen = false;
  let lastEventId: string | undefined;

  function open(): void {
    const headers =
      lastEventId === undefined ? session.streamHeaders : [...session.streamHeaders, "last-event-id", lastEventId];
    exchange = wire.exchange({ method: "GET", headers, body: null }, sink);
    exchange.start();
  }

  function openLater(): void {
    if (isClosed) return;
    lastEventId = exchange?.lastEventId ?? lastEventId;
    const askedMs = exchange?.retryMs ?? resumeDelayMs;
    const delayMs = Math.min(toReopenDelayMs({ askedMs, emptyStreams: failures }), maxResumeDelayMs);
    failures += 1;
    timer = setTimeout(open, delayMs);
    timer.unref();
  }

  const sink: HttpExchangeSink = {
    onSent: () => undefined,
    onHead({ status }) {
      hasBeenOpen ||= status === 200;
    },
    onMessage(message) {
      failures = 0;
      options.onMessage(message);
    },
    onEnd(isEventStream) {
      if (isEventStream) openLater();
    },
    onRefused(refusal) {
      if (refusal.head.status >= 500) openLater();
      else if (hasBeenOpen && session.id !== undefined) options.onRefused(signOfRefusal(refusal, wire.limits.depth));
    },
    onFailed(error: GatewayError) {
      if (isOfStream.has(error.code)) openLater();
    },
  };
  open();

  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      exchange?.abort();
    },
  };
}

/** What decides when a stream that ended is asked for again. */
export interface ResumeState {
  /** The delay that the server asked for with `retry:`, or the default. */
  readonly askedMs: number;
  /** How many streams in a row have brought no message. */
  readonly emptyStreams: number;
}

/** A server that lets go of its client to be asked again later (2025-11-25, transports: polling) is asked soon. */
const firstGrowthMs = 50;
/** Beyond this an answer would be noticeably late. */
const mostGrowthMs = 1_000;

/**
 * How long to wait before a call's stream is resumed: as long as the server wants, and longer while it has nothing to
 * say, because `retry: 0` of a server that closes every stream at once would keep both busy until the call's deadline.
 */
export function toPollDelayMs({ askedMs, emptyStreams }: ResumeState): number {
  const grownMs = emptyStreams <= 1 ? 0 : firstGrowthMs * 2 ** Math.min(emptyStreams - 2, 10);
  return Math.max(askedMs, Math.min(grownMs, mostGrowthMs));
}

/** The same for a stream without a waiting call: every time twice as long, whatever the server asks for. */
export function toReopenDelayMs({ askedMs, emptyStreams }: ResumeState): number {
  return Math.max(askedMs, firstGrowthMs) * 2 ** Math.min(emptyStreams, 16);
}

import type { IncomingMessage } from "node:http";
import type { Limits } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import type { MessageTap } from "../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { Admission } from "../../http/guards/admission.ts";
import { prefixOf, type PublicUrl } from "../../http/public-url.ts";
import { keepAliveMs } from "../streams/answer-channel.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Incoming } from "./http-run.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import { createSseStream, type SseStream } from "./sse-stream.ts";

export interface SseStreamsDeps {
  readonly limits: Pick<Limits, "sessions" | "sessionIdleMs">;
  readonly admission: Pick<Admission, "openStream">;
  readonly publicUrl: PublicUrl;
  readonly clock: Clock;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly sessions: Pick<SessionStore, "end">;
  /** This node of a cluster; undefined where the gateway is alone. */
  readonly node: () => string | undefined;
}

/** All event streams of HTTP+SSE that are open. */
export interface SseStreams {
  /** Answers a GET with a new stream. Throws NOT_ACCEPTABLE, SESSION_LIMIT, RATE_LIMITED. */
  open(incoming: Incoming): void;
  /**
   * The stream that the URL of a POST names. Throws SESSION_UNKNOWN, for somebody else's stream too: its id is no
   * credential.
   */
  find(request: IncomingMessage, endpoint: Endpoint, principal: Principal): SseStream;
  /** The open stream of that id, of any principal. */
  held(id: string): SseStream | undefined;
  /** Ends streams that were not initialized and have been silent for too long; called periodically. */
  expire(): void;
  /** Ends the streams of the principals for which the predicate holds. */
  endWhere(gone: (principal: Principal) => boolean): void;
}

export function createSseStreams(deps: SseStreamsDeps): SseStreams {
  const streams = new Map<string, SseStream>();

  /** Who opens a stream most likely makes a session on it, so that the limit of sessions is also that of streams. */
  function checkRoom(): void {
    const { sessions } = deps.limits;
    if (streams.size < sessions) return;
    throw new GatewayError("SESSION_LIMIT", `${streams.size} event streams are open (limits.sessions)`, {
      hint: `Close streams that are not used, or raise ${settingNow("limits.sessions", sessions)}.`,
    });
  }

  function held(id: string): SseStream | undefined {
    const stream = streams.get(id);
    return stream?.closed === true ? undefined : stream;
  }

  return {
    open({ request, response, endpoint, principal }) {
      if (!acceptsEvents(request.headers.accept))
        throw new GatewayError("NOT_ACCEPTABLE", "this stream needs Accept: text/event-stream");
      checkRoom();
      const leave = deps.admission.openStream(principal);
      const stream = createSseStream({
        response,
        endpoint,
        principal,
        prefix: prefixOf(deps.publicUrl(request)),
        query: tokenOf(request, endpoint),
        node: deps.node(),
        nowMs: deps.clock.monotonic(),
        keepAliveMs,
        memory: deps.memory,
        tap: deps.tap,
        onClose({ id, session }) {
          leave();
          streams.delete(id);
          if (session !== undefined) deps.sessions.end(session, "the client closed its event stream");
        },
      });
      streams.set(stream.id, stream);
    },
    find(request, endpoint, principal) {
      const stream = held(streamIdOf(request));
      if (stream === undefined || !belongsTo(stream, endpoint, principal)) throw unknownStream(endpoint.path);
      return stream;
    },
    held,
    expire() {
      const oldestMs = deps.clock.monotonic() - deps.limits.sessionIdleMs;
      for (const stream of streams.values())
        if (stream.session === undefined && stream.lastUseMs < oldestMs) stream.end();
    },
    endWhere(gone) {
      for (const stream of streams.values()) if (gone(stream.principal)) stream.end();
    },
  };
}

/** The stream that the URL of a POST names. */
export function streamIdOf({ url }: IncomingMessage): string {
  return queryOf(url).get("sessionId") ?? "";
}

/** There is no such stream. */
export function unknownStream(path: string): GatewayError {
  return new GatewayError("SESSION_UNKNOWN", "there is no such session at this endpoint", {
    hint: `Open an event stream with GET ${path}, and post to the URL that it begins with.`,
  });
}

function belongsTo(stream: SseStream, endpoint: Endpoint, principal: Principal): boolean {
  return stream.principal === principal && stream.endpoint.path === endpoint.path;
}

/** A client that does not say what it takes, or takes everything, gets the only thing there is. */
function acceptsEvents(accept: string | undefined): boolean {
  return accept === undefined || /text\/event-stream|text\/\*|\*\/\*/.test(accept);
}

/**
 * A client that gave its instance token in the URL of the stream has no other place for it, and posts to the URL that
 * it is told: so that URL carries the token too.
 */
function tokenOf({ headers, url }: IncomingMessage, endpoint: Endpoint): string {
  const token =
    endpoint.instance === undefined || headers.authorization !== undefined ? null : queryOf(url).get("token");
  return token === null ? "" : `&token=${encodeURIComponent(token)}`;
}

function queryOf(url = ""): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : url.slice(at));
}

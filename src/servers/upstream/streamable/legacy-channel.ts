import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { createSlotTable } from "../../../kernel/slot-table.ts";
import { toGatewayError, GatewayError } from "../../../kernel/gateway-error.ts";
import type { JsonObject } from "../../../kernel/json-bytes.ts";
import type { ConnectionEvents } from "../connection.ts";
import { createDialect, encodeRequest, type Dialect, type GatewayIdentity } from "../encode.ts";
import { declaredCapabilities } from "../handshake.ts";
import { readInbound } from "../../../wire/mcp/server-message.ts";
import { createRequestTable } from "../request-table.ts";
import { openBackgroundStream, type BackgroundStream } from "./background-stream.ts";
import { withFiniteTimeouts, type Channel } from "./channel.ts";
import { LegacyCall, type LegacyCallHost } from "./legacy-call.ts";
import { endSession, openLegacySession, postInSession, type LegacySession } from "./legacy-session.ts";
import type { Wire } from "./wire.ts";

export interface LegacyChannel extends Channel {
  notify(method: string, params: JsonObject): Promise<void>;
  /** Says goodbye to the server; bounded by the tuning. */
  end(): Promise<void>;
}

export interface LegacyChannelOptions {
  readonly wire: Wire;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  readonly session: LegacySession;
  /** Aborts when the connection is disposed of. */
  readonly signal: AbortSignal;
  /** The session ended and the server gives no other. */
  readonly onLost: (reason: string) => void;
}

/** Requests in a session (2025-11-25, transports, Streamable HTTP), which is replaced when the server forgets it. */
export function createLegacyChannel(options: LegacyChannelOptions): LegacyChannel {
  const { wire, events, identity, signal } = options;
  const calls = createSlotTable<LegacyCall>();
  let session = options.session;
  let renewing: Promise<LegacySession> | undefined;
  let dialect = dialectOf(session);
  let isProven = false;
  let stream = listen();

  const table = createRequestTable({
    server: wire.endpoint.server,
    events,
    roots: wire.roots,
    questionsAllowed: () => true,
    send(text, reason, id) {
      const cancelled = reason === "cancel" && id !== undefined ? calls.get(id) : undefined;
      if (cancelled?.isSent === false) {
        // It waits for a connection: sent after its cancellation, it would run.
        cancelled.abort();
        return;
      }
      // A server need not answer what was cancelled: its stream would stay open. Nor, when it hangs, that it is cancelled.
      const end = () => cancelled?.abort();
      const timer = cancelled === undefined ? undefined : setTimeout(end, wire.tuning.afterAnswerMs);
      void post(text).finally(() => {
        clearTimeout(timer);
        end();
      });
    },
  });

  async function post(text: string): Promise<void> {
    try {
      const failure = await postInSession(wire, session, text, signal);
      if (failure !== undefined) events.onOddity("notification-refused", failure.message);
    } catch (error) {
      if (!signal.aborted) events.onOddity("notification-refused", toGatewayError(error).message);
    }
  }

  function dialectOf({ peer }: LegacySession): Dialect {
    return createDialect("legacy", peer.revision, identity, declaredCapabilities(wire.roots));
  }

  function listen(): BackgroundStream {
    const own = session;
    return openBackgroundStream({
      wire,
      session: own,
      onMessage: (message) => table.receive(readInbound(message, wire.limits.depth)),
      onSessionGone: () => void renew(own).catch(() => undefined),
    });
  }

  function renew(stale: LegacySession): Promise<LegacySession> {
    if (renewing !== undefined) return renewing;
    if (stale !== session) return Promise.resolve(session);
    renewing = replaceSession().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function replaceSession(): Promise<LegacySession> {
    const opening = await openAgain();
    if (opening.kind === "refused") {
      options.onLost(`the session ended, and a new one was refused: ${opening.failure.message}`);
      throw opening.failure;
    }
    stream.close();
    session = opening.session;
    dialect = dialectOf(session);
    isProven = false;
    stream = listen();
    events.onSessionReplaced?.();
    return session;
  }

  async function openAgain(): ReturnType<typeof openLegacySession> {
    try {
      return await openLegacySession(wire, identity, signal);
    } catch (error) {
      const failure = signal.aborted
        ? new GatewayError("UPSTREAM_CLOSED", `the connection to ${wire.endpoint.server} was closed`)
        : toGatewayError(error);
      options.onLost(`the session ended, and no new one came: ${failure.message}`);
      throw failure;
    }
  }

  const host: LegacyCallHost = {
    table,
    events,
    maxDepth: wire.limits.depth,
    memory: wire.memory,
    wire,
    calls,
    renew,
    onAnswered(answered) {
      if (answered === session) isProven = true;
    },
    isProven: (candidate) => candidate !== session || isProven,
  };

  return {
    request(request) {
      const finite = withFiniteTimeouts(request);
      return table.open(finite, (id) => {
        const call = new LegacyCall(host, id, finite, encodeRequest(id, finite, dialect));
        calls.put(call);
        call.send(session);
      });
    },
    async notify(method, params) {
      const failure = await postInSession(wire, session, writeNotification(method, params), signal);
      if (failure !== undefined) throw failure;
    },
    failAll(error) {
      table.failAll(error);
      for (const call of calls.values()) call.abort();
    },
    get size() {
      return table.size;
    },
    async end() {
      stream.close();
      await endSession(wire, session);
    },
  };
}

import { abortReason } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import {
  type ConnectionEvents,
  type Handshake,
  withFiniteTimeouts,
  type Channel,
  type UpstreamRequest,
} from "../connection.ts";
import { encodeRequest, type Dialect, type GatewayIdentity } from "../messages/encode.ts";
import { withPath } from "../streamable/server-address.ts";
import type { HttpExchangeSink, HttpExchange } from "../streamable/exchange/http-exchange.ts";
import type { Lifetime } from "../streamable/legacy/lifetime.ts";
import { failureOfRefusal, rpcErrorOf } from "../streamable/exchange/refusal.ts";
import type { Wire } from "../streamable/exchange/wire.ts";
import { readEach } from "../../../wire/mcp/server-message.ts";
import { createRequestTable, type RequestTable } from "../messages/request-table.ts";
import { withTraceHeaders } from "../../../kernel/runtime/tracing.ts";
import { exchangeOnce } from "../streamable/exchange/exchange-once.ts";

/** What a channel needs from its connection. */
export interface SseOptions {
  readonly server: string;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  readonly wire: Wire;
  readonly lifetime: Lifetime;
  readonly knownEras: readonly Era[] | undefined;
  readonly knownHandshake?: Handshake | undefined;
}

/** Requests to a server over HTTP+SSE. */
export interface SseChannel extends Channel {
  /** Sends a message that gets no answer. Rejects when it could not be sent or was refused. */
  post(text: string): Promise<void>;
  /** Sets how requests are written; call it before the first request. */
  setDialect(dialect: Dialect): void;
}

/** Opens the GET stream. Resolves when the server has named the endpoint to POST to. */
export function openSseChannel(options: SseOptions, signal: AbortSignal): Promise<SseChannel> {
  const { wire, events, server, lifetime } = options;
  const streamHeaders = ["accept", "text/event-stream", "accept-encoding", "identity", ...wire.address.headers];
  let dialect: Dialect | undefined;

  const table = createRequestTable({
    server,
    events,
    strays: wire.strays,
    roots: wire.roots,
    declared: () => dialect?.capabilities,
    send(text, reason, id) {
      if (reason === "cancel" && id !== undefined) posts.abort(id);
      posts.post(text).catch((error: unknown) => {
        if (!lifetime.signal.aborted)
          events.onOddity("notification-refused", error instanceof Error ? error.message : String(error));
      });
    },
  });

  const posts = createSsePosts(options, table);

  function request(wanted: Parameters<Channel["request"]>[0]): ReturnType<Channel["request"]> {
    if (lifetime.ending !== undefined)
      return Promise.reject(new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`));
    const finite = withFiniteTimeouts(wanted);
    return table.open(finite, (id) => {
      posts.send(id, encodeRequest(id, finite, dialect as Dialect), finite);
    });
  }

  const channel: SseChannel = {
    request,
    post: posts.post,
    setDialect(given) {
      dialect = given;
    },
    failAll: (error) => table.failAll(error),
    get size() {
      return table.size;
    },
    pending: table.pending,
  };

  return new Promise((resolve, reject) => {
    const onAbort = () => end(abortReason(signal));
    /**
     * Handles the end of the stream: before the endpoint was named it is a failure to connect, afterwards the end of
     * the connection.
     */
    function end(error: Error): void {
      signal.removeEventListener("abort", onAbort);
      stream.abort();
      reject(error);
      // Before that, another transport may still be tried.
      if (posts.hasPath) lifetime.end({ kind: "lost", reason: error.message });
      table.failAll(() =>
        error instanceof GatewayError
          ? error
          : new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`),
      );
    }

    const sink: HttpExchangeSink = {
      onSent: () => undefined,
      onHead: () => undefined,
      onMessage(message, type) {
        if (type === "message") readEach(message, wire.limits.depth, (each) => table.receive(each));
        if (type !== "endpoint" || posts.hasPath) return;
        try {
          posts.setPath(withPath(wire.address, message.toString("utf8")).path);
        } catch (error) {
          end(error as GatewayError);
          return;
        }
        signal.removeEventListener("abort", onAbort);
        resolve(channel);
      },
      onEnd: (isEventStream) => end(endedBy(server, isEventStream)),
      onRefused: (refusal) => end(failureOfRefusal(server, refusal)),
      onFailed: end,
    };
    const stream = wire.exchange({ method: "GET", headers: streamHeaders, body: null }, sink);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort);
    stream.start();
  });
}

function endedBy(server: string, isEventStream: boolean): GatewayError {
  return isEventStream
    ? new GatewayError("UPSTREAM_CLOSED", `${server} ended its event stream`)
    : new GatewayError("UPSTREAM_HTTP", `${server} answered GET with something that is not an event stream`);
}

/** What POSTs need from their connection. */
interface PostOptions {
  readonly server: string;
  readonly wire: Wire;
  readonly lifetime: Lifetime;
}

/** Messages to the endpoint that the server names at the beginning of its stream. */
interface SsePosts {
  /** Whether the server has named its endpoint. */
  readonly hasPath: boolean;
  setPath(path: string): void;
  /** Sends a message that gets no answer. Rejects when it could not be sent or was refused. */
  post(text: string): Promise<void>;
  /** Sends a request. If that fails, the request fails in the table. */
  send(id: number, body: string, request: Pick<UpstreamRequest, "onSent" | "meta">): void;
  /** Ends the POST of a request. */
  abort(id: number): void;
}

/** No endpoint yet; `table` has the requests that are sent. */
function createSsePosts(options: PostOptions, table: RequestTable): SsePosts {
  const { wire, server, lifetime } = options;
  const headers = [
    "content-type",
    "application/json",
    "accept",
    "application/json",
    "accept-encoding",
    "identity",
    ...wire.address.headers,
  ];
  const running = new Map<number, HttpExchange>();
  let path: string | undefined;
  return {
    get hasPath() {
      return path !== undefined;
    },
    setPath(named) {
      path = named;
    },
    async post(text) {
      const outgoing = { method: "POST", headers, body: text, path: path as string } as const;
      const outcome = await exchangeOnce(wire, outgoing, {
        signal: lifetime.signal,
        timeoutMs: wire.tuning.postTimeoutMs,
        isNotice: true,
      });
      if (outcome.kind === "refused") throw failureOfRefusal(server, outcome.refusal);
    },
    send(id, body, { onSent, meta }) {
      const leave = (): void => {
        running.delete(id);
        exchange.expectEnd();
      };
      const sink = createPostSink(options, table, { id, onSent, leave });
      const exchange = wire.exchange(
        { method: "POST", headers: withTraceHeaders(headers, meta), body, path: path as string },
        sink,
      );
      running.set(id, exchange);
      exchange.start();
    },
    abort: (id) => running.get(id)?.abort(),
  };
}

interface Post {
  readonly id: number;
  readonly onSent: (() => void) | undefined;
  /** Call when the POST is over. */
  readonly leave: () => void;
}

/**
 * A successful response to the POST only acknowledges the request, whose answer comes on the stream. So nothing after
 * its head matters.
 */
function createPostSink(
  { server, wire }: PostOptions,
  table: RequestTable,
  { id, onSent, leave }: Post,
): HttpExchangeSink {
  let isTaken = false;
  return {
    onSent: () => onSent?.(),
    onHead() {
      isTaken = true;
      leave();
    },
    onMessage: () => wire.strays.add(),
    onEnd: leave,
    onRefused(refusal) {
      leave();
      const failure = failureOfRefusal(server, refusal);
      const error = failure.code === "SERVER_NEEDS_LOGIN" ? undefined : rpcErrorOf(refusal.body, wire.limits.depth);
      if (error === undefined) table.fail(id, failure);
      else table.receive({ kind: "error", id, error: error.bytes });
    },
    onFailed(error) {
      leave();
      if (isTaken) return;
      table.fail(id, error);
    },
  };
}

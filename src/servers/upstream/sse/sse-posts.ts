import { withTraceHeaders } from "../../../kernel/runtime/tracing.ts";
import type { UpstreamRequest } from "../connection.ts";
import type { RequestTable } from "../messages/request-table.ts";
import { exchangeOnce } from "../streamable/exchange/exchange-once.ts";
import type { HttpExchange, HttpExchangeSink } from "../streamable/exchange/http-exchange.ts";
import type { Lifetime } from "../streamable/legacy/lifetime.ts";
import { failureOfRefusal, rpcErrorOf } from "../streamable/exchange/refusal.ts";
import type { Wire } from "../streamable/exchange/wire.ts";

/** What POSTs need from their connection. */
export interface PostOptions {
  readonly server: string;
  readonly wire: Wire;
  readonly lifetime: Lifetime;
}

/** Messages to the endpoint that the server names at the beginning of its stream. */
export interface SsePosts {
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
export function createSsePosts(options: PostOptions, table: RequestTable): SsePosts {
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

import type { RequestTable } from "../request-table.ts";
import { exchangeOnce } from "../streamable/exchange-once.ts";
import type { HttpExchange, HttpExchangeSink } from "../streamable/http-exchange.ts";
import type { Lifetime } from "../streamable/lifetime.ts";
import { failureOfRefusal, rpcErrorOf } from "../streamable/refusal.ts";
import type { Wire } from "../streamable/wire.ts";

export interface PostOptions {
  readonly server: string;
  readonly wire: Wire;
  readonly lifetime: Lifetime;
}

/** What is sent to the address that the server names at the beginning of its stream. */
export interface SsePosts {
  readonly hasPath: boolean;
  setPath(path: string): void;
  /** Sends one message that gets no answer. Throws when it could not be sent or was refused. */
  post(text: string): Promise<void>;
  /** Sends a request. Its failure is the request's, in the table. */
  send(id: number, body: string, onSent: (() => void) | undefined): void;
  abort(id: number): void;
}

export function createSsePosts(options: PostOptions, table: RequestTable): SsePosts {
  const { wire, server, lifetime } = options;
  const headers = [
    "content-type",
    "application/json",
    "accept",
    "application/json",
    "accept-encoding",
    "identity",
    ...wire.endpoint.headers,
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
    send(id, body, onSent) {
      const leave = (): void => {
        running.delete(id);
        exchange.expectEnd();
      };
      const sink = createPostSink(options, table, { id, onSent, leave });
      const exchange = wire.exchange({ method: "POST", headers, body, path: path as string }, sink);
      running.set(id, exchange);
      exchange.start();
    },
    abort: (id) => running.get(id)?.abort(),
  };
}

interface Post {
  readonly id: number;
  readonly onSent: (() => void) | undefined;
  /** It is no longer under way. */
  readonly leave: () => void;
}

/**
 * The POST of a request is only a receipt: the answer comes on the stream. What comes of it after its head does not
 * matter.
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
    onMessage: () => undefined,
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

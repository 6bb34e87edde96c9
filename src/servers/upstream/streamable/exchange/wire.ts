import { createSlotTable } from "../../../../kernel/runtime/slot-table.ts";
import type { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { TapLine } from "../../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../../wire/json/large-buffers.ts";
import type { ConnectionLimits, HttpCredentials, LoginHeaders } from "../../connect.ts";
import type { Handshake, RootsSource } from "../../connection.ts";
import type { ExchangeWire, LiveExchange } from "./exchange-wire.ts";
import { createBackPressure } from "../../messages/back-pressure.ts";
import type { ServerAddress } from "../server-address.ts";
import { HttpExchange, type HttpExchangeSink, type Outgoing } from "./http-exchange.ts";
import type { CreateHttpClient } from "../../../../wire/http/http-client.ts";
import type { HttpTuning } from "../../../../wire/http/tuning.ts";

/** The sockets to one server, and everything that all exchanges over them share. */
export interface Wire extends ExchangeWire {
  readonly memory: LargeBuffers;
  readonly roots: RootsSource | undefined;
  readonly knownHandshake: Handshake | undefined;
  /** Makes an exchange; `start()` it. */
  exchange(outgoing: Outgoing, sink: HttpExchangeSink): HttpExchange;
  /** Monotonic ms of the last bytes in either direction. */
  readonly lastActivityMs: number;
  /** Ends every exchange and closes every socket. */
  dispose(): void;
}

/** What a wire is made from. */
export interface WireOptions {
  readonly address: ServerAddress;
  readonly limits: ConnectionLimits;
  readonly tuning: HttpTuning;
  readonly createClient: CreateHttpClient;
  readonly memory: LargeBuffers;
  readonly tap?: TapLine | undefined;
  readonly roots: RootsSource | undefined;
  readonly knownHandshake?: Handshake | undefined;
  readonly authorize: HttpCredentials["authorize"];
  /** Aborts when the connection is disposed of. */
  readonly signal: AbortSignal;
  readonly onUnreachable: (error: GatewayError) => void;
}

/** A wire to `options.address`. It connects when the first exchange is started. */
export function createWire(options: WireOptions): Wire {
  const { address, limits, tuning } = options;
  const client = options.createClient({
    origin: address.origin,
    connections: tuning.connections,
    reserved: tuning.reservedConnections,
    connectTimeoutMs: tuning.connectTimeoutMs,
  });
  const live = createSlotTable<LiveExchange>();
  /** Of the URL, and of the endpoint that a server over SSE names. */
  let movedPaths: Map<string, string> | undefined;
  let queuedBytes = 0;
  let lastActivityMs = performance.now();

  function dispose(): void {
    for (const exchange of live.values()) exchange.disconnect();
    client.close();
  }

  const wire: Wire = {
    client,
    address,
    pathFor: (path) => movedPaths?.get(path) ?? path,
    notePath(path, moved) {
      movedPaths ??= new Map();
      movedPaths.set(path, moved);
    },
    limits,
    tap: options.tap,
    tuning,
    strays: createBackPressure(),
    memory: options.memory,
    roots: options.roots,
    knownHandshake: options.knownHandshake,
    authorize: options.authorize === undefined ? undefined : shareRefresh(options.authorize, options.signal),
    exchange: (outgoing, sink) => new HttpExchange(live.nextId(), wire, outgoing, sink),
    admitQueued(bytes) {
      // One body is always accepted, even if it is larger than the limit of the queue.
      if (queuedBytes > 0 && queuedBytes + bytes > limits.sendQueueBytes) return false;
      queuedBytes += bytes;
      return true;
    },
    releaseQueued(bytes) {
      queuedBytes -= bytes;
    },
    get lastActivityMs() {
      return lastActivityMs;
    },
    touch() {
      lastActivityMs = performance.now();
    },
    enter: (exchange) => live.put(exchange),
    leave: (exchange) => void live.take(exchange.id),
    onUnreachable: options.onUnreachable,
    dispose,
  };
  return wire;
}

/** All exchanges whose login was refused at the same time share one refresh. */
function shareRefresh(
  authorize: NonNullable<HttpCredentials["authorize"]>,
  signal: AbortSignal,
): NonNullable<Wire["authorize"]> {
  const refreshing = new Map<string | undefined, Promise<LoginHeaders | undefined>>();
  return (refused) => {
    if (refused === undefined) return [...refreshing.values()].at(-1) ?? authorize(undefined, signal);
    const login = refused["authorization"];
    const running = refreshing.get(login);
    if (running !== undefined) return running;
    const started = authorize(refused, signal).finally(() => refreshing.delete(login));
    refreshing.set(login, started);
    return started;
  };
}

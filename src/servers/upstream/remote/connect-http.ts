import type { HttpTransport } from "../../../config/config.ts";
import { toGatewayError, type GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { ConnectHttp, ConnectOptions, HttpCredentials, HttpRoute } from "../connect.ts";
import type { Connection } from "../connection.ts";
import { connectSse } from "../sse/connect-sse.ts";
import { parseServerAddress } from "../streamable/server-address.ts";
import { readPeerCard } from "../streamable/peer-card.ts";
import { createHttpConnection } from "../streamable/exchange/http-connection.ts";
import { createLifetime, type Lifetime } from "../streamable/legacy/lifetime.ts";
import { createLadder } from "../ladder.ts";
import { negotiate } from "../streamable/negotiate.ts";
import { httpTuning, type HttpTuning } from "../../../wire/http/tuning.ts";
import { createSocketPool } from "../../../wire/http/socket-pool.ts";
import { createWire, type Wire } from "../streamable/exchange/wire.ts";

/** What connecting to a remote server needs. */
export type HttpOptions = ConnectOptions<HttpTransport> & HttpCredentials & HttpRoute;

/** The first messages over a new wire. Rejects when no connection comes about. */
type Handshake = (options: RemoteOptions, signal: AbortSignal) => Promise<Connection>;

interface RemoteOptions extends HttpOptions {
  readonly wire: Wire;
  readonly lifetime: Lifetime;
}

/**
 * Connects to a server over Streamable HTTP in either era, or over HTTP+SSE if that is what the URL turns out to be.
 * Rejects with CONFIG_INVALID, CONNECT_FAILED, SERVER_NEEDS_LOGIN, UPSTREAM_HTTP, UPSTREAM_PROTOCOL, UPSTREAM_CLOSED,
 * UPSTREAM_TIMEOUT, or the signal's reason.
 */
export const connectHttp: ConnectHttp = (options, signal) => connectHttpWith(tuningOf(options), options, signal);

/** Connects over HTTP+SSE and tries nothing else, for servers whose configuration says so. */
export const connectHttpSse: ConnectHttp = (options, signal) =>
  connectHttpWith(tuningOf(options), options, signal, connectSse);

/** Of several addresses, another one is better than another try. */
function tuningOf({ transport: { urls = [] } }: HttpOptions): HttpTuning {
  return urls.length > 1 ? { ...httpTuning, connectRetryDelaysMs: [] } : httpTuning;
}

/** Connects with limits other than the usual ones. */
export async function connectHttpWith(
  tuning: HttpTuning,
  options: HttpOptions,
  signal: AbortSignal,
  handshake: Handshake = negotiateFirst,
): Promise<Connection> {
  const address = parseServerAddress(options.server, options.transport, options.identity);
  const lifetime = createLifetime();
  const wire = createWire({
    address,
    limits: options.limits,
    tuning,
    createClient: options.createClient ?? createSocketPool,
    memory: options.memory,
    tap: options.tap,
    roots: options.roots,
    knownHandshake: options.knownHandshake,
    authorize: options.authorize,
    signal: lifetime.signal,
    onUnreachable: (error: GatewayError) => lifetime.end({ kind: "lost", reason: error.message }),
  });
  try {
    return await handshake({ ...options, wire, lifetime }, signal);
  } catch (error) {
    lifetime.abort();
    wire.dispose();
    throw signal.aborted ? error : toGatewayError(error);
  }
}

async function negotiateFirst(options: RemoteOptions, signal: AbortSignal): Promise<Connection> {
  const { wire, identity, lifetime, createClient = createSocketPool } = options;
  const readCard = async () => await readPeerCard(wire.address, createClient, lifetime.signal);
  const ladder = createLadder(options);
  let hasTriedSse = false;
  for (;;) {
    const negotiated = await negotiate(wire, identity, ladder, signal);
    if (negotiated.kind !== "neither") return createHttpConnection({ ...options, negotiated, readCard });
    try {
      if (!hasTriedSse) return await connectSse(options, signal);
    } catch (error) {
      if (toGatewayError(error).code !== "UPSTREAM_HTTP") throw error;
    }
    hasTriedSse = true;
    // There is no event stream either; what the server answered to `initialize` says more.
    if (negotiated.final !== undefined) throw negotiated.final;
  }
}

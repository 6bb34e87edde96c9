import type { HttpTransport } from "../../config/config.ts";
import type { Era } from "../../kernel/call-context.ts";
import type { CreateHttpClient } from "../../wire/http/http-client.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Connection, ConnectionEvents, RootsSource } from "./connection.ts";
import type { GatewayIdentity } from "./encode.ts";

/** What every connector is given: how to reach the server, how to speak, and where to tell. */
export interface ConnectOptions<T> {
  /** The server's slug: how messages name it. */
  readonly server: string;
  readonly transport: T;
  readonly identity: GatewayIdentity;
  readonly limits: ConnectionLimits;
  /** Eras that this server was seen to speak with this credential; tried first, and given up when they fail. */
  readonly knownEras: readonly Era[] | undefined;
  readonly events: ConnectionEvents;
  /** Undefined: the server is told of no roots. */
  readonly roots?: RootsSource | undefined;
  readonly memory: LargeBuffers;
  /** Called whenever the process is seen to work while it is starting. */
  readonly onWork?: (() => void) | undefined;
  /** How long a process has to end by itself when its start is given up; without it, it is killed at once. */
  readonly giveUpMs?: number | undefined;
}

export interface ConnectionLimits {
  /** Largest message taken from a server; the connection is closed beyond it. */
  readonly messageBytes: number;
  readonly depth: number;
  /** Bytes that may wait for a server that does not read; beyond it requests fail with UPSTREAM_BUSY. */
  readonly sendQueueBytes: number;
  readonly stopTimeoutMs: number;
}

/** Resolves when the handshake is done. The signal's abort ends the attempt and everything that it started. */
export type ConnectHttp = (
  options: ConnectOptions<HttpTransport> & HttpCredentials & HttpRoute,
  signal: AbortSignal,
) => Promise<Connection>;

export interface HttpRoute {
  /** Undefined: straight to the server, with the certificates that Node trusts. */
  readonly createClient?: CreateHttpClient | undefined;
}

export interface HttpCredentials {
  /**
   * Headers computed per request, such as an OAuth token; asked again with `refresh` after a 401. Undefined when
   * there is none.
   */
  readonly authorize:
    | ((refresh: boolean, signal: AbortSignal) => Promise<Readonly<Record<string, string>> | undefined>)
    | undefined;
}

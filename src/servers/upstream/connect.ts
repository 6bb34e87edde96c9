import type { HttpTransport } from "../../config/config.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import type { TapLine } from "../../kernel/events/message-tap.ts";
import type { CreateHttpClient } from "../../wire/http/http-client.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Connection, ConnectionEvents, Handshake, RootsSource } from "./connection.ts";
import type { GatewayIdentity } from "./messages/encode.ts";
import type { RenewalBudget } from "./messages/renewal-budget.ts";

/** What every connector needs: how to reach the server, how to talk to it, and where to report events. */
export interface ConnectOptions<T> {
  /** The server's slug, by which messages name it. */
  readonly server: string;
  /** Names the server as one person has it; undefined: the slug does. */
  readonly instance?: string | undefined;
  readonly transport: T;
  readonly identity: GatewayIdentity;
  readonly limits: ConnectionLimits;
  /**
   * Eras that this server was known to speak with this credential. They are tried first, and not relied on if that
   * fails.
   */
  readonly knownEras: readonly Era[] | undefined;
  /** How a legacy server was last initialized, where the usual way was refused. */
  readonly knownHandshake?: Handshake | undefined;
  /** Of the server, for longer than this connection; a new one when undefined. */
  readonly renewals?: RenewalBudget | undefined;
  readonly events: ConnectionEvents;
  /** Undefined: the server gets no roots. */
  readonly roots?: RootsSource | undefined;
  readonly memory: LargeBuffers;
  /** Told of each message, in both directions. */
  readonly tap?: TapLine | undefined;
  /** Called whenever the starting process shows signs of work. */
  readonly onWork?: (() => void) | undefined;
  /** How much time a process gets to end by itself when its start is given up; killed at once when undefined. */
  readonly giveUpMs?: number | undefined;
}

/** Limits of one connection. */
export interface ConnectionLimits {
  /** The largest message accepted from a server; a larger one closes the connection. */
  readonly messageBytes: number;
  readonly depth: number;
  /** The most bytes queued for a server that does not read; beyond it requests fail with UPSTREAM_BUSY. */
  readonly sendQueueBytes: number;
  readonly stopTimeoutMs: number;
}

/**
 * Connects to a remote server. Resolves when the handshake is done. When the signal aborts, everything that was
 * started is ended.
 */
export type ConnectHttp = (
  options: ConnectOptions<HttpTransport> & HttpCredentials & HttpRoute,
  signal: AbortSignal,
) => Promise<Connection>;

/** How the network reaches the server. */
export interface HttpRoute {
  /** Undefined: directly, with the certificate authorities that Node trusts. */
  readonly createClient?: CreateHttpClient | undefined;
}

/** Headers of a login. */
export type LoginHeaders = Readonly<Record<string, string>>;

/** How requests to the server are authorised. */
export interface HttpCredentials {
  /**
   * Computes headers for each request, such as an OAuth token; called again after a 401, with those that were
   * `refused`. Resolves to undefined when there are none.
   */
  readonly authorize:
    | ((refused: LoginHeaders | undefined, signal: AbortSignal) => Promise<LoginHeaders | undefined>)
    | undefined;
}

/** Limits of the HTTP transports that are not the configuration's: each with its reason. Times in ms. */
export interface HttpTuning {
  /** Sockets to one server: every call in flight has its own (no pipelining), as has every open event stream. */
  readonly connections: number;
  /** Sockets beside those, for what may not wait behind calls: cancellations, answers to questions, a new session. */
  readonly reservedConnections: number;
  readonly connectTimeoutMs: number;
  /** Waits before a connection that failed is tried again; only while nothing was sent. */
  readonly connectRetryDelaysMs: readonly number[];
  /** A server that is silent to `server/discover` for this long is taken for a legacy one. */
  readonly discoverTimeoutMs: number;
  readonly initializeTimeoutMs: number;
  /** For what no caller waits for: notifications, answers to the server's requests. */
  readonly postTimeoutMs: number;
  /** The farewell (DELETE of a session, closing sockets) may take no longer. */
  readonly disposeTimeoutMs: number;
  /** How long a stream may stay open after its answer: a server that never closes it would keep the socket. */
  readonly afterAnswerMs: number;
  /** Bytes read of a refusal's body: enough for any JSON-RPC error, too little to hurt. */
  readonly refusalBytes: number;
  /** A broken event stream is resumed this often in a row without one new event. */
  readonly resumeTries: number;
  /** Wait before a resumption when the server named none with `retry:`, and the most that it may name. */
  readonly resumeDelayMs: number;
  readonly maxResumeDelayMs: number;
}

export const httpTuning: HttpTuning = Object.freeze({
  connections: 256,
  reservedConnections: 16,
  connectTimeoutMs: 10_000,
  connectRetryDelaysMs: Object.freeze([500, 1_000, 2_000]),
  discoverTimeoutMs: 10_000,
  initializeTimeoutMs: 120_000,
  postTimeoutMs: 30_000,
  disposeTimeoutMs: 2_000,
  afterAnswerMs: 1_000,
  refusalBytes: 65_536,
  resumeTries: 5,
  resumeDelayMs: 1_000,
  maxResumeDelayMs: 60_000,
});

/** Header of every request; some front ends refuse clients that do not name themselves. */
export function userAgent(identity: { readonly name: string; readonly version: string }): string {
  return `${identity.name}/${identity.version}`;
}

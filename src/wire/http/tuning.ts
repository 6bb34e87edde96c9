/** Limits of the HTTP transports that cannot be configured, each with its reason. Times are in ms. */
export interface HttpTuning {
  /** Sockets to one server. Every call in flight has its own (no pipelining), and so has every open event stream. */
  readonly connections: number;
  /**
   * Additional sockets for requests that must not wait behind calls: cancellations, answers to questions, new
   * sessions.
   */
  readonly reservedConnections: number;
  readonly connectTimeoutMs: number;
  /**
   * Delays before the retries of a failed connection attempt. Only connecting is retried, because then nothing was
   * sent.
   */
  readonly connectRetryDelaysMs: readonly number[];
  /** A server that does not answer `server/discover` within this time is assumed to be a legacy one. */
  readonly discoverTimeoutMs: number;
  readonly initializeTimeoutMs: number;
  /** Deadline of messages that no caller waits for: notifications, and answers to the server's requests. */
  readonly postTimeoutMs: number;
  /** The most that ending a session (DELETE) and closing the sockets may take. */
  readonly disposeTimeoutMs: number;
  /**
   * How long a stream may stay open after its answer; otherwise a server that never closes it would occupy the
   * socket.
   */
  readonly afterAnswerMs: number;
  /** How many bytes of an error response's body are read: enough for any JSON-RPC error, and too few to do harm. */
  readonly refusalBytes: number;
  /** A broken event stream is resumed at most this many times in a row without a new event. */
  readonly resumeTries: number;
  /**
   * Delay before an event stream is resumed when the server gave none with `retry:`; below, the longest that it may
   * give.
   */
  readonly resumeDelayMs: number;
  readonly maxResumeDelayMs: number;
}

/** The values in use; tests pass their own. */
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

/** The User-Agent of every request. Some reverse proxies refuse clients that do not send one. */
export function userAgent(identity: { readonly name: string; readonly version: string }): string {
  return `${identity.name}/${identity.version}`;
}

import type { ResponseSink } from "./response-reader.ts";

/**
 * Requests to one origin over HTTP/1.1, without redirects, upgrades and pipelining. There are two: `socket-pool.ts`,
 * which is ours and fast, and `undici-client.ts`, which goes through proxies and knows certificates of a company's
 * own. Both pass `http-client.test.ts`.
 */
export interface HttpClient {
  /**
   * Sends as soon as there is a connection, never before this returns. The handler can take it back as soon as it is
   * under way.
   */
  send(request: HttpRequest, handler: ResponseHandler): void;
  /** Closes every connection; what is under way or waits fails as `disposed`. */
  close(): void;
}

export interface HttpClientOptions {
  /** `http://host:port` or `https://…`. */
  readonly origin: string;
  /** Most connections at a time; further requests wait for one. */
  readonly connections: number;
  /** Connections beyond those, for urgent requests only. */
  readonly reserved: number;
  readonly connectTimeoutMs: number;
}

export type CreateHttpClient = (options: HttpClientOptions) => HttpClient;

/** One HTTP request as it is sent. */
export interface HttpRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly path: string;
  /** Name, value, name, value; shared between requests, so never changed. */
  readonly headers: readonly string[];
  /** Latin1; null for none. */
  readonly body: string | null;
  /**
   * Never waits behind others: they may be waiting for what it brings. Short ones only, because few are sent at a
   * time.
   */
  readonly isUrgent?: boolean;
}

/** Why there is no response, or no whole one. */
export interface TransportFailure {
  readonly kind: "connect" | "closed" | "malformed" | "unsendable" | "disposed";
  /** What the operating system said, or what is wrong. */
  readonly reason: string;
}

/** A request that is under way. */
export interface RequestInFlight {
  /**
   * Ends the request of that handler, without a word to it, and with it the connection: there is no other way to take
   * back what was sent.
   */
  abort(handler: ResponseHandler): void;
}

/** Who made a request. Ends with one of onComplete and onTransportFailure, unless it was aborted. */
export interface ResponseHandler extends ResponseSink {
  /** Right before the request is written. False takes it back and leaves the connection to others. */
  onConnected(inFlight: RequestInFlight): boolean;
  onComplete(): void;
  onTransportFailure(failure: TransportFailure): void;
}

import type { LookupFunction } from "node:net";
import type { ResponseSink } from "./response-reader.ts";

/**
 * Sends requests to one origin over HTTP/1.1, without redirects, upgrades and pipelining. There are two
 * implementations: `socket-pool.ts`, our own, which is fast, and `undici-client.ts`, which supports proxies, private
 * certificate authorities and client certificates. `http-client.test.ts` tests both.
 */
export interface HttpClient {
  /**
   * Queues a request. It is sent as soon as a connection is free, but never before this function returns. The handler
   * can abort it once `onConnected` was called.
   */
  send(request: HttpRequest, handler: ResponseHandler): void;
  /** Closes every connection. Requests that are in flight or queued fail with the kind `disposed`. */
  close(): void;
}

/** Where a client sends requests, and over how many connections. */
export interface HttpClientOptions {
  /** `http://host:port` or `https://…`. */
  readonly origin: string;
  /** The most connections at a time; when all are in use, requests are queued. */
  readonly connections: number;
  /** Additional connections that only urgent requests may use. */
  readonly reserved: number;
  readonly connectTimeoutMs: number;
  /** How the origin's name is looked up. Absent: as the system does it. */
  readonly lookup?: LookupFunction | undefined;
}

/** Makes a client for one origin; it connects when the first request is sent. */
export type CreateHttpClient = (options: HttpClientOptions) => HttpClient;

/** One HTTP request, ready to be sent. */
export interface HttpRequest {
  readonly method: "POST" | "GET" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** A flat list: name, value, name, value. The list is shared between requests and must not be changed. */
  readonly headers: readonly string[];
  /** The body as a latin1 string; null for none. */
  readonly body: string | null;
  /**
   * Never queued behind other requests, which may be waiting for what this one delivers. Only for short requests,
   * because there are few reserved connections.
   */
  readonly isUrgent?: boolean;
}

/** Why there is no response, or only an incomplete one. */
export interface TransportFailure {
  readonly kind: "connect" | "closed" | "malformed" | "unsendable" | "disposed";
  /** The error code of the operating system, or the mistake in the response. */
  readonly reason: string;
}

/** A request that is in flight. */
export interface RequestInFlight {
  /**
   * Ends the handler's request without calling the handler again. This closes the connection, because HTTP/1.1 has no
   * other way to cancel a request.
   */
  abort(handler: ResponseHandler): void;
  /**
   * Reads no more of the handler's response until `resume`, so that the server has to wait when it writes. What was
   * read already is still passed on.
   */
  pause(handler: ResponseHandler): void;
  resume(handler: ResponseHandler): void;
}

/**
 * Receives the response to one request. The last call is onComplete or onTransportFailure, unless the request was
 * aborted.
 */
export interface ResponseHandler extends ResponseSink {
  /**
   * Called right before the request is written. Returning false cancels it and leaves the connection to other
   * requests.
   */
  onConnected(inFlight: RequestInFlight): boolean;
  onComplete(): void;
  onTransportFailure(failure: TransportFailure): void;
}

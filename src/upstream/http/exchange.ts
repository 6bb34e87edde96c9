import type { DispatchHandler } from "undici/lib/dispatcher/pool.js";
import { GatewayError } from "../../shared/gateway-error.ts";
import { createEventStreamReader, type EventStreamReader, type EventStreamSink } from "./event-stream.ts";
import { findHeader, isEventStreamType, withHeaders, type RawHeaders } from "./headers.ts";
import { failureOfHead, type Refusal } from "./refusal.ts";
import type { Wire } from "./wire.ts";

/** One HTTP request to be made. */
export interface Outgoing {
  readonly method: "POST" | "GET" | "DELETE";
  /** Name, value, name, value; shared between requests, so never changed. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
  /** Another path than the endpoint's (the message endpoint of an SSE server). */
  readonly path?: string;
}

/** Where the answer goes. Ends with exactly one of onEnd, onRefused and onFailed, unless the exchange was aborted. */
export interface ExchangeSink {
  /** Called right before the request is written: from here on the server may have seen it. */
  onSent(): void;
  /** A success's head. */
  onHead(status: number, headers: RawHeaders): void;
  /** One JSON text: the body, or the data of one event. Points into what was received, and may be kept. */
  onMessage(message: Buffer, type: string): void;
  /** The answer is complete. */
  onEnd(isEventStream: boolean): void;
  onRefused(refusal: Refusal): void;
  /** UPSTREAM_BUSY, CONNECT_FAILED, UPSTREAM_CLOSED, UPSTREAM_PROTOCOL, RESULT_TOO_LARGE, SERVER_NEEDS_LOGIN. */
  onFailed(error: GatewayError): void;
}

type Mode = "head" | "body" | "stream" | "refusal";

/**
 * One HTTP request and its answer: a connection that fails is tried again while nothing was sent, a 401 is met once with fresh
 * credentials, the answer is read as one JSON text, as an event stream or as a refusal. A class, because it is made per call.
 */
export class Exchange implements DispatchHandler, EventStreamSink {
  /** Its place among the exchanges that are under way. */
  readonly id: number;
  readonly #wire: Wire;
  readonly #outgoing: Outgoing;
  readonly #sink: ExchangeSink;
  #mode: Mode = "head";
  #ended = false;
  #isQueued = false;
  #isWritten = false;
  #isRefreshed = false;
  #failedConnects = 0;
  /** Before the answer: the next try to connect; after it: the end of a stream that stays open. */
  #timer: NodeJS.Timeout | undefined;
  #abort: ((reason?: Error) => void) | undefined;
  #events: EventStreamReader | undefined;
  #status = 0;
  #headers: RawHeaders = [];
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(id: number, wire: Wire, outgoing: Outgoing, sink: ExchangeSink) {
    this.id = id;
    this.#wire = wire;
    this.#outgoing = outgoing;
    this.#sink = sink;
  }

  get lastEventId(): string | undefined {
    return this.#events?.lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#events?.retryMs;
  }

  /** To be called once. The sink may hear of a failure before this returns. */
  start(): void {
    this.#wire.enter(this);
    this.#wire.touch();
    if (this.#wire.authorize === undefined) this.#dispatch(this.#outgoing.headers);
    else void this.#dispatchAuthorized(this.#wire.authorize, false);
  }

  /** Ends the exchange without a word to the sink; the server sees its connection close. */
  abort(): void {
    if (this.#ended) return;
    this.#end();
    this.#abort?.(new Error("aborted"));
  }

  /** The answer has come: a stream that its server leaves open is closed a little later, so that the socket is free again. */
  expectEnd(): void {
    if (this.#ended || this.#mode !== "stream") return;
    this.#timer ??= setTimeout(() => this.abort(), this.#wire.tuning.afterAnswerMs);
  }

  /** Ends the exchange because the connection is disposed of. */
  disconnect(): void {
    if (this.#ended) return;
    this.abort();
    this.#sink.onFailed(
      new GatewayError("UPSTREAM_CLOSED", `the connection to ${this.#wire.endpoint.server} was closed`),
    );
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#leaveQueue();
    // Thrown, not aborted: that takes the request back and leaves the socket to others.
    if (this.#ended) throw new Error("no longer wanted");
    this.#abort = abort;
    this.#isWritten = true;
    this.#sink.onSent();
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    if (this.#ended || status < 200) return true;
    this.#status = status;
    this.#headers = headers;
    this.#chunks = [];
    this.#bytes = 0;
    const failure = failureOfHead(this.#wire.endpoint, status, headers);
    if (failure !== undefined) {
      this.#fail(failure);
      return true;
    }
    if (status >= 300) {
      this.#mode = "refusal";
      return true;
    }
    const contentType = findHeader(headers, "content-type");
    if (contentType !== undefined && isEventStreamType(contentType)) {
      this.#mode = "stream";
      this.#events = createEventStreamReader(this.#wire.limits.messageBytes, this);
    } else {
      this.#mode = "body";
    }
    this.#sink.onHead(status, headers);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#ended) return true;
    this.#wire.touch();
    if (this.#events !== undefined) {
      this.#events.feed(chunk);
      return true;
    }
    this.#bytes += chunk.length;
    if (this.#mode === "refusal" && this.#bytes > this.#wire.tuning.refusalBytes) {
      this.#chunks = [];
      this.#end();
      this.#abort?.(new Error("enough of the refusal"));
      this.#sink.onRefused({ status: this.#status, headers: this.#headers, body: Buffer.alloc(0) });
    } else if (this.#bytes > this.#wire.limits.messageBytes) {
      this.onTooLong();
    } else {
      this.#chunks.push(chunk);
    }
    return true;
  }

  onComplete(): void {
    if (this.#ended) return;
    if (this.#mode === "refusal") {
      this.#finishRefusal();
      return;
    }
    if (this.#mode === "body" && this.#bytes > 0) this.#sink.onMessage(this.#takeBody(), "message");
    if (this.#ended) return;
    this.#end();
    this.#sink.onEnd(this.#mode === "stream");
  }

  onError(error: Error & { code?: unknown }): void {
    this.#leaveQueue();
    if (this.#ended) return;
    const code = typeof error.code === "string" ? error.code : "";
    if (this.#isWritten) {
      const isProtocol =
        code.startsWith("HPE_") ||
        code === "UND_ERR_HEADERS_OVERFLOW" ||
        code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";
      this.#fail(
        isProtocol
          ? new GatewayError("UPSTREAM_PROTOCOL", `${this.#server} answered with malformed HTTP (${code})`)
          : new GatewayError(
              "UPSTREAM_CLOSED",
              `${this.#server} closed the connection before it had answered${code === "" ? "" : ` (${code})`}`,
            ),
      );
      return;
    }
    this.#retryConnect(code);
  }

  onEvent(data: Buffer, type: string): void {
    if (!this.#ended) this.#sink.onMessage(data, type);
  }

  onTooLong(): void {
    const limit = this.#wire.limits.messageBytes;
    this.#fail(
      new GatewayError("RESULT_TOO_LARGE", `${this.#server} sent a message of more than ${limit} bytes`, {
        data: { limitBytes: limit },
      }),
    );
  }

  get #server(): string {
    return this.#wire.endpoint.server;
  }

  /** Until here the HTTP client held the body, also when the caller had given up. */
  #leaveQueue(): void {
    if (!this.#isQueued) return;
    this.#isQueued = false;
    this.#wire.releaseQueued(this.#outgoing.body?.length ?? 0);
  }

  #dispatch(headers: readonly string[]): void {
    if (this.#ended) return;
    const { method, body, path } = this.#outgoing;
    if (!this.#wire.admitQueued(body?.length ?? 0)) {
      this.#fail(
        new GatewayError("UPSTREAM_BUSY", `${this.#wire.limits.sendQueueBytes} bytes already wait for ${this.#server}`),
      );
      return;
    }
    this.#isQueued = true;
    this.#wire.pool.dispatch(
      {
        path: path ?? this.#wire.endpoint.path,
        method,
        headers,
        body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  async #dispatchAuthorized(authorize: NonNullable<Wire["authorize"]>, refresh: boolean): Promise<void> {
    let extra: Readonly<Record<string, string>> | undefined;
    try {
      extra = await authorize(refresh);
    } catch (error) {
      this.#fail(
        error instanceof GatewayError
          ? error
          : new GatewayError("SERVER_NEEDS_LOGIN", `no credentials for ${this.#server} could be had`, { cause: error }),
      );
      return;
    }
    if (refresh && extra === undefined) this.#finishRefusal();
    else this.#dispatch(extra === undefined ? this.#outgoing.headers : withHeaders(this.#outgoing.headers, extra));
  }

  #retryConnect(code: string): void {
    if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") {
      this.#fail(new GatewayError("UPSTREAM_CLOSED", `the connection to ${this.#server} was closed`));
      return;
    }
    // An argument that undici refuses will be refused again.
    const delayMs =
      code === "UND_ERR_INVALID_ARG" ? undefined : this.#wire.tuning.connectRetryDelaysMs[this.#failedConnects];
    this.#failedConnects += 1;
    if (delayMs !== undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.start();
      }, delayMs);
      return;
    }
    const { origin } = this.#wire.endpoint;
    const error = new GatewayError(
      "CONNECT_FAILED",
      `no connection to ${this.#server} at ${origin}${code === "" ? "" : ` (${code})`}`,
      { data: { code } },
    );
    this.#fail(error);
    if (code !== "UND_ERR_INVALID_ARG") this.#wire.onUnreachable(error);
  }

  #finishRefusal(): void {
    const { authorize } = this.#wire;
    if (this.#status === 401 && authorize !== undefined && !this.#isRefreshed) {
      this.#isRefreshed = true;
      // The refusal's body is kept: it is the answer if there are no fresh credentials.
      this.#isWritten = false;
      void this.#dispatchAuthorized(authorize, true);
      return;
    }
    const body = this.#takeBody();
    this.#end();
    this.#sink.onRefused({ status: this.#status, headers: this.#headers, body });
  }

  #takeBody(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  }

  #fail(error: GatewayError): void {
    if (this.#ended) return;
    this.#end();
    if (this.#isWritten) this.#abort?.(error);
    this.#sink.onFailed(error);
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#wire.leave(this);
  }
}

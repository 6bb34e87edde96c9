import { startsWithMark } from "../../../wire/json/characters.ts";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import { settingNow } from "../../../kernel/setting-now.ts";
import {
  createEventStreamReader,
  type EventStreamReader,
  type EventStreamSink,
} from "../../../wire/sse/event-stream.ts";
import { GatheredBytes } from "../../../wire/json/gathered-bytes.ts";
import { isEventStreamType, noHead, withHeaders, type ResponseHead } from "../../../wire/http/response-head.ts";
import type {
  HttpRequest,
  RequestInFlight,
  ResponseHandler,
  TransportFailure,
} from "../../../wire/http/http-client.ts";
import { failureOfHead, type Refusal } from "./refusal.ts";
import type { ExchangeWire } from "./exchange-wire.ts";

/** One HTTP request to be made; without a path it goes to the endpoint's. */
export type Outgoing = Omit<HttpRequest, "path"> & Partial<Pick<HttpRequest, "path">>;

/** Where the answer goes. Ends with exactly one of onEnd, onRefused and onFailed, unless the exchange was aborted. */
export interface HttpExchangeSink {
  /** Called right before the request is written: from here on the server may have seen it. */
  onSent(): void;
  /** A success's head. */
  onHead(head: ResponseHead): void;
  /** One JSON text: the body, or the data of one event. Points into what was received, and may be kept. */
  onMessage(message: Buffer, type: string): void;
  /** The answer is complete. */
  onEnd(isEventStream: boolean): void;
  onRefused(refusal: Refusal): void;
  /** UPSTREAM_BUSY, CONNECT_FAILED, UPSTREAM_CLOSED, UPSTREAM_PROTOCOL, RESULT_TOO_LARGE, SERVER_NEEDS_LOGIN. */
  onFailed(error: GatewayError): void;
}

const accepted = 202;

type Mode = "head" | "body" | "stream" | "refusal";

/**
 * One HTTP request and its answer: a connection that fails is tried again while nothing was sent, a 401 is met once
 * with fresh credentials, the answer is read as one JSON text, as an event stream or as a refusal. A class, because
 * it is made per call.
 */
export class HttpExchange implements ResponseHandler, EventStreamSink {
  /** Its place among the exchanges that are under way. */
  readonly id: number;
  readonly #wire: ExchangeWire;
  readonly #outgoing: Outgoing;
  readonly #sink: HttpExchangeSink;
  #mode: Mode = "head";
  #ended = false;
  #isQueued = false;
  #isRefreshed = false;
  #failedConnects = 0;
  /** Before the answer: the next try to connect; after it: the end of a stream that stays open. */
  #timer: NodeJS.Timeout | undefined;
  #inFlight: RequestInFlight | undefined;
  #events: EventStreamReader | undefined;
  #head = noHead;
  /** Of a body whose length is known: all of it, filled as it comes. */
  #body: Buffer | undefined;
  /** Of a body whose length is not known, or that is a refusal's. */
  #gathered: GatheredBytes | undefined;
  #bytes = 0;

  constructor(id: number, wire: ExchangeWire, outgoing: Outgoing, sink: HttpExchangeSink) {
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
    this.#inFlight?.abort(this);
  }

  /** Nothing more is to come: what its server leaves open is ended a little later, so that the socket is free again. */
  expectEnd(): void {
    if (this.#ended || this.#mode === "head") return;
    this.#timer ??= setTimeout(() => {
      this.abort();
      this.#sink.onEnd(this.#mode === "stream");
    }, this.#wire.tuning.afterAnswerMs);
  }

  /** Ends the exchange because the connection is disposed of. */
  disconnect(): void {
    if (this.#ended) return;
    this.abort();
    this.#sink.onFailed(
      new GatewayError("UPSTREAM_CLOSED", `the connection to ${this.#wire.endpoint.server} was closed`),
    );
  }

  onConnected(inFlight: RequestInFlight): boolean {
    this.#leaveQueue();
    if (this.#ended) return false;
    this.#inFlight = inFlight;
    this.#sink.onSent();
    return true;
  }

  onHead(head: ResponseHead): void {
    if (this.#ended) return;
    this.#head = head;
    this.#body = this.#gathered = undefined;
    this.#bytes = 0;
    const failure = failureOfHead(this.#wire.endpoint, head);
    if (failure !== undefined) {
      this.#fail(failure);
      return;
    }
    if (head.status >= 300) {
      this.#mode = "refusal";
      return;
    }
    const contentType = head.get("content-type");
    if (contentType !== undefined && isEventStreamType(contentType)) {
      this.#mode = "stream";
      this.#events = createEventStreamReader(this.#wire.limits.messageBytes, this);
    } else {
      this.#mode = "body";
      this.#prepareBody(Number(head.get("content-length") ?? 0));
    }
    this.#sink.onHead(head);
    // Says that the message was taken, and has no body (2025-11-25, transports, sending messages): some servers leave
    // its end open.
    if (head.status === accepted && this.#mode === "body") this.expectEnd();
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.#ended) return;
    this.#wire.touch();
    if (this.#events !== undefined) {
      this.#events.feed(Buffer.from(bytes.subarray(start, end)));
      return;
    }
    if (this.#mode === "refusal" && this.#bytes + end - start > this.#wire.tuning.refusalBytes) {
      this.#end();
      this.#inFlight?.abort(this);
      this.#sink.onRefused({ head: this.#head, body: Buffer.alloc(0) });
      return;
    }
    if (this.#body !== undefined) bytes.copy(this.#body, this.#bytes, start, end);
    else this.#gather(bytes.subarray(start, end));
    this.#bytes += end - start;
    if (this.#bytes > this.#wire.limits.messageBytes) this.onTooLong();
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

  onTransportFailure(failure: TransportFailure): void {
    this.#leaveQueue();
    if (this.#ended) return;
    switch (failure.kind) {
      case "connect":
        this.#retryConnect(failure.reason);
        return;
      case "closed":
        this.#fail(
          new GatewayError(
            "UPSTREAM_CLOSED",
            `${this.#server} closed the connection before it had answered${failure.reason === "" ? "" : ` (${failure.reason})`}`,
          ),
        );
        return;
      case "malformed":
        this.#fail(
          new GatewayError("UPSTREAM_PROTOCOL", `${this.#server} answered with malformed HTTP: ${failure.reason}`),
        );
        return;
      case "unsendable":
        this.#fail(
          new GatewayError("CONNECT_FAILED", `the request to ${this.#server} cannot be sent: ${failure.reason}`),
        );
        return;
      case "disposed":
        this.#fail(new GatewayError("UPSTREAM_CLOSED", `the connection to ${this.#server} was closed`));
    }
  }

  onEvent(data: Buffer, type: string): void {
    if (!this.#ended) this.#sink.onMessage(data, type);
  }

  onTooLong(): void {
    const limit = this.#wire.limits.messageBytes;
    this.#fail(
      new GatewayError("RESULT_TOO_LARGE", `${this.#server} sent a message of more than ${limit} bytes`, {
        data: { limitBytes: limit },
        hint: `Ask the tool for less (a page, a range, a filter), or raise ${settingNow("limits.upstreamMessageBytes", limit)}.`,
      }),
    );
  }

  get #server(): string {
    return this.#wire.endpoint.server;
  }

  /** The server says how much will come: then it is gathered without a copy more. */
  #prepareBody(length: number): void {
    if (length > this.#wire.limits.messageBytes) this.onTooLong();
    else if (length > 0) this.#body = Buffer.allocUnsafe(length);
  }

  /** Until here the pool held the body, also when the caller had given up. */
  #leaveQueue(): void {
    if (!this.#isQueued) return;
    this.#isQueued = false;
    this.#wire.releaseQueued(this.#outgoing.body?.length ?? 0);
  }

  #dispatch(headers: readonly string[]): void {
    if (this.#ended) return;
    const { method, body, path, isUrgent } = this.#outgoing;
    // There are not more urgent ones than calls that wait, and what they bring makes room.
    if (isUrgent !== true && !this.#wire.admitQueued(body?.length ?? 0)) {
      this.#fail(
        new GatewayError(
          "UPSTREAM_BUSY",
          `${this.#wire.limits.sendQueueBytes} bytes already wait for ${this.#server}`,
          {
            hint: `Call again later, or raise ${settingNow("limits.stdinQueueBytes", this.#wire.limits.sendQueueBytes)}.`,
          },
        ),
      );
      return;
    }
    this.#isQueued = isUrgent !== true;
    const request = { path: path ?? this.#wire.endpoint.path, method, headers, body, isUrgent: isUrgent === true };
    this.#wire.client.send(request, this);
  }

  async #dispatchAuthorized(authorize: NonNullable<ExchangeWire["authorize"]>, refresh: boolean): Promise<void> {
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
    const delayMs = this.#wire.tuning.connectRetryDelaysMs[this.#failedConnects];
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
    this.#wire.onUnreachable(error);
  }

  #finishRefusal(): void {
    const { authorize } = this.#wire;
    if (this.#head.status === 401 && authorize !== undefined && !this.#isRefreshed) {
      this.#isRefreshed = true;
      void this.#dispatchAuthorized(authorize, true);
      return;
    }
    const body = this.#takeBody();
    this.#end();
    this.#sink.onRefused({ head: this.#head, body });
  }

  #takeBody(): Buffer {
    const body = this.#body ?? this.#gathered?.take() ?? Buffer.alloc(0);
    return startsWithMark(body) ? body.subarray(3) : body;
  }

  /** The piece is in memory that is used again: the first has to be copied, the others are copied anyway. */
  #gather(piece: Buffer): void {
    if (this.#gathered !== undefined) {
      this.#gathered.append(piece);
      return;
    }
    this.#gathered = new GatheredBytes();
    this.#gathered.append(Buffer.from(piece));
  }

  #fail(error: GatewayError): void {
    if (this.#ended) return;
    this.#end();
    this.#inFlight?.abort(this);
    this.#sink.onFailed(error);
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#wire.leave(this);
  }
}

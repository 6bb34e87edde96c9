import { startsWithMark } from "../../../../wire/json/characters.ts";
import { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../../kernel/text/number-text.ts";
import {
  createEventStreamReader,
  type EventStreamReader,
  type EventStreamSink,
  mostIdleBytes,
} from "../../../../wire/sse/event-stream.ts";
import { GatheredBytes } from "../../../../wire/json/gathered-bytes.ts";
import { isEventStreamType, noHead, withHeaders, type ResponseHead } from "../../../../wire/http/response-head.ts";
import type { LoginHeaders } from "../../connect.ts";
import type {
  HttpRequest,
  RequestInFlight,
  ResponseHandler,
  TransportFailure,
} from "../../../../wire/http/http-client.ts";
import { failureOfHead, type Refusal, inBrackets, toTransportError } from "./refusal.ts";
import { slashRedirect } from "../server-address.ts";
import type { StraySource } from "../../messages/back-pressure.ts";
import type { Authorize, ExchangeWire } from "./exchange-wire.ts";

/** An HTTP request to be made; without a path it goes to the path of the server's URL. */
export type Outgoing = Omit<HttpRequest, "path"> & Partial<Pick<HttpRequest, "path">>;

/**
 * Receives the response of an exchange. The last call is exactly one of onEnd, onRefused and onFailed, unless the
 * exchange was aborted.
 */
export interface HttpExchangeSink {
  /** Called right before the request is written; from then on the server may have seen it. */
  onSent(): void;
  /** The head of a successful response. */
  onHead(head: ResponseHead): void;
  /** One JSON text: the body, or the data of one event. Refers to the received bytes, and may be kept. */
  onMessage(message: Buffer, type: string): void;
  /** The response is complete. */
  onEnd(isEventStream: boolean): void;
  /** The response is an HTTP error. */
  onRefused(refusal: Refusal): void;
  /**
   * The exchange failed with UPSTREAM_BUSY, CONNECT_FAILED, UPSTREAM_CLOSED, UPSTREAM_PROTOCOL, RESULT_TOO_LARGE or
   * SERVER_NEEDS_LOGIN.
   */
  onFailed(error: GatewayError): void;
}

const accepted = 202;
const noLogin: LoginHeaders = Object.freeze({});

type Mode = "head" | "body" | "stream" | "refusal";

/**
 * One HTTP request and its response. A failed attempt to connect is repeated as long as nothing was sent; a 401 is
 * answered once with fresh credentials; the response is read as a JSON text, an event stream or a refusal. It is a
 * class because one is made for every call.
 */
export class HttpExchange implements ResponseHandler, EventStreamSink, StraySource {
  /** Its number among the exchanges in flight. */
  readonly id: number;
  readonly #wire: ExchangeWire;
  readonly #outgoing: Outgoing;
  readonly #sink: HttpExchangeSink;
  #mode: Mode = "head";
  #ended = false;
  #isQueued = false;
  #isRefreshed = false;
  /** What it was sent with, which the server may refuse. */
  #login = noLogin;
  /** The path that a redirect led to, which is followed once. */
  #movedTo: string | undefined;
  #failedConnects = 0;
  /**
   * Before the response, the next attempt to connect; after the answer, the end of a stream that the server leaves
   * open.
   */
  #timer: NodeJS.Timeout | undefined;
  #inFlight: RequestInFlight | undefined;
  #events: EventStreamReader | undefined;
  #head = noHead;
  /** The whole body, if its length is known; filled as it arrives. */
  #body: Buffer | undefined;
  /** The body so far, if its length is unknown or it belongs to a refusal. */
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

  /** Call it once. The sink may be told of a failure before this returns. */
  start(): void {
    this.#wire.enter(this);
    this.#wire.touch();
    if (this.#wire.authorize === undefined) this.#dispatch(this.#outgoing.headers);
    else void this.#dispatchAuthorized(this.#wire.authorize, undefined);
  }

  /** Ends the exchange without calling the sink. The server sees its connection close. */
  abort(): void {
    if (this.#ended) return;
    this.#end();
    this.#inFlight?.abort(this);
  }

  /**
   * Call when nothing more is expected. If the server leaves the response open, it is ended a little later, so that
   * its socket becomes free.
   */
  expectEnd(): void {
    if (this.#ended || this.#mode === "head") return;
    this.#timer ??= setTimeout(() => {
      this.abort();
      this.#sink.onEnd(this.#mode === "stream");
    }, this.#wire.tuning.afterAnswerMs);
  }

  /** Fails the exchange because the connection is being disposed of. */
  disconnect(): void {
    if (this.#ended) return;
    this.abort();
    this.#sink.onFailed(toTransportError(this.#server, { kind: "disposed", reason: "" }));
  }

  /** The response is not read until `resume`. */
  pause(): void {
    this.#inFlight?.pause(this);
  }

  resume(): void {
    this.#inFlight?.resume(this);
  }

  onConnected(inFlight: RequestInFlight): boolean {
    this.#leaveQueue();
    if (this.#ended) return false;
    this.#inFlight = inFlight;
    const { body } = this.#outgoing;
    if (body !== null) this.#wire.tap?.("out", body);
    this.#sink.onSent();
    return true;
  }

  onHead(head: ResponseHead): void {
    if (this.#ended) return;
    this.#head = head;
    this.#body = this.#gathered = undefined;
    this.#bytes = 0;
    const failure = failureOfHead(this.#wire.address, head);
    if (failure !== undefined && !this.#noteRedirect(head)) {
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
    // 202 means that the message was accepted, and has no body (2025-11-25, transports, sending messages), but some
    // servers never end the response.
    if (head.status === accepted && this.#mode === "body") this.expectEnd();
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.#ended) return;
    this.#wire.touch();
    if (this.#events !== undefined) {
      const { strays } = this.#wire;
      const before = strays.count;
      this.#events.feed(Buffer.from(bytes.subarray(start, end)));
      if (strays.count > before && !this.#ended) strays.restrain(this);
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
    if (this.#mode === "body" && this.#bytes > 0) this.onEvent(this.#takeBody(), "message");
    if (this.#ended) return;
    this.#end();
    this.#sink.onEnd(this.#mode === "stream");
  }

  onTransportFailure(failure: TransportFailure): void {
    this.#leaveQueue();
    if (this.#ended) return;
    if (failure.kind === "connect") this.#retryConnect(failure.reason);
    else this.#fail(toTransportError(this.#server, { kind: failure.kind, reason: failure.reason }));
  }

  onEvent(data: Buffer, type: string): void {
    if (this.#ended) return;
    if (type === "message") this.#wire.tap?.("in", data);
    this.#sink.onMessage(data, type);
  }

  onTooLong(): void {
    const limit = this.#wire.limits.messageBytes;
    this.#fail(
      new GatewayError("RESULT_TOO_LARGE", `${this.#server} sent a message of more than ${limit} bytes`, {
        data: { limitBytes: limit },
        hint:
          "Ask the tool for less (a page, a range, a filter), " +
          `or raise ${settingNow("limits.upstreamMessageBytes", limit)}.`,
      }),
    );
  }

  onTooMuchIdle(): void {
    const said = `${this.#server} sent ${mostIdleBytes} bytes of an event stream within a minute without an event`;
    this.#fail(new GatewayError("UPSTREAM_PROTOCOL", said));
  }

  get #server(): string {
    return this.#wire.address.server;
  }

  /** With a known length, the body is collected without an additional copy. */
  #prepareBody(length: number): void {
    if (length > this.#wire.limits.messageBytes) this.onTooLong();
    else if (length > 0) this.#body = Buffer.allocUnsafe(length);
  }

  /** Until now the body was in the queue of the client, even if the caller had given up. */
  #leaveQueue(): void {
    if (!this.#isQueued) return;
    this.#isQueued = false;
    this.#wire.releaseQueued(this.#outgoing.body?.length ?? 0);
  }

  #dispatch(headers: readonly string[]): void {
    if (this.#ended) return;
    const { method, body, path, isUrgent } = this.#outgoing;
    // Urgent requests are never more than the calls that wait, and what they deliver frees the queue.
    if (isUrgent !== true && !this.#wire.admitQueued(body?.length ?? 0)) {
      const { sendQueueBytes } = this.#wire.limits;
      this.#fail(
        new GatewayError("UPSTREAM_BUSY", `${sendQueueBytes} bytes are already queued for ${this.#server}`, {
          hint: `Call again later, or raise ${settingNow("limits.stdinQueueBytes", sendQueueBytes)}.`,
        }),
      );
      return;
    }
    this.#isQueued = isUrgent !== true;
    const to = this.#movedTo ?? this.#wire.pathFor(path ?? this.#wire.address.path);
    const request = { path: to, method, headers, body, isUrgent: isUrgent === true };
    this.#wire.client.send(request, this);
  }

  async #dispatchAuthorized(authorize: Authorize, refused: LoginHeaders | undefined): Promise<void> {
    let extra: LoginHeaders | undefined;
    try {
      extra = await authorize(refused);
    } catch (error) {
      const what = `no credentials for ${this.#server} could be obtained`;
      const told =
        error instanceof GatewayError ? error : new GatewayError("SERVER_NEEDS_LOGIN", what, { cause: error });
      return this.#fail(told);
    }
    this.#login = extra ?? noLogin;
    if (refused !== undefined && extra === undefined) this.#finishRefusal();
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
    const { origin } = this.#wire.address;
    const error = new GatewayError(
      "CONNECT_FAILED",
      `cannot connect to ${this.#server} at ${origin}${inBrackets(code)}`,
      { data: { code } },
    );
    this.#fail(error);
    this.#wire.onUnreachable(error);
  }

  /**
   * Whether the redirect is one that is followed, when its body has been read. A POST cannot be redirected after it was
   * carried out, and what holds for it holds for the other requests to its path.
   */
  #noteRedirect(head: ResponseHead): boolean {
    if (this.#movedTo !== undefined) return false;
    const { address } = this.#wire;
    const { method, path = address.path } = this.#outgoing;
    const sent = { method, path: this.#wire.pathFor(path) };
    this.#movedTo = slashRedirect(address, sent, { status: head.status, location: head.get("location") });
    if (this.#movedTo === undefined) return false;
    if (method === "POST") this.#wire.notePath(path, this.#movedTo);
    return true;
  }

  #finishRefusal(): void {
    const { authorize } = this.#wire;
    if (this.#head.status < 400) {
      this.start();
      return;
    }
    if (this.#head.status === 401 && authorize !== undefined && !this.#isRefreshed) {
      this.#isRefreshed = true;
      void this.#dispatchAuthorized(authorize, this.#login);
      return;
    }
    const body = this.#takeBody();
    this.#end();
    this.#wire.tap?.("in", body, this.#head.status);
    this.#sink.onRefused({ head: this.#head, body });
  }

  #takeBody(): Buffer {
    const body = this.#body ?? this.#gathered?.take() ?? Buffer.alloc(0);
    return startsWithMark(body) ? body.subarray(3) : body;
  }

  /** The piece is in memory that is reused, so the first one has to be copied; later ones are copied in any case. */
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
    if (this.#events !== undefined) this.#wire.strays.forget(this);
    this.#wire.leave(this);
  }
}

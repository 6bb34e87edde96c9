import { rpcCodes } from "../../../wire/mcp/rpc-codes.ts";
import type { SlotTable } from "../../../kernel/slot-table.ts";
import { withTraceHeaders } from "../../../kernel/trace-context.ts";
import type { GatewayError } from "../../../kernel/gateway-error.ts";
import type { UpstreamRequest } from "../connection.ts";
import { isModernError } from "../handshake.ts";
import { deliver, type Delivery } from "./deliver.ts";
import type { HttpExchange, HttpExchangeSink } from "./http-exchange.ts";
import type { LegacySession } from "./legacy-session.ts";
import { endedUnanswered } from "./modern-channel.ts";
import { failureOfRefusal, rpcErrorOf, type Refusal, type RpcError } from "./refusal.ts";
import { toPollDelayMs } from "./resume-delay.ts";
import type { Wire } from "./wire.ts";

/** What a call needs from its channel. */
export interface LegacyCallHost extends Delivery {
  readonly wire: Wire;
  readonly calls: SlotTable<LegacyCall>;
  /** Opens a new session to replace one that the server no longer knows; the same one for everybody who asks. */
  renew(stale: LegacySession): Promise<LegacySession>;
  /** Notes that the server has answered in this session, which proves that it was valid. */
  onAnswered(session: LegacySession): void;
  isProven(session: LegacySession): boolean;
}

/** One request in a legacy session: its POST, and the GETs that resume its event stream if that breaks. */
export class LegacyCall implements HttpExchangeSink {
  readonly #host: LegacyCallHost;
  readonly id: number;
  readonly #request: UpstreamRequest;
  readonly #body: string;
  #session: LegacySession | undefined;
  #exchange: HttpExchange | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSent = false;
  #isAnswered = false;
  #isRenewed = false;
  #isResuming = false;
  #lastEventId: string | undefined;
  #fruitlessTries = 0;
  /** Streams in a row that brought no message at all. */
  #emptyStreams = 0;

  constructor(host: LegacyCallHost, id: number, request: UpstreamRequest, body: string) {
    this.#host = host;
    this.id = id;
    this.#request = request;
    this.#body = body;
  }

  /** Whether the server may have seen the request. */
  get isSent(): boolean {
    return this.#isSent;
  }

  send(session: LegacySession): void {
    this.#session = session;
    const headers = withTraceHeaders(session.postHeaders, this.#request.meta);
    this.#exchange = this.#host.wire.exchange({ method: "POST", headers, body: this.#body }, this);
    this.#exchange.start();
  }

  fail(error: GatewayError): void {
    this.#leave();
    this.#host.table.fail(this.id, error);
  }

  abort(): void {
    this.#leave();
    this.#exchange?.abort();
  }

  onSent(): void {
    this.#isSent = true;
    if (!this.#isResuming) this.#request.onSent?.();
  }

  onHead(): void {}

  onMessage(message: Buffer): void {
    this.#emptyStreams = 0;
    if (!deliver(this.#host, this.id, message)) return;
    this.#isAnswered = true;
    if (this.#session !== undefined) this.#host.onAnswered(this.#session);
    this.#leave();
    this.#exchange?.expectEnd();
  }

  onEnd(isEventStream: boolean): void {
    if (this.#isAnswered) return;
    this.#emptyStreams += 1;
    const failure = endedUnanswered(this.#host.wire.address.server, isEventStream);
    if (!isEventStream) {
      this.fail(failure);
      return;
    }
    // A server that lets its client reconnect for the answer makes ours do the same (2025-11-25, transports, sending
    // messages).
    if (this.#exchange?.lastEventId !== undefined) this.#request.replies?.breakOff?.(this.#resumeDelayMs());
    this.#resumeOrFail(failure);
  }

  onFailed(error: GatewayError): void {
    if (this.#isAnswered) return;
    if (error.code === "UPSTREAM_CLOSED") this.#resumeOrFail(error);
    else this.fail(error);
  }

  onRefused(refusal: Refusal): void {
    const { wire, table, maxDepth } = this.#host;
    const failure = failureOfRefusal(wire.address.server, refusal);
    if (failure.code === "SERVER_NEEDS_LOGIN" || refusal.head.status === 403) {
      this.fail(failure);
      return;
    }
    if (this.#isResuming) {
      this.fail(endedUnanswered(wire.address.server, true));
      return;
    }
    const error = rpcErrorOf(refusal.body, maxDepth);
    if (this.#isSessionGone(refusal.head.status, error)) {
      void this.#sendAgain();
      return;
    }
    if (error === undefined) {
      this.fail(failure);
      return;
    }
    this.#leave();
    table.receive({ kind: "error", id: this.id, error: error.bytes }, this.id);
  }

  /**
   * Whether a refusal means that the server no longer knows the session. 404 means that (2025-11-25, transports,
   * session management). Many servers, those made with the SDKs among them, use 400 with the code -32000 instead,
   * which may also be an ordinary error; so that is believed once per request, and only in a session that has worked.
   * If the error has the request's own id, the request did run and the error is the tool's.
   */
  #isSessionGone(status: number, error: RpcError | undefined): boolean {
    const session = this.#session;
    if (session === undefined || this.#isRenewed) return false;
    // The server has become a modern one. It will open no new session, which ends this connection.
    if (error !== undefined && isModernError(error.code)) return true;
    if (session.id === undefined) return false;
    if (status === 404) return true;
    if (status !== 400 || error?.code !== rpcCodes.serverError || error.id === this.id) return false;
    return this.#host.isProven(session);
  }

  /** The refusal means that the request was not executed, so it is sent again in a new session. */
  async #sendAgain(): Promise<void> {
    this.#isRenewed = true;
    try {
      const session = await this.#host.renew(this.#session as LegacySession);
      if (this.#host.calls.get(this.id) === this) this.send(session);
    } catch (error) {
      this.fail(error as GatewayError);
    }
  }

  /**
   * Resumes the stream by a GET with the last event's id, which brings the rest (2025-11-25, transports,
   * resumability).
   */
  #resumeOrFail(failure: GatewayError): void {
    const { tuning } = this.#host.wire;
    const seen = this.#exchange?.lastEventId;
    if (seen !== undefined && seen !== this.#lastEventId) {
      this.#lastEventId = seen;
      this.#fruitlessTries = 0;
    }
    if (this.#lastEventId === undefined || this.#fruitlessTries >= tuning.resumeTries) {
      this.fail(failure);
      return;
    }
    this.#fruitlessTries += 1;
    this.#timer = setTimeout(() => this.#resume(), this.#resumeDelayMs());
  }

  /** As long as the server wants (2025-11-25, transports: "the client MUST respect the retry field"). */
  #resumeDelayMs(): number {
    const { resumeDelayMs, maxResumeDelayMs } = this.#host.wire.tuning;
    const askedMs = this.#exchange?.retryMs ?? resumeDelayMs;
    return Math.min(toPollDelayMs({ askedMs, emptyStreams: this.#emptyStreams }), maxResumeDelayMs);
  }

  #resume(): void {
    if (this.#session === undefined || this.#lastEventId === undefined) return;
    this.#isResuming = true;
    const headers = [...this.#session.streamHeaders, "last-event-id", this.#lastEventId];
    this.#exchange = this.#host.wire.exchange({ method: "GET", headers, body: null }, this);
    this.#exchange.start();
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#host.calls.take(this.id);
  }
}

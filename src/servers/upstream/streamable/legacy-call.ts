import { rpcCodes } from "../../../wire/mcp/rpc-codes.ts";
import type { SlotTable } from "../../../kernel/slot-table.ts";
import type { GatewayError } from "../../../kernel/gateway-error.ts";
import type { UpstreamRequest } from "../connection.ts";
import { isModernError } from "../handshake.ts";
import { deliver, type Delivery } from "./deliver.ts";
import type { HttpExchange, HttpExchangeSink } from "./http-exchange.ts";
import type { LegacySession } from "./legacy-session.ts";
import { endedUnanswered } from "./modern-channel.ts";
import { failureOfRefusal, rpcErrorOf, type Refusal, type RpcError } from "./refusal.ts";
import type { Wire } from "./wire.ts";

export interface LegacyCallHost extends Delivery {
  readonly wire: Wire;
  readonly calls: SlotTable<LegacyCall>;
  /** The session in place of one that the server does not know any more; the same for everybody who asks. */
  renew(stale: LegacySession): Promise<LegacySession>;
  /** Notes that the server answered in this session, so it was a good one. */
  onAnswered(session: LegacySession): void;
  isProven(session: LegacySession): boolean;
}

/** What SDK servers answer, with 400, to a session that they do not know (after a restart, say). */

/** One request in a legacy session: its POST, and the GETs that resume its event stream when it breaks. */
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

  constructor(host: LegacyCallHost, id: number, request: UpstreamRequest, body: string) {
    this.#host = host;
    this.id = id;
    this.#request = request;
    this.#body = body;
  }

  /** The server may have seen it. */
  get isSent(): boolean {
    return this.#isSent;
  }

  send(session: LegacySession): void {
    this.#session = session;
    this.#exchange = this.#host.wire.exchange({ method: "POST", headers: session.postHeaders, body: this.#body }, this);
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
    if (!deliver(this.#host, this.id, message)) return;
    this.#isAnswered = true;
    if (this.#session !== undefined) this.#host.onAnswered(this.#session);
    this.#leave();
    this.#exchange?.expectEnd();
  }

  onEnd(isEventStream: boolean): void {
    if (this.#isAnswered) return;
    const failure = endedUnanswered(this.#host.wire.endpoint.server, isEventStream);
    if (!isEventStream) {
      this.fail(failure);
      return;
    }
    // A server that has its client come back for the answer has ours come back too (2025-11-25, transports, sending
    // messages).
    if (this.#exchange?.lastEventId !== undefined) this.#request.replies?.breakOff?.();
    this.#resumeOrFail(failure);
  }

  onFailed(error: GatewayError): void {
    if (this.#isAnswered) return;
    if (error.code === "UPSTREAM_CLOSED") this.#resumeOrFail(error);
    else this.fail(error);
  }

  onRefused(refusal: Refusal): void {
    const { wire, table, maxDepth } = this.#host;
    const failure = failureOfRefusal(wire.endpoint.server, refusal);
    if (failure.code === "SERVER_NEEDS_LOGIN" || refusal.head.status === 403) {
      this.fail(failure);
      return;
    }
    if (this.#isResuming) {
      this.fail(endedUnanswered(wire.endpoint.server, true));
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
   * 404 says so (2025-11-25, transports, session management). Many servers say 400 and -32000 instead, which may also
   * be a plain error: it is believed once per session, and only of one that has worked. With the request's own id it
   * is the tool's: it ran.
   */
  #isSessionGone(status: number, error: RpcError | undefined): boolean {
    const session = this.#session;
    if (session === undefined || this.#isRenewed) return false;
    // The server has become a modern one: no new session will come, which ends this connection.
    if (error !== undefined && isModernError(error.code)) return true;
    if (session.id === undefined) return false;
    if (status === 404) return true;
    if (status !== 400 || error?.code !== rpcCodes.serverError || error.id === this.id) return false;
    return this.#host.isProven(session);
  }

  /** The refusal says that the request did not run, so it is sent once more, in a new session. */
  async #sendAgain(): Promise<void> {
    this.#isRenewed = true;
    try {
      const session = await this.#host.renew(this.#session as LegacySession);
      if (this.#host.calls.get(this.id) === this) this.send(session);
    } catch (error) {
      this.fail(error as GatewayError);
    }
  }

  /** 2025-11-25, transports, resumability: a GET with the last event's id brings the rest. */
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
    const delayMs = Math.min(this.#exchange?.retryMs ?? tuning.resumeDelayMs, tuning.maxResumeDelayMs);
    this.#timer = setTimeout(() => this.#resume(), delayMs);
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

import { isJsonObject, type JsonBytes } from "../../../../kernel/text/json-bytes.ts";
import { readInbound } from "../../../../wire/mcp/server-message.ts";
import type { SlotTable } from "../../../../kernel/runtime/slot-table.ts";
import { withTraceHeaders } from "../../../../kernel/runtime/tracing.ts";
import type { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { UpstreamRequest } from "../../connection.ts";
import { isModernError } from "../../handshake.ts";
import { deliver, type Delivery } from "../exchange/deliver.ts";
import type { HttpExchange, HttpExchangeSink } from "../exchange/http-exchange.ts";
import type { LegacySession } from "./legacy-session.ts";
import { endedUnanswered } from "../modern-channel.ts";
import { failureOfRefusal, rpcErrorOf, type Refusal, type RpcError } from "../exchange/refusal.ts";
import { signOfError, signOfNothing, signOfRefusal, type RefusalSign } from "../exchange/refusal-sign.ts";
import { toPollDelayMs } from "../background-stream.ts";
import type { Wire } from "../exchange/wire.ts";

/** What a call needs from its channel. */
export interface LegacyCallHost extends Delivery {
  readonly wire: Wire;
  readonly calls: SlotTable<LegacyCall>;
  /** Opens a new session to replace one that the server no longer knows; see `CurrentSession`. */
  renew(stale: LegacySession): Promise<LegacySession | undefined>;
  isLost(session: LegacySession, sign: RefusalSign): Promise<boolean>;
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
  /** True while it is found out whether an error is one of the session. */
  #isJudged = false;
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
    const error = message.length > largestError ? undefined : this.#suspectIn(message);
    if (error !== undefined) {
      this.#exchange?.expectEnd();
      this.#isJudged = true;
      this.#unlessLost(signOfError(error), () => this.#deliverLate(message));
      return;
    }
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
    if (this.#isJudged) return;
    if (!isEventStream || (this.#lastEventId ?? this.#exchange?.lastEventId) === undefined) {
      this.#unlessLost(signOfNothing, () => this.fail(failure));
      return;
    }
    // A server that lets its client reconnect for the answer makes ours do the same (2025-11-25, transports, sending
    // messages).
    if (this.#exchange?.lastEventId !== undefined) this.#request.replies?.breakOff?.(this.#resumeDelayMs());
    this.#resumeOrFail(failure);
  }

  onFailed(error: GatewayError): void {
    if (this.#isAnswered || this.#isJudged) return;
    if (error.code === "UPSTREAM_CLOSED") this.#resumeOrFail(error);
    else this.fail(error);
  }

  onRefused(refusal: Refusal): void {
    const { wire, table, maxDepth } = this.#host;
    if (this.#isResuming) {
      this.fail(endedUnanswered(wire.address.server, true));
      return;
    }
    const failure = failureOfRefusal(wire.address.server, refusal);
    const error = rpcErrorOf(refusal.body, maxDepth);
    if (this.#isSessionGone(refusal.head.status, error)) {
      void this.#sendAgain(() => this.fail(failure));
      return;
    }
    const giveUp = () => {
      if (error === undefined || failure.code === "SERVER_NEEDS_LOGIN" || refusal.head.status === 403) {
        this.fail(failure);
        return;
      }
      this.#leave();
      table.receive({ kind: "error", id: this.id, error: error.bytes }, this.id);
    };
    if (mayBeOfSession(failure)) this.#unlessLost(signOfRefusal(refusal, maxDepth), giveUp);
    else giveUp();
  }

  /** 404 means that the server no longer knows the session (2025-11-25, transports, session management). */
  #isSessionGone(status: number, error: RpcError | undefined): boolean {
    if (this.#session === undefined || this.#isRenewed) return false;
    // The server has become a modern one. It will open no new session, which ends this connection.
    if (error !== undefined && isModernError(error.code)) return true;
    return this.#session.id !== undefined && status === 404;
  }

  /**
   * Calls `giveUp`, unless the server has lost the session: then the request did not run, and is sent again in a new
   * one. Servers say that in many ways, so it is recognised by the place of the refusal: in a session that had worked,
   * and instead of any answer. Believed once per request.
   */
  #unlessLost(sign: RefusalSign, giveUp: () => void): void {
    const session = this.#session;
    if (session?.id === undefined || this.#isRenewed || this.#isResuming || !this.#host.isProven(session)) {
      giveUp();
      return;
    }
    void this.#host.isLost(session, sign).then((isLost) => {
      if (this.#host.calls.get(this.id) !== this) return;
      if (isLost) void this.#sendAgain(giveUp);
      else giveUp();
    });
  }

  /** The refusal means that the request was not executed, so it is sent again in a new session. */
  async #sendAgain(giveUp: () => void): Promise<void> {
    this.#isRenewed = true;
    this.#isJudged = false;
    try {
      const session = await this.#host.renew(this.#session as LegacySession);
      if (this.#host.calls.get(this.id) !== this) return;
      if (session === undefined) {
        giveUp();
        return;
      }
      // What it still says would be taken for the end of the new one.
      this.#exchange?.abort();
      this.send(session);
    } catch (error) {
      this.fail(error as GatewayError);
    }
  }

  /** The error in a message that answers this request, if the server may have lost the session. */
  #suspectIn(message: Buffer): JsonBytes | undefined {
    const session = this.#session;
    if (session?.id === undefined || this.#isRenewed || !message.includes('"error"')) return undefined;
    if (!this.#host.isProven(session)) return undefined;
    const inbound = readInbound(message, this.#host.maxDepth);
    const isOurs = inbound.kind === "error" && (inbound.id === this.id || inbound.id === null);
    return isOurs ? inbound.error : undefined;
  }

  #deliverLate(message: Buffer): void {
    if (deliver(this.#host, this.id, message)) {
      this.#isAnswered = true;
      this.#leave();
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

/** Larger messages are results: what refuses a request is short. */
const largestError = 65_536;

/** Whether a refusal may mean that the session is lost; otherwise it is about load, a login, or a server behind it. */
function mayBeOfSession({ code, data }: GatewayError): boolean {
  if (code === "SERVER_NEEDS_LOGIN") {
    const challenge = data?.["challenge"];
    return data?.["status"] === 401 && isJsonObject(challenge) && challenge["resource_metadata"] === undefined;
  }
  // Of these the request may have run behind the proxy that answered.
  return code === "UPSTREAM_HTTP" && data?.["status"] !== 502 && data?.["status"] !== 504;
}

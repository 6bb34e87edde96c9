import { abortReason } from "../../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import { readEach, type Inbound } from "../../../../wire/mcp/server-message.ts";
import type { Outgoing } from "./http-exchange.ts";
import { noHead, type ResponseHead } from "../../../../wire/http/response-head.ts";
import type { Refusal } from "./refusal.ts";
import type { Wire } from "./wire.ts";

/** An answer to a request. */
export type RpcAnswer = Extract<Inbound, { readonly kind: "result" | "error" }>;

/** What came of an exchange. */
export type ExchangeOutcome =
  | {
      readonly kind: "answer";
      readonly head: ResponseHead;
      readonly answer: RpcAnswer;
    }
  /** A success without an answer: to a notification, or of a server that does not speak MCP. */
  | { readonly kind: "empty"; readonly head: ResponseHead }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Deadline and cancellation of an exchange. */
export interface OnceOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** For a message that gets no answer: a success tells all there is to know, so the exchange is done. */
  readonly isNotice?: boolean;
}

/**
 * Makes one exchange as a promise. For rare messages (handshakes, notifications, the end of a session); it is never
 * queued behind calls. Resolves to the first answer, or to the end of the response. Rejects with the failures of an
 * exchange, UPSTREAM_TIMEOUT, or the signal's reason.
 */
export function exchangeOnce(wire: Wire, outgoing: Outgoing, options: OnceOptions): Promise<ExchangeOutcome> {
  return new Promise((resolve, reject) => {
    let head = noHead;
    let settled = false;

    function settle(act: () => void): void {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      options.signal.removeEventListener("abort", onAbort);
      act();
    }

    function giveUp(error: Error): void {
      settle(() => reject(error));
      exchange.abort();
    }

    function receive(inbound: Inbound): void {
      if (settled || (inbound.kind !== "result" && inbound.kind !== "error")) {
        wire.strays.add();
        return;
      }
      settle(() => resolve({ kind: "answer", head, answer: inbound }));
      exchange.expectEnd();
    }

    const exchange = wire.exchange(
      { ...outgoing, isUrgent: true },
      {
        onSent: () => undefined,
        onHead(given) {
          head = given;
          if (options.isNotice !== true) return;
          // Some servers answer 200 or 204, with whatever they write for "done", or a stream that they leave open.
          settle(() => resolve({ kind: "empty", head }));
          exchange.expectEnd();
        },
        onMessage: (bytes) => readEach(bytes, wire.limits.depth, receive),
        onEnd: () => settle(() => resolve({ kind: "empty", head })),
        onRefused: (refusal) => settle(() => resolve({ kind: "refused", refusal })),
        onFailed: (error) => settle(() => reject(error)),
      },
    );
    const onAbort = () => giveUp(abortReason(options.signal));
    const timer = setTimeout(() => {
      giveUp(
        new GatewayError(
          "UPSTREAM_TIMEOUT",
          `${wire.address.server} did not answer within ${options.timeoutMs / 1_000} s`,
          { hint: "No setting changes how long this request may take: look at the server's log, and at the network." },
        ),
      );
    }, options.timeoutMs);
    if (options.signal.aborted) {
      onAbort();
      return;
    }
    options.signal.addEventListener("abort", onAbort);
    exchange.start();
  });
}

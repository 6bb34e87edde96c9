import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { Answer, CallContext, Question } from "../../../kernel/call/call-context.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import type { InstanceId } from "../../../kernel/ids.ts";

/**
 * Questions that servers have asked and somebody has to answer. A waiting call occupies its server, so that both the
 * number of questions and the time they may take are limited.
 */
export interface WaitingQuestions {
  /** Throws CLIENT_CANNOT_ANSWER when too many questions are waiting already, QUESTION_TIMEOUT when no answer comes. */
  ask(instance: InstanceId, context: CallContext, question: Question, signal: AbortSignal): Promise<Answer>;
}

export interface WaitingLimits {
  readonly limitMs: number;
  /**
   * Questions to modern clients. Their calls are parked until the client comes back, if it does (docs/design.md,
   * "Questions").
   */
  readonly mostParked: number;
  readonly clock: Clock;
}

/**
 * Questions to legacy clients, per instance. Each belongs to a call in progress and to the connection on which it was
 * asked.
 */
const mostLive = 256;

/** Begins with no questions. */
export function createWaitingQuestions(options: WaitingLimits): WaitingQuestions {
  const parked = new Map<InstanceId, number>();
  const live = new Map<InstanceId, number>();

  /** Runs `ask` with a signal that also aborts when the time is over. */
  async function askInTime(
    ask: NonNullable<CallContext["ask"]>,
    question: Question,
    signal: AbortSignal,
  ): Promise<Answer> {
    const controller = new AbortController();
    const end = () => controller.abort(abortReason(signal));
    const tooLate = () =>
      controller.abort(
        new GatewayError("QUESTION_TIMEOUT", `no one answered within ${options.limitMs / 1_000} s`, {
          hint: `Call again and answer in time, or raise ${settingNow("limits.parkedMs", options.limitMs)}.`,
        }),
      );
    const cancelTimer = options.clock.after(options.limitMs, tooLate);
    signal.addEventListener("abort", end, { once: true });
    try {
      return await ask(question, controller.signal);
    } finally {
      cancelTimer();
      signal.removeEventListener("abort", end);
    }
  }

  return {
    async ask(instance, context, question, signal) {
      const { ask, client } = context;
      const isParked = client.era === "modern";
      const waiting = isParked ? parked : live;
      const count = waiting.get(instance) ?? 0;
      if (signal.aborted) throw abortReason(signal);
      if (ask === undefined)
        throw new GatewayError("CLIENT_CANNOT_ANSWER", `the client cannot answer ${question.method}`);
      if (count >= (isParked ? options.mostParked : mostLive))
        throw new GatewayError(
          "CLIENT_CANNOT_ANSWER",
          `${count} questions of this server are already waiting for an answer`,
          isParked
            ? {
                hint: `Answer one of them first, or raise ${settingNow("limits.parkedCalls", options.mostParked)}.`,
              }
            : { hint: "Answer one of them first." },
        );
      waiting.set(instance, count + 1);
      const since = options.clock.monotonic();
      try {
        return await askInTime(ask, question, signal);
      } finally {
        context.waitedMs += options.clock.monotonic() - since;
        const left = (waiting.get(instance) ?? 1) - 1;
        if (left > 0) waiting.set(instance, left);
        else waiting.delete(instance);
      }
    },
  };
}

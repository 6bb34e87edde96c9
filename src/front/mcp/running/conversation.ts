import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { Answer, CallContext, Question } from "../../../kernel/call/call-context.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { ReplyBody } from "../caller.ts";

/**
 * A call of a modern client to a legacy server that asks while it works (docs/design.md, "Questions"). The call stays
 * open upstream, while the client is given the questions as the answer to its request, and comes back with answers on
 * another one.
 */
export interface Conversation {
  readonly ask: NonNullable<CallContext["ask"]>;
  /**
   * How progress and logs reach the client, and what it can be asked: all that is said by the request that waits for
   * the answer now, not by the one that began it.
   */
  ways: Ways;
  /** What the client is to be told next: the call's answer, or the questions that have come up. One waits at a time. */
  next(): Promise<Turn>;
  /** Ends the call: its client has disconnected. */
  cancel(reason: GatewayError): void;
}

export type Ways = Pick<CallContext, "onProgress" | "onLog" | "replies" | "client" | "stage">;

export type Turn =
  | { readonly kind: "answer"; readonly reply: ReplyBody }
  | { readonly kind: "questions"; readonly handle: string; readonly inputRequests: string }
  /** A question has come up that the client does not declare any more that it can answer: the call was ended. */
  | { readonly kind: "refused"; readonly error: GatewayError };

export type RunConversation = (conversation: Conversation, signal: AbortSignal) => Promise<ReplyBody>;

/**
 * Keeps the questions until the client answers; returns what it is told meanwhile. Undefined when they were rejected
 * because nothing more can be kept: then the call goes on.
 */
export type Park = (conversation: Conversation, asked: AskedQuestions) => Turn | undefined;

/** Questions that are put to the client together. */
export interface AskedQuestions {
  readonly byKey: ReadonlyMap<string, Question>;
  /** Settles those that are answered; the others are asked again in the next turn. */
  answer(answers: ReadonlyMap<string, JsonBytes>): void;
  reject(error: GatewayError): void;
}

interface WaitingQuestion {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Begins the call that `run` makes. `run` never rejects. */
export function createConversation(ways: Ways, run: RunConversation, park: Park): Conversation {
  const controller = new AbortController();
  /** Questions that the client has not been told yet. */
  let open = new Map<string, WaitingQuestion>();
  let lastKey = 0;
  let wake: (() => void) | undefined;
  let reply: ReplyBody | undefined;

  function takeOpen(): AskedQuestions {
    const asked = open;
    open = new Map();
    return {
      byKey: new Map([...asked].map(([key, { question }]) => [key, question])),
      answer(answers) {
        for (const [key, waiting] of asked) {
          const answer = answers.get(key);
          // What was left out is asked again (2026-07-28, patterns/mrtr, error handling).
          if (answer === undefined) open.set(key, waiting);
          else waiting.resolve({ kind: "result", result: answer });
        }
      },
      reject(error) {
        for (const { reject } of asked.values()) reject(error);
      },
    };
  }

  const conversation: Conversation = {
    ways,
    ask: async (question, signal) =>
      await new Promise<Answer>((resolve, reject) => {
        lastKey += 1;
        const key = question.key ?? `q${lastKey}`;
        const waiting = { question, resolve, reject };
        open.set(key, waiting);
        const takeBack = (): void => {
          if (open.get(key) === waiting) open.delete(key);
          reject(abortReason(signal));
        };
        signal.addEventListener("abort", takeBack, { once: true });
        // After this turn of the event loop, so that questions of the same moment are asked together.
        setImmediate(() => wake?.());
      }),
    async next() {
      for (;;) {
        while (reply === undefined && open.size === 0) await new Promise<void>((resolve) => (wake = resolve));
        if (reply !== undefined) return { kind: "answer", reply };
        const turn = park(conversation, takeOpen());
        if (turn !== undefined) return turn;
      }
    },
    cancel: (reason) => controller.abort(reason),
  };

  void run(conversation, controller.signal).then((done) => {
    reply = done;
    wake?.();
  });
  return conversation;
}

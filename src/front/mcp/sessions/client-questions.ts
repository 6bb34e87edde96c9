import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { Answer, Question } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject, JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { failureAnswer } from "../../../wire/mcp/error-object.ts";
import { requestText, writeNotification } from "../../../wire/mcp/envelope.ts";
import { deepestJson } from "../../../kernel/limits.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { findMember, scanMembers } from "../../../wire/json/json-scan.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";

/** What the gateway has asked one legacy client, as JSON-RPC requests of its own, and the answers that it waits for. */
export interface ClientQuestions {
  /**
   * Sends a question with `deliver`, or, when that cannot take it, by the client's push channel, and waits for the
   * answer. Rejects with the signal's reason when it aborts: the client is then told that its answer is not needed.
   * Throws CLIENT_CANNOT_ANSWER when there is no way to the client, too many questions wait, or the session has ended.
   * `isHere` says of the way of `deliver` whether the client is still at its end. A client that leaves and does not
   * come back within a few seconds has cancelled what it was asked: the server goes on without it.
   */
  ask(
    question: Question,
    deliver: (message: string) => boolean,
    signal: AbortSignal,
    isHere?: () => boolean,
  ): Promise<Answer>;
  /** The client's response with this id; false when no question waits for it. */
  answer(id: string | number, answer: Answer): boolean;
  /** The client's notifications/progress about a question; false when no question waits for it. */
  progress(params: JsonObject): boolean;
  /** From now on nothing is asked any more. Those who wait already end with the calls that they belong to. */
  close(): void;
}

/** Questions that may wait for one client: a person answers most of them, one by one. */
const mostQuestions = 64;

/**
 * A stream that breaks off is fetched again after a second (`clientRetryMs`), or, after a change of networks, a few
 * seconds later. A client that takes longer has usually ended.
 */
const mostAwayMs = 10_000;
const looksWhileAway = 10;

/** What the ids of all questions begin with, at every gateway. */
export const questionPrefix = "toolyard";

export interface ClientQuestionsOptions {
  /** Sends outside of any request; false when the client has no stream for that. */
  readonly push: (message: string) => boolean;
  /** Whether there is such a stream. */
  readonly isPushOpen: () => boolean;
  /** What the ids of the questions begin with. Default: `toolyard`. */
  readonly name?: string;
  /** How long a client may be away without having cancelled. */
  readonly awayMs?: number;
}

export function createClientQuestions(options: ClientQuestionsOptions): ClientQuestions {
  const { push, isPushOpen, name = questionPrefix, awayMs = mostAwayMs } = options;
  const waiting = new Map<string, { readonly question: Question; readonly settle: (answer: Answer) => void }>();
  let lastNumber = 0;
  let closed = false;

  /** Our id replaces the server's progress token too: two servers may have given the same one. */
  function toMessage(id: string, { method, params, onProgress }: Question): string {
    const text = onProgress === undefined ? params.toString("latin1") : withProgressToken(params, id);
    return requestText(`"${id}"`, method, text);
  }

  return {
    async ask(question, deliver, signal, isHere = () => true) {
      if (closed) throw new GatewayError("CLIENT_CANNOT_ANSWER", "the client's session has ended");
      if (waiting.size >= mostQuestions)
        throw new GatewayError("CLIENT_CANNOT_ANSWER", `${mostQuestions} questions wait for this client already`);
      lastNumber += 1;
      const id = `${name}-${lastNumber}`;
      return await new Promise<Answer>((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(id);
          clearInterval(looking);
          signal.removeEventListener("abort", giveUp);
        };
        let wasPushed = false;
        let looksAway = 0;
        const look = (): void => {
          looksAway = (wasPushed ? isPushOpen() : isHere()) ? 0 : looksAway + 1;
          if (looksAway < looksWhileAway) return;
          withdraw();
          resolve(cancelledBy(question));
        };
        const looking = setInterval(look, awayMs / looksWhileAway).unref();
        const withdraw = (): void => {
          leave();
          const cancelled = writeNotification("notifications/cancelled", {
            requestId: id,
            reason: "the call has ended",
          });
          if (!deliver(cancelled) && wasPushed) push(cancelled);
        };
        const giveUp = (): void => {
          withdraw();
          reject(abortReason(signal));
        };
        const settle = (answer: Answer): void => {
          leave();
          resolve(answer);
        };
        waiting.set(id, { question, settle });
        signal.addEventListener("abort", giveUp, { once: true });
        const message = toMessage(id, question);
        if (deliver(message)) return;
        wasPushed = push(message);
        if (wasPushed) return;
        leave();
        reject(
          new GatewayError(
            "CLIENT_CANNOT_ANSWER",
            `${question.method} cannot reach the client: it has no event stream open`,
          ),
        );
      });
    },
    answer(id, answer) {
      const asked = waiting.get(String(id));
      asked?.settle(answer);
      return asked !== undefined;
    },
    progress({ progressToken, ...progress }) {
      const asked = typeof progressToken === "string" ? waiting.get(progressToken) : undefined;
      asked?.question.onProgress?.(progress);
      return asked !== undefined;
    },
    close() {
      closed = true;
    },
  };
}

/** What a person says who closes the question. Others than people say no in the only way that there is. */
function cancelledBy({ method }: Question): Answer {
  return method === "elicitation/create"
    ? { kind: "result", result: Buffer.from('{"action":"cancel"}') }
    : failureAnswer(new GatewayError("CLIENT_CANNOT_ANSWER", `the client left before it answered ${method}`));
}

/**
 * A question's params with our token in place of the server's: two servers may have given the same one. Every other
 * byte stays.
 */
function withProgressToken(params: JsonBytes, token: string): string {
  const meta = findMember(scanMembers(params, 0, params.length, deepestJson), "_meta");
  const given =
    meta === undefined
      ? undefined
      : findMember(scanMembers(params, meta.start, meta.end, deepestJson), metaKeys.progressToken);
  if (given === undefined) return params.toString("latin1");
  return `${params.toString("latin1", 0, given.start)}${asciiJson(token)}${params.toString("latin1", given.end)}`;
}

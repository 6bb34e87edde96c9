import { randomBytes } from "node:crypto";
import { abortReason } from "../../kernel/runtime/abort.ts";
import type { Answer, CallContext, Question } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Elsewhere } from "../../cluster/peers/held-things.ts";
import { heldId, splitHeldId, type PrincipalId } from "../../kernel/ids.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";

/** The stream of a call, as far as its questions use it. */
export interface AskedStream {
  send(event: string, data: object): void;
  /** The same with JSON as the server wrote it, as latin1 text. */
  sendText(event: string, data: string): void;
}

/** Questions that servers ask in calls over REST: events of the call's stream, answered by requests of their own. */
export interface RestQuestions {
  /** Asks the caller and reads its stream. */
  asker(principal: Principal, stream: AskedStream): NonNullable<CallContext["ask"]>;
  /**
   * Takes an answer, to the node that the id names. Rejects with QUESTION_UNKNOWN when it is not awaited, or somebody
   * else was asked, with NODE_ENDED and NODE_SILENT, and with OUTCOME_UNKNOWN where it may have arrived.
   */
  answer(id: string, principal: Principal, answer: JsonBytes): Promise<void>;
}

/** Questions that may wait in all: each keeps a call open, and calls are limited for each principal already. */
const mostQuestions = 1_000;

interface Waiting {
  readonly principal: PrincipalId;
  readonly settle: (answer: Answer) => void;
}

/**
 * Begins with no questions.
 *
 * @param elsewhere other nodes, which ask too; undefined where the gateway is alone
 */
export function createRestQuestions(elsewhere?: Elsewhere): RestQuestions {
  const waiting = new Map<string, Waiting>();

  async function ask(
    { principal, stream }: { readonly principal: PrincipalId; readonly stream: AskedStream },
    { method, params }: Question,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (waiting.size >= mostQuestions)
      throw new GatewayError("CLIENT_CANNOT_ANSWER", `${mostQuestions} questions wait for an answer already`);
    if (signal.aborted) throw abortReason(signal);
    const id = heldId(elsewhere?.node, randomBytes(16).toString("base64url"));
    return await new Promise<Answer>((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(id);
        signal.removeEventListener("abort", giveUp);
        // The app that shows it may stop: it was answered, perhaps elsewhere, or the answer is not awaited any more.
        stream.send("question-over", { id });
      };
      const giveUp = (): void => {
        leave();
        reject(abortReason(signal));
      };
      waiting.set(id, {
        principal,
        settle(answer) {
          leave();
          resolve(answer);
        },
      });
      signal.addEventListener("abort", giveUp, { once: true });
      // The params stay as the server wrote them: they may have numbers that JavaScript cannot hold.
      stream.sendText("question", `{"id":"${id}","method":${asciiJson(method)},"params":${params.toString("latin1")}}`);
    });
  }

  /** False where it waits for none, or for somebody else's. */
  function settle(id: unknown, principal: unknown, result: JsonBytes): boolean {
    const asked = waiting.get(String(id));
    if (asked === undefined || asked.principal !== principal) return false;
    asked.settle({ kind: "result", result });
    return true;
  }

  async function answerElsewhere(id: string, principal: PrincipalId, body: JsonBytes): Promise<boolean> {
    const { node } = splitHeldId(id);
    if (elsewhere === undefined || node === undefined || node === elsewhere.node) return false;
    return (await elsewhere.ask(node, { kind: "asked", about: { id, principal }, body })) !== undefined;
  }

  elsewhere?.answer("asked", ({ about: { id, principal }, body }) =>
    settle(id, principal, body) ? { about: {} } : undefined,
  );

  return {
    asker: (principal, stream) => async (question, signal) =>
      await ask({ principal: principal.id, stream }, question, signal),
    async answer(id, principal, result) {
      if (settle(id, principal.id, result) || (await answerElsewhere(id, principal.id, result))) return;
      // The same for a question of somebody else as for none.
      throw new GatewayError("QUESTION_UNKNOWN", "no such question waits for an answer of yours");
    },
  };
}

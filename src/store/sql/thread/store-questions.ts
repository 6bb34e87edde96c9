import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { SqlReply } from "../sql-messages.ts";

/** Questions that were asked and not answered yet. */
export interface OpenQuestions {
  readonly size: number;
  /** Gives the id to ask it with. */
  add(question: Question): number;
  settle(reply: Extract<SqlReply, { kind: "answer" | "refused" }>): void;
  /** They will not be answered any more. */
  failAll(error: GatewayError): void;
}

export interface Question {
  settle(text: string): void;
  fail(error: GatewayError): void;
}

export function createOpenQuestions(): OpenQuestions {
  const open = new Map<number, Question>();
  let lastId = 0;
  return {
    get size() {
      return open.size;
    },
    add(question) {
      lastId += 1;
      open.set(lastId, question);
      return lastId;
    },
    settle(reply) {
      const question = open.get(reply.id);
      open.delete(reply.id);
      if (reply.kind === "answer") return question?.settle(reply.text);
      const { code, message, hint } = reply.failure;
      return question?.fail(new GatewayError(code, message, hint === undefined ? {} : { hint }));
    },
    failAll(error) {
      for (const question of open.values()) question.fail(error);
      open.clear();
    },
  };
}

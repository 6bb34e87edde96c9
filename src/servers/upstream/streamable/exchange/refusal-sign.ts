import { parseErrorObject } from "../../../../wire/mcp/error-object.ts";
import type { JsonBytes } from "../../../../kernel/text/json-bytes.ts";
import type { ExchangeOutcome } from "./exchange-once.ts";
import { rpcErrorOf, type Refusal } from "./refusal.ts";

/**
 * How a request was refused, by which two refusals are compared. A server that refuses a harmless request in the same
 * way refuses everything in the session, before it looks at the request.
 */
export interface RefusalSign {
  /** The HTTP status; 200 for an error in an ordinary answer, or for an answer that ends without a message. */
  readonly status: number;
  /** Of a JSON-RPC error. */
  readonly code: number | undefined;
  /** Of a JSON-RPC error in an ordinary answer, which may as well be that of a tool. */
  readonly message: string | undefined;
}

/** The sign of an HTTP refusal. */
export function signOfRefusal({ head, body }: Refusal, maxDepth: number): RefusalSign {
  return { status: head.status, code: rpcErrorOf(body, maxDepth)?.code, message: undefined };
}

/** The sign of a JSON-RPC error in a successful response. */
export function signOfError(error: JsonBytes): RefusalSign {
  const { code, message } = parseErrorObject(error);
  return { status: 200, code, message };
}

/** The sign of a successful response that ended without an answer. */
export const signOfNothing: RefusalSign = Object.freeze({ status: 200, code: undefined, message: undefined });

/** The sign of what a request got; undefined when it was answered. */
export function signOfOutcome(outcome: ExchangeOutcome, maxDepth: number): RefusalSign | undefined {
  switch (outcome.kind) {
    case "refused":
      return signOfRefusal(outcome.refusal, maxDepth);
    case "empty":
      return signOfNothing;
    case "answer":
      return outcome.answer.kind === "error" ? signOfError(outcome.answer.error) : undefined;
  }
}

/** Whether both were refused for the same reason. */
export function isAlike(one: RefusalSign, other: RefusalSign): boolean {
  return one.status === other.status && one.code === other.code && one.message === other.message;
}

import { isJsonObject, parseJsonObject, type JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import type { WaitingRequest } from "../waiting-requests.ts";

/** Whom a server has asked to open an address. */
export interface AskedClient {
  /** The number of the request that it was asked for. */
  readonly request: number;
  /** The client's connection; undefined when it has none, or its revision knows no such ids. */
  readonly client: string | undefined;
}

/**
 * The addresses that clients of a server were asked to open. `notifications/elicitation/complete` names nothing but the
 * id of one (2025-11-25, client/elicitation), may come long after the call, and concerns only who was asked.
 */
export interface Elicitations {
  /** Notes the address that a question to the client of this request leads to, if it leads to one. */
  noteQuestion(owner: WaitingRequest, params: JsonBytes): void;
  /** Notes the addresses that an error says have to be visited before the request (-32042). */
  noteError(owner: WaitingRequest, error: JsonBytes): void;
  /** Who was asked with this id, which is forgotten: it is completed once. */
  take(id: unknown): AskedClient | undefined;
}

/** Remembered for one connection; beyond it the oldest is forgotten, whose completion then reaches no client. */
const mostElicitations = 1_000;
/** Ids are UUIDs and the like: a server could keep its largest message in memory with each. */
const longestId = 1_000;

/** Without questions at first. */
export function createElicitations(): Elicitations {
  const asked = new Map<string, AskedClient>();

  function note({ id: request, request: { era, client } }: WaitingRequest, id: unknown): void {
    if (typeof id !== "string" || id.length > longestId) return;
    asked.delete(id);
    const [oldest] = asked.keys();
    if (asked.size >= mostElicitations && oldest !== undefined) asked.delete(oldest);
    asked.set(id, era === "modern" ? { request: 0, client: undefined } : { request, client });
  }

  return {
    noteQuestion(owner, params) {
      if (params.includes('"elicitationId"')) note(owner, parseJsonObject(params)?.["elicitationId"]);
    },
    noteError(owner, error) {
      if (!error.includes('"elicitationId"')) return;
      const { data } = parseErrorObject(error);
      const elicitations = isJsonObject(data) ? data["elicitations"] : undefined;
      if (!Array.isArray(elicitations)) return;
      for (const elicitation of elicitations) if (isJsonObject(elicitation)) note(owner, elicitation["elicitationId"]);
    },
    take(id) {
      if (typeof id !== "string") return undefined;
      const found = asked.get(id);
      asked.delete(id);
      return found;
    },
  };
}

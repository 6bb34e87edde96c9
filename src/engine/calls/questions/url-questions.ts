import { randomUUID } from "node:crypto";
import type { Replies } from "../../../kernel/call/call-context.ts";
import { isJsonObject, parseJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { writeNotification } from "../../../wire/mcp/envelope.ts";

/**
 * The addresses that a modern server wants opened in one call of a legacy client. Revision 2025-11-25 knows each such
 * question by an id, and may be told when what it began is over (client/elicitation, URL mode); 2026-07-28 has
 * neither, so both are made here.
 */
export interface UrlQuestions {
  /** The params of a question, with an id where it leads to an address and has none. */
  identify(params: JsonObject): JsonObject;
  /** Notes what the person said to a question, whose params are those that were sent. */
  noteAnswer(params: JsonObject, answer: JsonBytes): void;
  /**
   * Notes what the server asks now, by its own keys: an address that it does not ask for any more was visited, which
   * the client is told.
   */
  noteAsked(inputRequests: JsonObject): void;
}

export function createUrlQuestions(replies: Replies | undefined): UrlQuestions {
  /** Addresses by the id of their question: those that a person agreed to open. */
  const opened = new Map<string, unknown>();
  return {
    identify: (params) =>
      !leadsToUrl(params) || typeof params["elicitationId"] === "string"
        ? params
        : { ...params, elicitationId: randomUUID() },
    noteAnswer(params, answer) {
      const id = params["elicitationId"];
      if (leadsToUrl(params) && typeof id === "string" && parseJsonObject(answer)?.["action"] === "accept")
        opened.set(id, params["url"]);
    },
    noteAsked(inputRequests) {
      if (opened.size === 0) return;
      const wanted = new Set(Object.values(inputRequests).map(urlOf));
      for (const [elicitationId, url] of opened) {
        if (wanted.has(url)) continue;
        opened.delete(elicitationId);
        replies?.send(writeNotification("notifications/elicitation/complete", { elicitationId }));
      }
    },
  };
}

function leadsToUrl(params: JsonObject): boolean {
  return params["mode"] === "url";
}

function urlOf(request: unknown): unknown {
  return isJsonObject(request) && isJsonObject(request["params"]) ? request["params"]["url"] : undefined;
}

import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { withoutOwnMeta, withoutOwnNamesIn } from "../../../wire/mcp/shapes/own-names.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";
import type { ConnectionEvents } from "../connection.ts";
import type { Elicitations } from "../questions/elicitations.ts";
import { writeNotification } from "../../../wire/mcp/envelope.ts";
import type { Inbound } from "../../../wire/mcp/server-message.ts";
import type { ServerQuestions } from "../questions/server-questions.ts";
import type { WaitingRequest, WaitingRequests } from "../waiting-requests.ts";

/** Where received messages go. */
export interface ReceptionParts {
  readonly server: string;
  readonly events: ConnectionEvents;
  readonly waiting: WaitingRequests;
  readonly questions: ServerQuestions;
  readonly elicitations: Elicitations;
  readonly ids: SentIds;
}

/**
 * Processes one message. `stream` is the id of the request on whose own stream the message came, for transports that
 * have such streams.
 */
export type Receive = (message: Inbound, stream?: number) => void;

/**
 * Makes the function that routes each message of a server to what it belongs to. Messages that belong to nothing are
 * dropped and counted.
 */
export function createReception(parts: ReceptionParts): Receive {
  const { server, events, waiting, questions, elicitations, ids } = parts;
  const receiveNotification = createNotificationReception(parts);

  function settle(message: Extract<Inbound, { readonly kind: "result" | "error" }>): void {
    const id = ids.ofAnswer(message.id);
    const entry = typeof id === "number" ? waiting.take(id) : undefined;
    if (entry === undefined) dropAnswer(id);
    else if (message.kind === "error") {
      elicitations.noteError(entry, message.error);
      entry.settle({ kind: "error", error: withoutOwnNamesIn(message.error, "data") });
    } else if (message.tooDeep === true && !entry.request.method.endsWith("/list"))
      entry.reject(faulty("its result nests too deeply"));
    else entry.settle({ kind: "result", result: message.result });
  }

  function dropAnswer(id: unknown): void {
    const kind = waiting.hasBeen(id) ? "second-answer" : "unknown-id";
    events.onOddity(kind, `answer to ${String(id).slice(0, 100)}`);
  }

  function faulty(reason: string): GatewayError {
    return new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${server} answered with something that is not a JSON-RPC response: ${reason}`,
    );
  }

  return (message, stream) => {
    switch (message.kind) {
      case "result":
      case "error":
        settle(message);
        return;
      case "notification":
        receiveNotification(message.method, message.params, stream);
        return;
      case "request":
        void questions.answer(message.id, message.method, message.params, stream);
        return;
      case "invalid": {
        events.onOddity("not-json", message.reason);
        const id = ids.of(message.id);
        // On a request's own stream, a broken answer can only be the answer to that request.
        if (typeof id === "number" && (stream === undefined || stream === id)) waiting.fail(id, faulty(message.reason));
        return;
      }
    }
  };
}

type ReceiveNotification = (method: string, params: JsonObject, stream: number | undefined) => void;

function createNotificationReception({
  events,
  waiting,
  questions,
  elicitations,
  ids,
}: ReceptionParts): ReceiveNotification {
  function receiveProgress(params: JsonObject): void {
    const { progressToken, ...rest } = params;
    const token = ids.of(progressToken);
    const entry = typeof token === "number" ? waiting.get(token) : undefined;
    if (entry?.request.onProgress === undefined) {
      events.onOddity("unknown-progress", `progress for ${String(progressToken).slice(0, 100)}`);
      return;
    }
    waiting.noteLife(entry);
    entry.request.onProgress(rest);
  }

  function receiveLog(method: string, params: JsonObject, stream: number | undefined): void {
    const owner = waiting.ownerOf(stream);
    if (owner?.request.onLog !== undefined) owner.request.onLog(params);
    else events.onNotification(method, params, owner === undefined ? undefined : "nobody");
  }

  /** Only the client that was asked is told, while its call lasts with the call's own messages. */
  function receiveCompletion(method: string, params: JsonObject): void {
    const asked = elicitations.take(params["elicitationId"]);
    if (asked === undefined) {
      events.onOddity("unknown-id", `completion of the elicitation ${String(params["elicitationId"]).slice(0, 100)}`);
      return;
    }
    const { client, request } = asked;
    if (waiting.get(request)?.request.replies?.send(writeNotification(method, params)) === true) return;
    if (client !== undefined) events.onNotification(method, params, { client });
  }

  return (method, given, stream) => {
    const params = withoutOwnMeta(given);
    if (method === "notifications/progress") receiveProgress(params);
    else if (method === "notifications/message") receiveLog(method, params, stream);
    else if (method === "notifications/cancelled") questions.withdraw(params["requestId"]);
    else if (method === "notifications/subscriptions/acknowledged")
      subscribed(waiting, ids, params)?.request.replies?.send(writeNotification(method, params));
    else if (method === "notifications/elicitation/complete") receiveCompletion(method, params);
    else if (stream === undefined || isForEverybody(method)) events.onNotification(method, params);
    else waiting.get(stream)?.request.replies?.send(writeNotification(method, params));
  };
}

/** The subscription that a message names (2026-07-28, patterns/subscriptions); its id is that of its request. */
function subscribed(waiting: WaitingRequests, ids: SentIds, params: JsonObject): WaitingRequest | undefined {
  const meta = params["_meta"];
  const id = isJsonObject(meta) ? ids.of(meta[metaKeys.subscriptionId]) : undefined;
  return typeof id === "number" ? waiting.get(id) : undefined;
}

/** What a server says about itself concerns every listener, whatever stream it comes on. */
function isForEverybody(method: string): boolean {
  return method.endsWith("/list_changed") || method === "notifications/resources/updated";
}

/** How a server writes the ids that we gave it, which are all whole numbers. */
interface SentIds {
  /** The id of an answer as we sent it, if it is one of ours. The first answer shows how the server writes ids. */
  ofAnswer(id: unknown): unknown;
  /** The same for a token or id in another message. */
  of(id: unknown): unknown;
}

/**
 * Some servers keep ids as text and answer "1" to 1, which the official clients accept. A server that has answered with
 * numbers does not do so: from it, "1" is not the same as 1 (JSON-RPC 2.0, section 5).
 */
export function createSentIds(): SentIds {
  let isText: boolean | undefined;
  const toNumber = (id: unknown): unknown => (typeof id === "string" && /^[1-9]\d{0,14}$/.test(id) ? Number(id) : id);
  return {
    ofAnswer(id) {
      if (isText === undefined && id !== null) isText = typeof toNumber(id) === "number" && typeof id === "string";
      return isText === true ? toNumber(id) : id;
    },
    of: (id) => (isText === true ? toNumber(id) : id),
  };
}

import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { ConnectionEvents, PendingRequest, Reply, RootsSource, UpstreamRequest } from "../connection.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { BackPressure } from "./back-pressure.ts";
import type { Inbound } from "../../../wire/mcp/server-message.ts";
import { createElicitations } from "../questions/elicitations.ts";
import { createReception, createSentIds } from "./message-router.ts";
import { createServerQuestions } from "../questions/server-questions.ts";
import { createWaitingRequests } from "../waiting-requests.ts";

/**
 * The requests of one connection that wait for an answer. Every request settles exactly once: by its answer, its
 * deadline, its caller's cancellation, or the end of the connection. Messages that belong to no request are dropped
 * and counted.
 */
export interface RequestTable {
  /** Adds a request, and calls `send` once with its id. The promise is the server's reply. */
  open(request: UpstreamRequest, send: (id: number) => void): Promise<Reply>;
  /**
   * Processes one message. `stream` is the id of the request on whose own stream the message came, for transports
   * that have such streams.
   */
  receive(message: Inbound, stream?: number): void;
  /** The id of an answer as it was sent, for transports that check it themselves. */
  idOf(id: unknown): unknown;
  /** Rejects one request if it is still waiting. */
  fail(id: number, error: GatewayError): void;
  /** Rejects all requests that are waiting. */
  failAll(error: () => GatewayError): void;
  readonly size: number;
  /** Clients' requests that wait. */
  pending(): readonly PendingRequest[];
}

/** What a table needs from its connection. */
export interface RequestTableOptions {
  /** The server's slug, by which messages name it. */
  readonly server: string;
  readonly events: ConnectionEvents;
  readonly roots?: RootsSource | undefined;
  /** Counts the messages that answer no request of the table. */
  readonly strays: BackPressure;
  /** Sends a complete message (latin1, no line end): an answer to a request of the server, or a cancellation. */
  readonly send: (text: string, reason: "answer" | "cancel", id: number | undefined) => void;
  /** What was declared to the server; undefined for servers that must not send requests (modern era, fault 84). */
  readonly declared: () => JsonObject | undefined;
  /** Called when a request was not answered in time, for whatever reason. */
  readonly onTimeout?: (request: UpstreamRequest) => void;
}

/** An empty table. */
export function createRequestTable(options: RequestTableOptions): RequestTable {
  const { server, events, roots, strays } = options;
  const waiting = createWaitingRequests({
    server,
    sendCancel: (text, id) => options.send(text, "cancel", id),
    onTimeout: options.onTimeout,
  });
  const elicitations = createElicitations();
  const ids = createSentIds();
  const questions = createServerQuestions({
    server,
    events,
    roots,
    send: (text, stream) => options.send(text, "answer", stream),
    declared: options.declared,
    ownerOf: waiting.ownerOf,
    inFlight: () => waiting.size,
    elicitations,
    withClockStopped: waiting.withClockStopped,
  });
  const receive = createReception({ server, events, waiting, questions, elicitations, ids });
  return {
    open: waiting.open,
    receive(message, stream) {
      const { size } = waiting;
      if (message.kind !== "invalid" || message.id !== undefined || strays.mayTell()) receive(message, stream);
      if (waiting.size === size) strays.add();
    },
    idOf: ids.ofAnswer,
    fail: waiting.fail,
    failAll: waiting.failAll,
    get size() {
      return waiting.size;
    },
    pending: waiting.pending,
  };
}

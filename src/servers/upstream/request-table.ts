import type { GatewayError } from "../../kernel/gateway-error.ts";
import type { ConnectionEvents, Reply, RootsSource, UpstreamRequest } from "./connection.ts";
import type { Inbound } from "../../wire/mcp/server-message.ts";
import { createReception } from "./reception.ts";
import { createServerQuestions } from "./server-questions.ts";
import { createWaitingRequests } from "./waiting-requests.ts";

/**
 * The requests of one connection that wait for their answer. Every request is settled exactly once: by its answer, its
 * deadline, its caller's cancellation, or the end of the connection. What belongs to none is dropped and counted.
 */
export interface RequestTable {
  /** Enters a request; `send` is called once with its id. The promise is the request's reply. */
  open(request: UpstreamRequest, send: (id: number) => void): Promise<Reply>;
  /**
   * Takes in one message. `stream` is the id of the request on whose own stream it came, where a transport has such
   * streams.
   */
  receive(message: Inbound, stream?: number): void;
  /** Fails one request, if it still waits. */
  fail(id: number, error: GatewayError): void;
  failAll(error: () => GatewayError): void;
  readonly size: number;
}

export interface RequestTableOptions {
  /** How messages name the server: its slug. */
  readonly server: string;
  readonly events: ConnectionEvents;
  readonly roots?: RootsSource | undefined;
  /** Sends a complete message (latin1, no newline): answers to the server's own requests, cancellations. */
  readonly send: (text: string, reason: "answer" | "cancel", id: number | undefined) => void;
  /** False where the server must not send requests (modern era): they are refused (fault 84). */
  readonly questionsAllowed: () => boolean;
  /** A request was not answered in time, whatever the reason. */
  readonly onTimeout?: (request: UpstreamRequest) => void;
}

export function createRequestTable(options: RequestTableOptions): RequestTable {
  const { server, events, roots } = options;
  const waiting = createWaitingRequests({
    server,
    sendCancel: (text, id) => options.send(text, "cancel", id),
    onTimeout: options.onTimeout,
  });
  const questions = createServerQuestions({
    server,
    events,
    roots,
    send: (text, stream) => options.send(text, "answer", stream),
    allowed: options.questionsAllowed,
    ownerOf: waiting.ownerOf,
    inFlight: () => waiting.size,
    withClockStopped: waiting.withClockStopped,
  });
  return {
    open: waiting.open,
    receive: createReception({ server, events, waiting, questions }),
    fail: waiting.fail,
    failAll: waiting.failAll,
    get size() {
      return waiting.size;
    },
  };
}

import { writeNotification } from "../../wire/mcp/envelope.ts";
import type { ConnectionEvents, Reply, RootsSource, UpstreamRequest } from "./connection.ts";
import { metaKeys } from "../../wire/mcp/revisions.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import { createSlotTable } from "../../kernel/slot-table.ts";
import { createAlarm } from "./alarm.ts";
import type { Inbound } from "../../wire/mcp/server-message.ts";
import { createServerQuestions } from "./server-questions.ts";
import { WaitingRequest } from "./waiting-request.ts";

/**
 * The requests of one connection that wait for their answer. Every request is settled exactly once: by its answer, its
 * deadline, its caller's cancellation, or the end of the connection. What belongs to none is dropped and counted.
 */
export interface RequestTable {
  /** Enters a request; `send` is called once with its id. The promise is the request's reply. */
  open(request: UpstreamRequest, send: (id: number) => void): Promise<Reply>;
  /** Takes in one message. `stream` is the id of the request on whose own stream it came, where a transport has such streams. */
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
  const waiting = createSlotTable<WaitingRequest>();
  const alarm = createAlarm(failOverdue);
  const questions = createServerQuestions({
    server: options.server,
    events: options.events,
    roots: options.roots,
    send: (text, stream) => options.send(text, "answer", stream),
    allowed: options.questionsAllowed,
    ownerOf,
    inFlight: () => waiting.size,
    withClockStopped,
  });

  function take(id: number): WaitingRequest | undefined {
    const entry = waiting.take(id);
    if (entry === undefined) return undefined;
    entry.request.signal.removeEventListener("abort", entry);
    return entry;
  }

  function fail(id: number, error: GatewayError): void {
    take(id)?.reject(error);
  }

  function giveUp(id: number, error: GatewayError): void {
    const entry = take(id);
    if (entry === undefined) return;
    options.send(encodeCancel(id, error.message), "cancel", id);
    entry.reject(error);
  }

  function onCancel(id: number): void {
    giveUp(id, cancelled(options.server, waiting.get(id)?.request.method ?? "a request"));
  }

  function setDeadline(entry: WaitingRequest, nowMs: number): void {
    entry.setDeadline(nowMs);
    alarm.setFor(entry.deadlineMs, nowMs);
  }

  /** Returns when the next one will be overdue. */
  function failOverdue(nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of waiting.values()) {
      if (entry.deadlineMs <= nowMs) onDeadline(entry, nowMs);
      else nextMs = Math.min(nextMs, entry.deadlineMs);
    }
    return nextMs;
  }

  async function withClockStopped<T>(owner: WaitingRequest, ask: () => Promise<T>): Promise<T> {
    const askedAtMs = performance.now();
    owner.asking += 1;
    owner.deadlineMs = Number.POSITIVE_INFINITY;
    try {
      return await ask();
    } finally {
      owner.asking -= 1;
      owner.askedMs += performance.now() - askedAtMs;
      if (waiting.get(owner.id) === owner) setDeadline(owner, performance.now());
    }
  }

  function onDeadline(entry: WaitingRequest, nowMs: number): void {
    const seconds = Math.round((nowMs - entry.startedMs) / 100) / 10;
    giveUp(
      entry.id,
      new GatewayError(
        "UPSTREAM_TIMEOUT",
        `${options.server} did not answer ${entry.request.method} within ${seconds} s`,
      ),
    );
    options.onTimeout?.(entry.request);
  }

  function open(request: UpstreamRequest, send: (id: number) => void): Promise<Reply> {
    return new Promise((settle, reject) => {
      if (request.signal.aborted) {
        reject(cancelled(options.server, request.method));
        return;
      }
      const id = waiting.nextId();
      const entry = new WaitingRequest(id, request, settle, reject, onCancel);
      waiting.put(entry);
      request.signal.addEventListener("abort", entry);
      setDeadline(entry, entry.startedMs);
      try {
        send(id);
      } catch (error) {
        take(id);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  function receive(message: Inbound, stream?: number): void {
    switch (message.kind) {
      case "result":
      case "error": {
        const entry = typeof message.id === "number" ? take(message.id) : undefined;
        if (entry === undefined) dropAnswer(message.id);
        else if (message.kind === "error") entry.settle({ kind: "error", error: message.error });
        else if (message.tooDeep === true && !entry.request.method.endsWith("/list"))
          entry.reject(faulty("its result nests too deeply"));
        else entry.settle({ kind: "result", result: message.result });
        return;
      }
      case "notification":
        receiveNotification(message.method, message.params, stream);
        return;
      case "request":
        void questions.answer(message.id, message.method, message.params, stream);
        return;
      case "invalid":
        options.events.onOddity("not-json", message.reason);
        // On a stream of its own a request can only be answered by what comes there.
        if (typeof message.id === "number" && (stream === undefined || stream === message.id))
          fail(message.id, faulty(message.reason));
        return;
    }
  }

  function faulty(reason: string): GatewayError {
    return new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${options.server} answered with something that is no JSON-RPC answer: ${reason}`,
    );
  }

  function dropAnswer(id: unknown): void {
    const known = typeof id === "number" && id >= 1 && id <= waiting.lastId;
    options.events.onOddity(known ? "second-answer" : "unknown-id", `answer to ${String(id).slice(0, 100)}`);
  }

  function receiveNotification(method: string, params: JsonObject, stream: number | undefined): void {
    if (method === "notifications/progress") {
      const entry = typeof params["progressToken"] === "number" ? waiting.get(params["progressToken"]) : undefined;
      if (entry?.request.onProgress === undefined) {
        options.events.onOddity("unknown-progress", `progress for ${String(params["progressToken"]).slice(0, 100)}`);
        return;
      }
      setDeadline(entry, performance.now());
      const { progressToken: _own, ...rest } = params;
      entry.request.onProgress(rest);
      return;
    }
    if (method === "notifications/message") {
      const owner = ownerOf(stream);
      if (owner?.request.onLog !== undefined) owner.request.onLog(params);
      else options.events.onNotification(method, params, owner !== undefined);
      return;
    }
    if (method === "notifications/cancelled") questions.takeBack(params["requestId"]);
    else if (method === "notifications/subscriptions/acknowledged")
      subscribed(params)?.request.replies?.send(writeNotification(method, params));
    else if (stream === undefined || isForEverybody(method)) options.events.onNotification(method, params);
    else waiting.get(stream)?.request.replies?.send(writeNotification(method, params));
  }

  /** The subscription that a message names (2026-07-28, patterns/subscriptions): its id is that of its request. */
  function subscribed(params: JsonObject): WaitingRequest | undefined {
    const meta = params["_meta"];
    const id = isJsonObject(meta) ? meta[metaKeys.subscriptionId] : undefined;
    return typeof id === "number" ? waiting.get(id) : undefined;
  }

  /** The request that a message without a reference belongs to: that of its stream, or the only one in flight. */
  function ownerOf(stream: number | undefined): WaitingRequest | undefined {
    if (stream !== undefined) return waiting.get(stream);
    let only: WaitingRequest | undefined;
    for (const entry of waiting.values()) {
      if (ownsNothing(entry.request.method)) continue;
      if (only !== undefined) return undefined;
      only = entry;
    }
    return only;
  }

  return {
    open,
    receive,
    fail,
    failAll(error) {
      for (const { id } of waiting.values()) fail(id, error());
      // The connection is over: the alarm would hold all of it until a deadline that nobody waits for.
      alarm.clear();
    },
    get size() {
      return waiting.size;
    },
  };
}

/** What the gateway asks on its own account: no question of a server comes of it, and it must not make a call's question ambiguous. */
function ownsNothing(method: string): boolean {
  return (
    method.endsWith("/list") ||
    method === "ping" ||
    method === "server/discover" ||
    method === "subscriptions/listen" ||
    method === "resources/subscribe" ||
    method === "resources/unsubscribe"
  );
}

/** What a server says of itself concerns whoever listens, on whatever stream it comes. */
function isForEverybody(method: string): boolean {
  return (
    method.endsWith("/list_changed") ||
    method === "notifications/resources/updated" ||
    method === "notifications/elicitation/complete"
  );
}

function cancelled(server: string, method: string): GatewayError {
  return new GatewayError("CALL_CANCELLED", `${method} to ${server} was cancelled by the caller`);
}

function encodeCancel(id: number, reason: string): string {
  return writeNotification("notifications/cancelled", { requestId: id, reason });
}

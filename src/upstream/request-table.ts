import { failures } from "../shared/failures.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import type { Answer, Question } from "../shared/call-context.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../shared/json-bytes.ts";
import { asciiJson } from "../protocol/ascii-json.ts";
import { metaKeys } from "../protocol/revisions.ts";
import type { ConnectionEvents, Reply, UpstreamRequest } from "./connection.ts";
import { encodeNotification } from "./encode.ts";
import type { Inbound } from "./inbound.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { createSlotTable } from "../shared/slot-table.ts";

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
  /** Sends a complete message (latin1, no newline): answers to the server's own requests, cancellations. */
  readonly send: (text: string, reason: "answer" | "cancel", id: number | undefined) => void;
  /** False where the server must not send requests (modern era): they are refused (FAULTS.md 84). */
  readonly questionsAllowed: () => boolean;
  /** A request was not answered in time, whatever the reason. */
  readonly onTimeout?: (request: UpstreamRequest) => void;
}

/** One request that waits. It is its own listener for the caller's cancellation: nothing is made for it per call. */
class Waiting implements EventListenerObject {
  readonly id: number;
  readonly request: UpstreamRequest;
  readonly startedMs: number;
  readonly settle: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly #onCancel: (id: number) => void;
  /** When silence has lasted too long; Infinity while a person is being asked. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** Questions that a person is answering now: the clock stands still. */
  asking = 0;
  /** Time spent on such questions: not counted against the maximum. */
  askedMs = 0;

  constructor(
    id: number,
    request: UpstreamRequest,
    settle: (reply: Reply) => void,
    reject: (error: Error) => void,
    onCancel: (id: number) => void,
  ) {
    this.id = id;
    this.request = request;
    this.startedMs = performance.now();
    this.settle = settle;
    this.reject = reject;
    this.#onCancel = onCancel;
  }

  handleEvent(): void {
    this.#onCancel(this.id);
  }
}

interface EventListenerObject {
  handleEvent(event: Event): void;
}

export function createRequestTable(options: RequestTableOptions): RequestTable {
  const waiting = createSlotTable<Waiting>();
  const questions = createOpenQuestions(options.server);

  function take(id: number): Waiting | undefined {
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

  /** One alarm for the whole table, set to the earliest deadline: a timer per call costs more than all else here. */
  let alarm: NodeJS.Timeout | undefined;
  let alarmAtMs = Number.POSITIVE_INFINITY;

  function setDeadline(entry: Waiting, nowMs: number): void {
    const spentMs = nowMs - entry.startedMs - entry.askedMs;
    const silenceMs = Math.min(entry.request.timeoutMs, Math.max(1, entry.request.maxTimeoutMs - spentMs));
    entry.deadlineMs = entry.asking > 0 ? Number.POSITIVE_INFINITY : nowMs + silenceMs;
    if (entry.deadlineMs < alarmAtMs) setAlarm(entry.deadlineMs, nowMs);
  }

  function setAlarm(atMs: number, nowMs: number): void {
    clearTimeout(alarm);
    alarmAtMs = atMs;
    alarm = setTimeout(onAlarm, Math.min(Math.max(1, Math.ceil(atMs - nowMs)), longestTimerMs));
    alarm.unref();
  }

  function onAlarm(): void {
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    // Before the loop: what a failed request makes its owner ask at once sets an alarm of its own.
    alarmAtMs = Number.POSITIVE_INFINITY;
    for (const entry of waiting.values()) {
      if (entry.deadlineMs <= nowMs) onDeadline(entry, nowMs);
      else nextMs = Math.min(nextMs, entry.deadlineMs);
    }
    if (nextMs < alarmAtMs) setAlarm(nextMs, nowMs);
  }

  function onDeadline(entry: Waiting, nowMs: number): void {
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
      const entry = new Waiting(id, request, settle, reject, onCancel);
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
        void answerServer(message.id, message.method, message.params, stream);
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
      subscribed(params)?.request.replies?.send(encodeNotification(method, params));
    else if (stream === undefined || isForEverybody(method)) options.events.onNotification(method, params);
    else waiting.get(stream)?.request.replies?.send(encodeNotification(method, params));
  }

  /** The subscription that a message names (2026-07-28, patterns/subscriptions): its id is that of its request. */
  function subscribed(params: JsonObject): Waiting | undefined {
    const meta = params["_meta"];
    const id = isJsonObject(meta) ? meta[metaKeys.subscriptionId] : undefined;
    return typeof id === "number" ? waiting.get(id) : undefined;
  }

  /** The request that a message without a reference belongs to: that of its stream, or the only one in flight. */
  function ownerOf(stream: number | undefined): Waiting | undefined {
    if (stream !== undefined) return waiting.get(stream);
    let only: Waiting | undefined;
    for (const entry of waiting.values()) {
      if (ownsNothing(entry.request.method)) continue;
      if (only !== undefined) return undefined;
      only = entry;
    }
    return only;
  }

  async function answerServer(
    id: unknown,
    method: string,
    params: JsonBytes,
    stream: number | undefined,
  ): Promise<void> {
    if (typeof id !== "string" && typeof id !== "number") {
      options.events.onOddity("request-refused", `${method} with an id that is neither string nor number`);
      return;
    }
    const idText = asciiJson(id);
    if (method === "ping") {
      options.send(`{"jsonrpc":"2.0","id":${idText},"result":{}}`, "answer", stream);
      return;
    }
    const answer = await askOwner(id, method, params, stream);
    if (!questions.close(id)) return;
    const body =
      answer.kind === "result"
        ? `"result":${answer.result.toString("latin1")}`
        : `"error":${answer.error.toString("latin1")}`;
    options.send(`{"jsonrpc":"2.0","id":${idText},${body}}`, "answer", stream);
  }

  async function askOwner(
    id: string | number,
    method: string,
    params: JsonBytes,
    stream: number | undefined,
  ): Promise<Answer> {
    if (!isQuestion(method)) return refusal(-32601, `the gateway does not answer ${method}`);
    if (!options.questionsAllowed()) {
      options.events.onOddity("request-refused", `${method} is not allowed in revision 2026-07-28`);
      return refusal(-32600, `${method} must be asked with an input_required result in this revision`);
    }
    const owner = ownerOf(stream);
    if (owner === undefined) {
      options.events.onOddity("request-refused", `${method} with ${waiting.size} calls in flight`);
      const { rpc, hint } = failures.QUESTION_AMBIGUOUS;
      return refusal(
        rpc,
        `${waiting.size} calls are in flight and the request does not say which one it belongs to. ${hint}`,
      );
    }
    if (owner.request.ask === undefined) return refusal(-32601, `the client cannot answer ${method}`);
    const signal = questions.open(id, owner.request.signal);
    return await withClockStopped(
      owner,
      owner.request.ask,
      { method, params, onProgress: progressTo(params, stream) },
      signal,
    );
  }

  /** Tells the server how far the client is with its question, under the token that it gave. */
  function progressTo(params: JsonBytes, stream: number | undefined): Question["onProgress"] {
    const token = progressTokenOf(params);
    if (token === undefined) return undefined;
    return (progress) =>
      options.send(
        encodeNotification("notifications/progress", { ...progress, progressToken: token }),
        "answer",
        stream,
      );
  }

  async function withClockStopped(
    owner: Waiting,
    ask: NonNullable<UpstreamRequest["ask"]>,
    question: Question,
    signal: AbortSignal,
  ): Promise<Answer> {
    const askedAtMs = performance.now();
    owner.asking += 1;
    owner.deadlineMs = Number.POSITIVE_INFINITY;
    try {
      return await ask(question, signal);
    } catch (error) {
      return refusal(-32603, error instanceof Error ? error.message : "the client gave no answer");
    } finally {
      owner.asking -= 1;
      owner.askedMs += performance.now() - askedAtMs;
      if (waiting.get(owner.id) === owner) setDeadline(owner, performance.now());
    }
  }

  return {
    open,
    receive,
    fail,
    failAll(error) {
      for (const { id } of waiting.values()) fail(id, error());
      // The connection is over: the alarm would hold all of it until a deadline that nobody waits for.
      clearTimeout(alarm);
      alarmAtMs = Number.POSITIVE_INFINITY;
    },
    get size() {
      return waiting.size;
    },
  };
}

/** setTimeout fires at once beyond 31 bits. */
const longestTimerMs = 2_147_483_647;

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

/** The token that a question carries, when it carries one. */
function progressTokenOf(params: JsonBytes): string | number | undefined {
  if (!params.includes('"progressToken"')) return undefined;
  const meta = parseObject(params)?.["_meta"];
  const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

function isQuestion(method: string): method is Question["method"] {
  return method === "elicitation/create" || method === "sampling/createMessage" || method === "roots/list";
}

function refusal(code: number, message: string): Answer {
  return { kind: "error", error: Buffer.from(asciiJson({ code, message }), "latin1") };
}

function cancelled(server: string, method: string): GatewayError {
  return new GatewayError("CALL_CANCELLED", `${method} to ${server} was cancelled by the caller`);
}

function encodeCancel(id: number, reason: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${asciiJson({ requestId: id, reason })}}`;
}

function parseObject(bytes: JsonBytes): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The error object of a reply, parsed; what a server sends in its place that is none becomes one. */
export function parseErrorObject(error: JsonBytes): { code: number; message: string; data?: unknown } {
  const parsed = parseObject(error);
  if (parsed === undefined) return { code: -32603, message: "the server answered with an error that is no object" };
  const code = typeof parsed["code"] === "number" ? parsed["code"] : -32603;
  const message = typeof parsed["message"] === "string" ? parsed["message"] : "the server gave no message";
  return parsed["data"] === undefined ? { code, message } : { code, message, data: parsed["data"] };
}

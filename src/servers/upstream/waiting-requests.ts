import { offAbort, onAbort, type AbortListener } from "../../kernel/runtime/abort.ts";
import { writeNotification } from "../../wire/mcp/envelope.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../kernel/text/number-text.ts";
import { createSlotTable, type SlotTable } from "../../kernel/runtime/slot-table.ts";
import { createAlarm } from "../../kernel/runtime/shared-timer.ts";
import type { PendingRequest, Reply, UpstreamRequest } from "./connection.ts";

/** The requests of one connection that wait for an answer, and their deadlines. Each leaves exactly once. */
export interface WaitingRequests {
  /** Adds a request, and calls `send` once with its id. The promise is the server's reply. */
  open(request: UpstreamRequest, send: (id: number) => void): Promise<Reply>;
  get(id: number): WaitingRequest | undefined;
  /** Removes a request and returns it, so that it can be settled. */
  take(id: number): WaitingRequest | undefined;
  /** Rejects a request if it is still waiting. */
  fail(id: number, error: GatewayError): void;
  failAll(error: (request: UpstreamRequest) => GatewayError): void;
  /** Call when the request has made progress: the allowed silence begins again. */
  noteLife(entry: WaitingRequest): void;
  /**
   * Runs `ask` with the request's deadline suspended, because time in which a person is asked does not count as
   * silence of the server.
   */
  withClockStopped<T>(owner: WaitingRequest, ask: () => Promise<T>): Promise<T>;
  /** The request that a message without a reference belongs to: that of its stream, or the only one in flight. */
  ownerOf(stream: number | undefined): WaitingRequest | undefined;
  /** Whether a request has ever had this id. */
  hasBeen(id: unknown): boolean;
  readonly size: number;
  /** Clients' requests that wait. */
  pending(): readonly PendingRequest[];
}

/** What waiting requests need from their connection. */
export interface WaitingOptions {
  readonly server: string;
  /** Tells the server that a request is cancelled. */
  readonly sendCancel: (text: string, id: number) => void;
  /** Called when a request was not answered in time, for whatever reason. */
  readonly onTimeout?: ((request: UpstreamRequest) => void) | undefined;
}

/** No requests yet. `server` is the slug that messages name. */
export function createWaitingRequests({ server, sendCancel, onTimeout }: WaitingOptions): WaitingRequests {
  const waiting = createSlotTable<WaitingRequest>();
  const alarm = createAlarm(failOverdue);

  function take(id: number): WaitingRequest | undefined {
    const entry = waiting.take(id);
    if (entry === undefined) return undefined;
    offAbort(entry.request.signal, entry);
    return entry;
  }

  function giveUp(id: number, error: GatewayError): void {
    const entry = take(id);
    if (entry === undefined) return;
    sendCancel(encodeCancel(id, error.message), id);
    entry.reject(error);
  }

  function onCancel(id: number): void {
    giveUp(id, cancelled(server, waiting.get(id)?.request.method ?? "a request"));
  }

  function setDeadline(entry: WaitingRequest, nowMs: number): void {
    entry.setDeadline(nowMs);
    alarm.setFor(entry.deadlineMs, nowMs);
  }

  /** Fails all overdue requests; returns when the next one will be overdue. */
  function failOverdue(nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of waiting.values()) {
      if (entry.deadlineMs > nowMs) {
        nextMs = Math.min(nextMs, entry.deadlineMs);
        continue;
      }
      giveUp(entry.id, overdue(server, entry, nowMs));
      onTimeout?.(entry.request);
    }
    return nextMs;
  }

  const fail = (id: number, error: GatewayError): void => take(id)?.reject(error);

  return {
    open(request, send) {
      return new Promise((settle, reject) => {
        if (request.signal.aborted) {
          reject(cancelled(server, request.method));
          return;
        }
        const id = waiting.nextId();
        const entry = new WaitingRequest(id, request, onCancel);
        entry.settledBy(settle, reject);
        waiting.put(entry);
        onAbort(request.signal, entry);
        setDeadline(entry, entry.startedMs);
        try {
          send(id);
        } catch (error) {
          take(id);
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    },
    get: (id) => waiting.get(id),
    take,
    fail,
    failAll(error) {
      for (const { id, request } of waiting.values()) fail(id, error(request));
      // The connection is over. Its alarm would keep all of it in memory until a deadline that no longer matters.
      alarm.clear();
    },
    noteLife: (entry) => setDeadline(entry, performance.now()),
    async withClockStopped(owner, ask) {
      try {
        return await owner.withClockStopped(ask);
      } finally {
        if (waiting.get(owner.id) === owner) setDeadline(owner, performance.now());
      }
    },
    ownerOf: (stream) => (stream === undefined ? onlyOwner(waiting) : waiting.get(stream)),
    hasBeen: (id) => typeof id === "number" && id >= 1 && id <= waiting.lastId,
    get size() {
      return waiting.size;
    },
    pending: () => callsIn(waiting),
  };
}

function callsIn(waiting: SlotTable<WaitingRequest>): readonly PendingRequest[] {
  return waiting
    .values()
    .filter(({ request }) => calls.has(request.method))
    .map(({ request: { method, nameHeader }, startedMs }) => ({ method, name: nameHeader, sinceMs: startedMs }));
}

function onlyOwner(waiting: SlotTable<WaitingRequest>): WaitingRequest | undefined {
  let only: WaitingRequest | undefined;
  for (const entry of waiting.values()) {
    if (ownsNothing(entry.request.method)) continue;
    if (only !== undefined) return undefined;
    only = entry;
  }
  return only;
}

/**
 * Requests of the gateway itself. A server asks nothing because of them, so they must not make it unclear which call
 * a question belongs to.
 */
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

function overdue(server: string, entry: WaitingRequest, nowMs: number): GatewayError {
  const seconds = Math.round((nowMs - entry.startedMs) / 100) / 10;
  return new GatewayError(
    "UPSTREAM_TIMEOUT",
    `${server} did not answer ${entry.request.method} within ${seconds} s`,
    timeoutHint(entry.request, nowMs - entry.startedMs),
  );
}

/** A hint that names the setting whose time ran out. Times of the connection's own requests cannot be configured. */
function timeoutHint({ method, timeoutMs, maxTimeoutMs }: UpstreamRequest, tookMs: number): { hint?: string } {
  const raise = (setting: string, value: number) => ({
    hint: `Look at the server's log, or raise ${settingNow(setting, value)}, for this server.`,
  });
  if (method.endsWith("/list")) return raise("discoveryTimeoutMs", timeoutMs);
  if (!calls.has(method)) return {};
  return maxTimeoutMs !== undefined && tookMs >= maxTimeoutMs
    ? raise("maxCallTimeoutMs", maxTimeoutMs)
    : raise("callTimeoutMs", timeoutMs);
}

const calls: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get", "completion/complete"]);

function cancelled(server: string, method: string): GatewayError {
  return new GatewayError("CALL_CANCELLED", `${method} to ${server} was cancelled by the caller`);
}

function encodeCancel(id: number, reason: string): string {
  return writeNotification("notifications/cancelled", { requestId: id, reason });
}

/**
 * One request that waits for its answer. It is itself the listener for the caller's cancellation, so that a call
 * needs no closure for that.
 */
export class WaitingRequest implements AbortListener {
  readonly id: number;
  readonly request: UpstreamRequest;
  readonly startedMs: number;
  settle: (reply: Reply) => void = ignore;
  reject: (error: Error) => void = ignore;
  readonly #onCancel: (id: number) => void;
  /** When the server has been silent for too long (performance.now); Infinity while a person is being asked. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** How many questions a person is answering now; meanwhile the deadline is suspended. */
  asking = 0;
  /** Ms spent on such questions, which do not count towards the maximum. */
  askedMs = 0;

  constructor(id: number, request: UpstreamRequest, onCancel: (id: number) => void) {
    this.id = id;
    this.request = request;
    this.startedMs = performance.now();
    this.#onCancel = onCancel;
  }

  /** Sets the functions that settle the request's promise; call it first. */
  settledBy(settle: (reply: Reply) => void, reject: (error: Error) => void): void {
    this.settle = settle;
    this.reject = reject;
  }

  /** Sets the deadline: the longest silence from now on, but no later than the maximum for the whole request. */
  setDeadline(nowMs: number): void {
    const { timeoutMs, maxTimeoutMs } = this.request;
    const spentMs = nowMs - this.startedMs - this.askedMs;
    const silenceMs = Math.min(timeoutMs, Math.max(1, maxTimeoutMs - spentMs));
    this.deadlineMs = this.asking > 0 ? Number.POSITIVE_INFINITY : nowMs + silenceMs;
  }

  /**
   * Runs `ask` with the deadline suspended, because the time in which a person is asked does not count. Set the
   * deadline again afterwards.
   */
  async withClockStopped<T>(ask: () => Promise<T>): Promise<T> {
    const askedAtMs = performance.now();
    this.asking += 1;
    this.deadlineMs = Number.POSITIVE_INFINITY;
    try {
      return await ask();
    } finally {
      this.asking -= 1;
      this.askedMs += performance.now() - askedAtMs;
    }
  }

  handleEvent(): void {
    this.#onCancel(this.id);
  }
}

function ignore(): void {}

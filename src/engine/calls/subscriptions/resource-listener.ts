import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { abortAfter, abortReason, untilAborted } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Connection } from "../../../servers/upstream/connection.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";

/**
 * Watches resources of a modern server (2026-07-28, patterns/subscriptions). One `subscriptions/listen` covers many
 * of them, because over HTTP each such request occupies a connection for as long as it lasts.
 */
export interface ResourceListener {
  /**
   * Watches until the signal aborts. Resolves when the server has accepted it. Throws UPSTREAM_PROTOCOL when the
   * server refuses.
   */
  watch(uri: string, signal: AbortSignal): Promise<void>;
}

export const subscribeTimeoutMs = 30_000;
/**
 * A set that changes is sent again as a whole. Larger sets would make that expensive, and smaller ones would take
 * more connections.
 */
const mostPerListen = 256;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** A listener for one connection to a modern server. */
export function createResourceListener(connection: Connection, server: string): ResourceListener {
  const sets: ListenedSet[] = [];
  return {
    watch(uri, signal) {
      let set = sets.find((candidate) => candidate.size < mostPerListen);
      if (set === undefined) sets.push((set = new ListenedSet(connection, server)));
      return set.watch(uri, signal);
    },
  };
}

interface Watched {
  isTaken: boolean;
  readonly take: () => void;
  readonly refuse: (error: Error) => void;
}

interface Listen {
  readonly uris: readonly string[];
  readonly openedMs: number;
  isOver: boolean;
  stop(): void;
}

/**
 * The resources of one `subscriptions/listen`. When they change, a new request is sent, and the old stream ends once
 * the new one has been accepted.
 */
class ListenedSet {
  readonly #connection: Connection;
  readonly #server: string;
  readonly #watched = new Map<string, Watched>();
  #current: Listen | undefined;
  #isWorking = false;
  #isOver = false;
  /** Whether one of several new resources was refused, so that each is now tried by itself. */
  #isCareful = false;
  #retryMs = firstRetryMs;

  constructor(connection: Connection, server: string) {
    this.#connection = connection;
    this.#server = server;
    void connection.closed.then(() => {
      this.#isOver = true;
      for (const one of this.#watched.values()) one.refuse(closed(server));
    });
  }

  get size(): number {
    return this.#watched.size;
  }

  watch(uri: string, signal: AbortSignal): Promise<void> {
    if (this.#isOver) return Promise.reject(closed(this.#server));
    return new Promise((take, refuse) => {
      const one = { isTaken: false, take, refuse };
      this.#watched.set(uri, one);
      signal.addEventListener(
        "abort",
        () => {
          this.#refuse(uri, one, abortReason(signal));
          void this.#work();
        },
        { once: true },
      );
      void this.#work();
    });
  }

  /**
   * Runs until the server watches everything that is wanted. Requests of the meantime are sent together in the next
   * round.
   */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    let goesOn = true;
    while (goesOn && !this.#isOver && this.#isStale()) goesOn = await this.#replace();
    this.#isWorking = false;
    this.#isCareful = false;
  }

  #isStale(): boolean {
    const uris = this.#current?.uris ?? [];
    return uris.length !== this.#watched.size || uris.some((uri) => this.#watched.get(uri)?.isTaken !== true);
  }

  /** One attempt. Resolves to false when there is nothing to do for now. */
  async #replace(): Promise<boolean> {
    const wanted = [...this.#watched];
    const old = wanted.filter(([, { isTaken }]) => isTaken);
    const fresh = wanted.filter(([, { isTaken }]) => !isTaken).slice(0, this.#isCareful ? 1 : undefined);
    if (wanted.length === 0) {
      this.#putInPlace(undefined);
      return true;
    }
    try {
      this.#putInPlace(await this.#listen([...old, ...fresh].map(([uri]) => uri)));
    } catch (error) {
      if (fresh.length === 0) return this.#tryLater();
      if (fresh.length > 1) this.#isCareful = true;
      else for (const [uri, one] of fresh) this.#refuse(uri, one, error as Error);
      return true;
    }
    for (const [, one] of fresh) {
      one.isTaken = true;
      one.take();
    }
    return this.#current !== undefined || this.#tryLater();
  }

  #refuse(uri: string, one: Watched, error: Error): void {
    if (this.#watched.get(uri) === one) this.#watched.delete(uri);
    one.refuse(error);
  }

  #putInPlace(next: Listen | undefined): void {
    this.#current?.stop();
    this.#current = next?.isOver === true ? undefined : next;
  }

  #tryLater(): false {
    setTimeout(() => void this.#work(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    return false;
  }

  /**
   * Sends `subscriptions/listen`, which is answered only when it ends: it stays open as long as anybody watches.
   * Resolves when the server has accepted it.
   */
  async #listen(uris: readonly string[]): Promise<Listen> {
    const ended = new AbortController();
    const stop = () => ended.abort(new GatewayError("CALL_CANCELLED", "there is no listener any more"));
    let take: (() => void) | undefined;
    const taken = new Promise<void>((resolve) => (take = resolve));
    const answer = this.#connection.request({
      method: "subscriptions/listen",
      params: [["notifications", Buffer.from(asciiJson({ resourceSubscriptions: uris }), "latin1")]],
      signal: ended.signal,
      replies: { send: () => take?.() === undefined },
      timeoutMs: Number.POSITIVE_INFINITY,
      maxTimeoutMs: Number.POSITIVE_INFINITY,
    });
    const refusal = answer.then((reply) => {
      if (reply.kind === "error") throw refused(this.#server, reply.error);
    });
    const listen: Listen = { uris, openedMs: performance.now(), isOver: false, stop };
    const onOver = () => this.#onOver(listen);
    void refusal.then(onOver, onOver);
    try {
      await untilAborted(Promise.race([taken, refusal]), abortAfter(subscribeTimeoutMs));
    } catch (error) {
      stop();
      throw error;
    }
    return listen;
  }

  /** Opens a broken stream again. The delay doubles each time that the stream was short. */
  #onOver(listen: Listen): void {
    listen.isOver = true;
    if (this.#current !== listen) return;
    this.#current = undefined;
    if (performance.now() - listen.openedMs > longestRetryMs) this.#retryMs = firstRetryMs;
    this.#tryLater();
  }
}

/** The failure for a subscription that a server refused. */
export function refused(server: string, error: JsonBytes): GatewayError {
  return new GatewayError(
    "UPSTREAM_PROTOCOL",
    `${server} refused the subscription: ${parseErrorObject(error).message.slice(0, 200)}`,
    { hint: "Read the resource again whenever it is needed: the server does not announce its changes." },
  );
}

function closed(server: string): GatewayError {
  return new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`);
}

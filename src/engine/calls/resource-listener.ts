import { asciiJson } from "../../wire/json/ascii-json.ts";
import { abortAfter, abortReason, untilAborted } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import type { Connection } from "../../servers/upstream/connection.ts";
import { parseErrorObject } from "../../wire/mcp/error-object.ts";

/**
 * Watches resources of a modern server (2026-07-28, patterns/subscriptions). One `subscriptions/listen` names many of
 * them: over HTTP each holds a connection for as long as it lives.
 */
export interface ResourceListener {
  /**
   * Watches until the signal aborts. Resolves when the server has taken it; throws UPSTREAM_PROTOCOL when it refuses.
   */
  watch(uri: string, signal: AbortSignal): Promise<void>;
}

export const subscribeTimeoutMs = 30_000;
/** A changed set is sent anew, whole: larger ones would make that expensive, smaller ones take more connections. */
const mostPerListen = 256;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

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
 * What one `subscriptions/listen` watches. A changed set is listened to anew, and the stream of the old one ends once
 * the new one is taken.
 */
class ListenedSet {
  readonly #connection: Connection;
  readonly #server: string;
  readonly #watched = new Map<string, Watched>();
  #current: Listen | undefined;
  #isWorking = false;
  #isOver = false;
  /** One of several new ones was refused: now each is tried on its own. */
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

  /** Until the server listens to what is wanted. Whatever is asked for meanwhile goes into the next round together. */
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

  /** One try. False when there is nothing to be done for now. */
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
   * The answer to `subscriptions/listen` is its end: it stays open as long as anybody listens. Resolves when it was
   * taken.
   */
  async #listen(uris: readonly string[]): Promise<Listen> {
    const ended = new AbortController();
    const stop = () => ended.abort(new GatewayError("CALL_CANCELLED", "nobody listens to this any more"));
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

  /** A stream that breaks off is opened again, after twice as long each time that it was short. */
  #onOver(listen: Listen): void {
    listen.isOver = true;
    if (this.#current !== listen) return;
    this.#current = undefined;
    if (performance.now() - listen.openedMs > longestRetryMs) this.#retryMs = firstRetryMs;
    this.#tryLater();
  }
}

export function refused(server: string, error: JsonBytes): GatewayError {
  return new GatewayError(
    "UPSTREAM_PROTOCOL",
    `${server} refused the subscription: ${parseErrorObject(error).message.slice(0, 200)}`,
    { hint: "Read the resource again when it is needed: the server does not tell when it changes." },
  );
}

function closed(server: string): GatewayError {
  return new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`);
}

import type { Clock } from "../../kernel/clock.ts";
import type { Closed } from "../upstream/connection.ts";
import type { Opened } from "./instance-deps.ts";
import { listenForChanges, type Listening } from "./listening.ts";

/** The connection that an instance has, and what is still ending of those that it had. */
export interface HeldConnection {
  readonly current: Opened | undefined;
  /**
   * Settles when all that was opened before has ended: what is started next waits for it, so that there is never a
   * second process.
   */
  readonly gone: Promise<void>;
  take(opened: Opened): void;
  /** Ends it. */
  drop(): void;
  /** Something else has to end, too, before anything is started. */
  awaitAlso(ending: Promise<void>): void;
  /** Whether announcements of the server would reach us now. */
  isHeard(): boolean;
  /** Whether somebody's request is under way: the stream on which it is listened to is nobody's. */
  readonly isBusy: boolean;
}

export interface HeldConnectionOptions {
  readonly clock: Clock;
  /** Settles when the instance that this one replaces is gone. */
  readonly after: Promise<void> | undefined;
  /**
   * False where a legacy server may have no stream to announce anything on: it is asked from time to time all the
   * same.
   */
  readonly isAlwaysHeard: boolean;
  /** The connection ended without having been dropped. */
  readonly onClosed: (closed: Closed) => void;
}

export function createHeldConnection(options: HeldConnectionOptions): HeldConnection {
  let current: Opened | undefined;
  let listening: Listening | undefined;
  let gone: Promise<void> = options.after ?? Promise.resolve();

  function letGo(): void {
    current = undefined;
    listening?.stop();
  }

  function onEnd(opened: Opened, closed: Closed): void {
    if (current !== opened) return;
    letGo();
    // The server is gone; its descendants and sockets may not be.
    if (closed.kind !== "asked") gone = joined(gone, opened[Symbol.asyncDispose]());
    options.onClosed(closed);
  }

  return {
    get current() {
      return current;
    },
    get gone() {
      return gone;
    },
    take(opened) {
      current = opened;
      listening = listenForChanges(opened, options.clock);
      void opened.closed.then((closed) => onEnd(opened, closed));
    },
    drop() {
      const old = current;
      letGo();
      if (old !== undefined) gone = joined(gone, old[Symbol.asyncDispose]());
    },
    awaitAlso(ending) {
      gone = joined(gone, ending);
    },
    isHeard() {
      return current?.peer.era === "modern" ? listening?.works === true : options.isAlwaysHeard;
    },
    get isBusy() {
      return current !== undefined && current.inFlight - (listening?.open ?? 0) > 0;
    },
  };
}

/** Settles when both have, however they end. */
function joined(first: Promise<void>, second: PromiseLike<void>): Promise<void> {
  return Promise.allSettled([first, second]).then(() => undefined);
}

import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Closed } from "../upstream/connection.ts";
import type { Opened } from "./instance-deps.ts";
import { listenForChanges, type Listening } from "./lists/listening.ts";

/** The connection of an instance, and earlier ones that are still ending. */
export interface HeldConnection {
  readonly current: Opened | undefined;
  /**
   * Settles when everything that was opened before has ended. The next start waits for it, so that there are never
   * two processes.
   */
  readonly gone: Promise<void>;
  /** Makes this the current connection. */
  take(opened: Opened): void;
  /** Ends the current connection. */
  drop(): void;
  /** Adds something that must end before anything is started. */
  awaitAlso(ending: Promise<void>): void;
  /** Whether announcements of changed lists would reach us now. */
  isHeard(): boolean;
  /** Whether a client's request is in flight. The stream for announcements does not count. */
  readonly isBusy: boolean;
}

/** What holding a connection needs. */
export interface HeldConnectionOptions {
  readonly clock: Clock;
  /** Settles when the instance that this one replaces has ended. */
  readonly after: Promise<void> | undefined;
  /**
   * False for transports over which a legacy server may have no stream for announcements; its lists are then fetched
   * from time to time.
   */
  readonly isAlwaysHeard: boolean;
  /** Called when the connection ended without being dropped. */
  readonly onClosed: (closed: Closed) => void;
}

/** No connection yet. */
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
    // The server has ended, but its descendants and sockets may still exist.
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
      // Of several processes, each is listened to.
      listening = opened.replicas === undefined ? listenForChanges(opened, options.clock) : undefined;
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
      if (current?.replicas !== undefined) return options.isAlwaysHeard || current.replicas.isHeard();
      return current?.peer.era === "modern" ? listening?.works === true : options.isAlwaysHeard;
    },
    get isBusy() {
      return current !== undefined && current.inFlight - (listening?.open ?? 0) > 0;
    },
  };
}

/** Settles when both promises have settled, fulfilled or rejected. */
function joined(first: Promise<void>, second: PromiseLike<void>): Promise<void> {
  return Promise.allSettled([first, second]).then(() => undefined);
}

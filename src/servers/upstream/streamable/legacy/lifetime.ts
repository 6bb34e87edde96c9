import { setMaxListeners } from "node:events";
import type { Closed } from "../../connection.ts";

/** The life of a connection: how it ended, and the signal that stops what works for it. */
export interface Lifetime {
  /** Settles when the connection has ended. Never rejects. */
  readonly closed: Promise<Closed>;
  /** How the connection ended; undefined while it lives. */
  readonly ending: Closed | undefined;
  readonly signal: AbortSignal;
  /** Marks the connection as ended; only the first call counts. Requests in flight may still be answered. */
  end(how: Closed): void;
  /** Stops everything that works for the connection in the background. */
  abort(): void;
}

/** The lifetime of a new connection. */
export function createLifetime(): Lifetime {
  const controller = new AbortController();
  // Any number of exchanges may listen; Node would warn of a leak from the eleventh listener on.
  setMaxListeners(0, controller.signal);
  let ending: Closed | undefined;
  let settle: (how: Closed) => void = () => undefined;
  const closed = new Promise<Closed>((resolve) => {
    settle = resolve;
  });
  return {
    closed,
    get ending() {
      return ending;
    },
    signal: controller.signal,
    end(how) {
      ending ??= how;
      settle(ending);
    },
    abort() {
      controller.abort(new Error("the connection was closed"));
    },
  };
}

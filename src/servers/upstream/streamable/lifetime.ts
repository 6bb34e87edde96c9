import { setMaxListeners } from "node:events";
import type { Closed } from "../connection.ts";

/** How long a connection lives: how it ended, and the signal that ends what works for it. */
export interface Lifetime {
  /** Never rejects. */
  readonly closed: Promise<Closed>;
  /** Undefined while it lives. */
  readonly ending: Closed | undefined;
  readonly signal: AbortSignal;
  /** The first call counts. What is in flight may still be answered. */
  end(how: Closed): void;
  /** Stops everything that works for the connection on its own. */
  abort(): void;
}

export function createLifetime(): Lifetime {
  const controller = new AbortController();
  // Any number of exchanges may be under way: Node warns of a leak from the eleventh listener on.
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

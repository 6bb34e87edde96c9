import type { CallContext } from "./call-context.ts";
import { createPresence, programOf, readClientName, type ClientPresence, type OwnPresence } from "./client-presence.ts";
import type { Clock } from "./clock.ts";

/**
 * Clients whose requests stand alone: revision 2026-07-28 over HTTP, REST, and older ones without a session. Requests
 * of one principal and one program are taken for one client. It is connected while it listens
 * (`subscriptions/listen`); otherwise nobody knows.
 */
export interface SessionlessClients {
  of(client: Loner): ClientPresence;
  /** The client listens from now on. Returns what ends that. */
  listen(client: Loner): () => void;
}

export type Loner = Pick<CallContext, "principal" | "client">;

/**
 * 200 KB, and far more programs than use one gateway. Beyond it the first is forgotten; when it comes back, its
 * program tells who it was.
 */
export const mostLoners = 1_000;

interface Known {
  readonly presence: OwnPresence;
  streams: number;
}

export function createSessionlessClients(clock: Clock): SessionlessClients {
  const known = new Map<string, Known>();

  function find({ principal, client }: Loner): Known {
    const program = programOf(principal, "alone", readClientName(client.info));
    const found = known.get(program);
    if (found !== undefined) return found;
    if (known.size >= mostLoners) forgetFirst();
    const made: Known = { presence: createPresence(program, clock.monotonic()), streams: 0 };
    made.presence.state = "lapsed";
    known.set(program, made);
    return made;
  }

  function forgetFirst(): void {
    for (const [program, { presence, streams }] of known) {
      if (streams > 0) continue;
      presence.lapsedAtMs = clock.monotonic();
      known.delete(program);
      return;
    }
  }

  return {
    of: (client) => find(client).presence,
    listen(client) {
      const entry = find(client);
      entry.streams += 1;
      entry.presence.state = "open";
      return () => {
        entry.streams -= 1;
        if (entry.streams === 0) entry.presence.state = "lapsed";
      };
    },
  };
}

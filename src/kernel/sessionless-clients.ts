import type { CallContext } from "./call/call-context.ts";
import { createPresence, programOf, readClientName, type ClientPresence, type OwnPresence } from "./client-presence.ts";
import type { Clock } from "./runtime/clock.ts";

/**
 * Presence of clients that send independent requests: revision 2026-07-28 over HTTP, REST, and legacy requests
 * without a session. All requests from one program of one principal count as one client. It counts as connected while
 * it has a stream open (`subscriptions/listen`); otherwise its state is unknown.
 */
export interface SessionlessClients {
  of(client: SessionlessSender): ClientPresence;
  /** Counts the client as connected until the returned function is called. */
  listen(client: SessionlessSender): () => void;
  /** The names of the clients that are connected now; undefined for one that does not say its name. */
  connected(): readonly (string | undefined)[];
}

/** The parts of a request by which its client is recognised. */
export type SessionlessSender = Pick<CallContext, "principal" | "client">;

/**
 * The most clients remembered: 200 KB, and far more programs than use one gateway. Beyond it the oldest without a
 * stream is forgotten; its successor is recognised by `program`.
 */
export const mostSessionlessClients = 1_000;

interface Known {
  readonly name: string | undefined;
  readonly presence: OwnPresence;
  streams: number;
}

/** Knows no client at first. */
export function createSessionlessClients(clock: Clock): SessionlessClients {
  const known = new Map<string, Known>();

  function find({ principal, client }: SessionlessSender): Known {
    const name = readClientName(client.info);
    const program = programOf(principal, "alone", name);
    const found = known.get(program);
    if (found !== undefined) return found;
    if (known.size >= mostSessionlessClients) forgetFirst();
    const made: Known = { name, presence: createPresence(program, clock.monotonic()), streams: 0 };
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
    connected: () => [...known.values()].filter(({ streams }) => streams > 0).map(({ name }) => name),
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

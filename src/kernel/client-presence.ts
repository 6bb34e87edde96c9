import { isJsonObject } from "./json-bytes.ts";
import type { Principal } from "./principal.ts";

/**
 * One client, as far as it can be told from the others: a session, a connection, or all requests of one kind from one
 * principal.
 */
export interface ClientPresence {
  /** Whose it is, and which program: what comes back when its session has lapsed is recognised by it. */
  readonly program: string;
  readonly sinceMs: number;
  /**
   * `open`: it is connected. `lapsed`: nobody knows whether it comes back, perhaps in a new session. `gone`: it said
   * goodbye, or closed its end.
   */
  readonly state: "open" | "lapsed" | "gone";
  /** Monotonic ms; undefined while it is open, and for what comes back as itself. */
  readonly lapsedAtMs: number | undefined;
}

/** Written by whoever serves the client's session or connection. Times are monotonic ms. */
export interface OwnPresence extends ClientPresence {
  state: ClientPresence["state"];
  lapsedAtMs: number | undefined;
}

export function createPresence(program: string, nowMs: number): OwnPresence {
  return { program, sinceMs: nowMs, state: "open", lapsedAtMs: undefined };
}

export function programOf(
  principal: Principal,
  way: "session" | "streams" | "alone",
  name: string | undefined,
): string {
  return JSON.stringify([principal.id, way, name]);
}

/** Longer names are not needed to tell programs apart, and are kept for as long as the client is. */
const longestName = 100;

/** The name in a client's `clientInfo`; undefined when there is none. Untrusted. */
export function readClientName(clientInfo: unknown): string | undefined {
  const name = isJsonObject(clientInfo) ? clientInfo["name"] : undefined;
  return typeof name === "string" ? name.slice(0, longestName) : undefined;
}

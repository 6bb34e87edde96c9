import { isJsonObject } from "./text/json-bytes.ts";
import type { Principal } from "./principal.ts";

/**
 * One client, as far as it can be told apart from others: a session, a connection, or all requests of one kind from
 * one principal.
 */
export interface ClientPresence {
  /**
   * The principal and program of the client, as one string. When a session has lapsed, its successor is recognised by
   * having the same one.
   */
  readonly program: string;
  readonly sinceMs: number;
  /**
   * `open`: it is connected. `lapsed`: it may come back, perhaps in a new session. `gone`: it ended its session or
   * closed its connection.
   */
  readonly state: "open" | "lapsed" | "gone";
  /**
   * Monotonic ms; undefined while it is open, and for clients without a session, which return under the same
   * presence.
   */
  readonly lapsedAtMs: number | undefined;
}

/** The writable form, for the owner of the client's session or connection. Times are monotonic ms. */
export interface OwnPresence extends ClientPresence {
  state: ClientPresence["state"];
  lapsedAtMs: number | undefined;
}

/** A presence in the state `open`. `program` is made by {@link programOf}. */
export function createPresence(program: string, nowMs: number): OwnPresence {
  return { program, sinceMs: nowMs, state: "open", lapsedAtMs: undefined };
}

/**
 * Identifies one program of one principal. Programs that connect in different ways, or under different names, are
 * different ones.
 */
export function programOf(
  principal: Principal,
  way: "session" | "streams" | "alone",
  name: string | undefined,
): string {
  return JSON.stringify([principal.id, way, name]);
}

/**
 * The most characters kept of a name: enough to tell programs apart, and names stay in memory as long as the client
 * does.
 */
const longestName = 100;

/** The name in a client's `clientInfo`, cut at 100 characters; undefined when there is none. Untrusted. */
export function readClientName(clientInfo: unknown): string | undefined {
  const name = isJsonObject(clientInfo) ? clientInfo["name"] : undefined;
  return typeof name === "string" ? name.slice(0, longestName) : undefined;
}

/** Whose client it is that a request came from, as far as its name goes. */
interface NamedClient {
  readonly client: { readonly name?: string | undefined; readonly info?: unknown };
}

/**
 * One client of a person, as far as it can be told apart: its session or connection, otherwise its name or the way it
 * came.
 */
export function askerOf(
  context: NamedClient & { readonly connected?: { readonly id: string } | undefined; readonly via: string },
): string {
  return context.connected?.id ?? clientNameOf(context) ?? context.via;
}

/** Names are labels and columns: what a client says there must not be long. */
const longestLabel = 64;

/** What the client calls itself, at most 64 characters; undefined when it does not say. */
export function clientNameOf({ client }: NamedClient): string | undefined {
  return (client.name ?? readClientName(client.info))?.slice(0, longestLabel);
}

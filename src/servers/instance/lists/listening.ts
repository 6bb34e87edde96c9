import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Connection } from "../../upstream/connection.ts";

/**
 * A `subscriptions/listen` request that stays open towards a modern server, for changes of its lists (2026-07-28,
 * patterns/subscriptions).
 */
export interface Listening {
  /** How many such requests are open: 0 or 1. They do not count as work, and do not keep a process from being idle. */
  readonly open: number;
  /** Whether the server accepted the request; if not, its lists have to be fetched from time to time. */
  readonly works: boolean;
  stop(): void;
}

/** Delay before a stream that ended is opened again. It doubles with each stream that was short. */
const firstDelayMs = 1_000;
const longestDelayMs = 60_000;

const nothing: Listening = Object.freeze({ open: 0, works: false, stop: () => undefined });
/** The node that runs the server listens, and tells. */
const elsewhere: Listening = Object.freeze({ ...nothing, works: true });

/** Listens as long as the connection lives. Notifications arrive through the connection's events, like all others. */
export function listenForChanges(connection: Connection, clock: Clock): Listening {
  if (connection.far !== undefined) return elsewhere;
  const filter = filterFor(connection.peer.capabilities);
  if (connection.peer.era !== "modern" || filter === undefined) return nothing;
  const params = [["notifications", Buffer.from(asciiJson(filter), "latin1")]] as const;
  const ended = new AbortController();
  let cancelRetry: (() => void) | undefined;
  let delayMs = firstDelayMs;
  let open = 0;
  let works = true;

  async function listen(): Promise<void> {
    const openedMs = clock.monotonic();
    open = 1;
    try {
      const forEver = { timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY };
      const reply = await connection.request({
        method: "subscriptions/listen",
        params,
        signal: ended.signal,
        ...forEver,
      });
      // An error means that the server does not support it, whatever its capabilities say.
      if (reply.kind === "error") works = false;
    } catch {
      // The stream broke off. If the connection ended with it, `stop` has been called.
    } finally {
      open = 0;
    }
    if (ended.signal.aborted || !works) return;
    if (clock.monotonic() - openedMs > longestDelayMs) delayMs = firstDelayMs;
    cancelRetry = clock.after(delayMs, () => void listen());
    delayMs = Math.min(delayMs * 2, longestDelayMs);
  }

  void listen();
  return {
    get open() {
      return open;
    },
    get works() {
      return works;
    },
    stop() {
      cancelRetry?.();
      ended.abort(new Error("the connection is no longer used"));
    },
  };
}

function filterFor(capabilities: JsonObject): JsonObject | undefined {
  const filter: Record<string, boolean> = {};
  for (const kind of ["tools", "prompts", "resources"] as const) {
    if (declaresListChanged(capabilities, kind)) filter[`${kind}ListChanged`] = true;
  }
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** Whether a server declares that it announces changes of this kind of list. */
export function declaresListChanged(
  capabilities: JsonObject | undefined,
  kind: "tools" | "prompts" | "resources",
): boolean {
  const declared = capabilities?.[kind];
  return typeof declared === "object" && declared !== null && (declared as JsonObject)["listChanged"] === true;
}

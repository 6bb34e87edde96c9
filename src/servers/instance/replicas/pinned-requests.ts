import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Reply, UpstreamRequest } from "../../upstream/connection.ts";
import type { Replica } from "./replica.ts";

/** Requests that leave something at the process that they go to. */
export interface Pinned {
  takes(wanted: UpstreamRequest): boolean;
  request(wanted: UpstreamRequest): Promise<Reply>;
  /** Tells one that came up what all were told. */
  noteUp(replica: Replica): void;
  /** Brings to others what one that ended had been told. */
  noteDown(replica: Replica): void;
}

/** Pages of a list belong together: they come from one process, the one that started last. */
export function isListed({ method }: UpstreamRequest): boolean {
  return method.endsWith("/list");
}

const retellMs = 10_000;

/**
 * The level of logging goes to every replica. A subscription goes to one, which is asked to end it, and is made again
 * at another one when that ends.
 */
export function createPinned(connected: () => readonly Replica[]): Pinned {
  const subscribed = new Map<string, { readonly replica: Replica; readonly wanted: UpstreamRequest }>();
  let level: UpstreamRequest | undefined;

  async function setLevel(wanted: UpstreamRequest): Promise<Reply> {
    level = wanted;
    const [first, ...others] = connected();
    for (const replica of others) retell(replica, wanted);
    return await (first ?? noneUp()).calls.request(wanted);
  }

  async function subscribe(uri: string, wanted: UpstreamRequest): Promise<Reply> {
    const replica = holderOf(uri) ?? leastCalled();
    subscribed.set(uri, { replica, wanted });
    const reply = await replica.calls.request(wanted);
    if (reply.kind === "error") subscribed.delete(uri);
    return reply;
  }

  async function unsubscribe(uri: string, wanted: UpstreamRequest): Promise<Reply> {
    const replica = holderOf(uri) ?? leastCalled();
    subscribed.delete(uri);
    return await replica.calls.request(wanted);
  }

  function holderOf(uri: string): Replica | undefined {
    const replica = subscribed.get(uri)?.replica;
    return replica?.link.current === undefined ? undefined : replica;
  }

  function leastCalled(): Replica {
    return connected().toSorted((a, b) => a.calls.running - b.calls.running)[0] ?? noneUp();
  }

  return {
    takes: ({ method }) => pinnedMethods.has(method),
    async request(wanted) {
      if (wanted.method === "logging/setLevel") return await setLevel(wanted);
      const uri = String(wanted.params.find(([key]) => key === "uri")?.[1]);
      return wanted.method === "resources/subscribe" ? await subscribe(uri, wanted) : await unsubscribe(uri, wanted);
    },
    noteUp(replica) {
      if (level !== undefined) retell(replica, level);
    },
    noteDown(replica) {
      for (const [uri, held] of subscribed) {
        if (held.replica !== replica) continue;
        const [next] = connected().filter((other) => other !== replica);
        if (next === undefined) return;
        subscribed.set(uri, { ...held, replica: next });
        retell(next, held.wanted);
      }
    },
  };
}

const pinnedMethods: ReadonlySet<string> = new Set([
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);

/** Sent without waiting: no call depends on it. */
function retell(replica: Replica, { method, params, era }: UpstreamRequest): void {
  const times = { timeoutMs: retellMs, maxTimeoutMs: retellMs };
  replica.calls
    .request({ method, params, era, signal: AbortSignal.timeout(retellMs), ...times })
    .catch(() => undefined);
}

function noneUp(): never {
  throw new GatewayError("UPSTREAM_CLOSED", "no replica is up");
}

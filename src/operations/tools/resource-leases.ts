import type { Subscriptions } from "../../engine/calls/subscriptions/subscriptions.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { type LiveEvents, readsNothing } from "../../records/events/live-events.ts";

/** A resource that somebody wants to hear of. */
export interface Leased {
  readonly principal: Principal;
  readonly instance: InstanceId;
  /** As the server spells it. */
  readonly uri: string;
}

/**
 * Subscriptions of callers without a session that these could end with: each lasts for a while, and longer when it is
 * asked for again. They end sooner with the right to be here.
 */
export interface ResourceLeases {
  /**
   * Resolves when the server has accepted the subscription; at once where there is one. Rejects with RATE_LIMITED, and
   * with what the server said.
   */
  renew(leased: Leased, signal: AbortSignal): Promise<void>;
}

export interface ResourceLeasesDeps {
  readonly subscriptions: Pick<Subscriptions, "subscribe">;
  readonly clock: Pick<Clock, "after">;
  readonly live: () => Promise<Pick<LiveEvents, "follow">>;
}

/** A page in the background may run its timers once a minute only. */
export const leaseMs = 150_000;
/** More resources than somebody has open. */
const mostOfOne = 50;

interface Beginning {
  readonly key: string;
  readonly events: Pick<LiveEvents, "follow">;
  readonly signal: AbortSignal;
}

interface Lease {
  cancelEnd: () => void;
  readonly end: () => void;
}

/** Begins with none. */
export function createResourceLeases({ subscriptions, clock, live }: ResourceLeasesDeps): ResourceLeases {
  const leases = new Map<string, Lease>();
  /** Whose subscriptions servers have not answered yet. */
  const asking: PrincipalId[] = [];

  function prolong(lease: Lease): void {
    lease.cancelEnd();
    lease.cancelEnd = clock.after(leaseMs, lease.end);
  }

  async function begin({ principal, instance, uri }: Leased, { key, events, signal }: Beginning): Promise<void> {
    const gone = new AbortController();
    // First, because a server may take its time: a caller who has no right here any more by then gets no lease.
    const follower = events.follow({ ...readsNothing, principal, onEnd: () => gone.abort() }, undefined);
    let release: (() => void) | undefined;
    try {
      release = await subscriptions.subscribe(instance, uri, AbortSignal.any([signal, gone.signal]));
    } finally {
      if (release === undefined) follower.leave();
    }
    const end = (): void => {
      lease.cancelEnd();
      leases.delete(key);
      follower.leave();
      release();
    };
    const before = leases.get(key);
    if (before !== undefined || gone.signal.aborted) {
      // Two requests were on their way at the same time, or the right to be here ended meanwhile.
      follower.leave();
      release();
      if (before !== undefined) prolong(before);
      return;
    }
    const lease: Lease = { cancelEnd: clock.after(leaseMs, end), end };
    leases.set(key, lease);
    gone.signal.addEventListener("abort", end, { once: true });
  }

  return {
    async renew({ principal, instance, uri }, signal) {
      const owner = `${principal.id}\n`;
      const key = `${owner}${instance}\n${uri}`;
      const known = leases.get(key);
      if (known !== undefined) {
        prolong(known);
        return;
      }
      const events = await live();
      const waiting = asking.filter((other) => other === principal.id).length;
      const own = [...leases.keys()].filter((other) => other.startsWith(owner)).length + waiting;
      if (own >= mostOfOne) throw new GatewayError("RATE_LIMITED", `you watch ${own} resources already`);
      asking.push(principal.id);
      try {
        await begin({ principal, instance, uri }, { key, events, signal });
      } finally {
        asking.splice(asking.indexOf(principal.id), 1);
      }
    },
  };
}

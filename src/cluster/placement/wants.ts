import { abortAfter } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { ClusterStore, Want } from "../../store/shared.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { PeerClient } from "../peers/peer-client.ts";
import type { PlacedInstances } from "./placed-open.ts";

export interface WantsDeps {
  readonly store: Pick<ClusterStore, "grant">;
  readonly membership: Pick<Membership, "nodes">;
  readonly placed: Pick<PlacedInstances, "mayGoTo" | "giveTo">;
  readonly reach: (
    node: KnownNode,
  ) => Promise<{ readonly ask: (...asked: Parameters<PeerClient["ask"]>) => Promise<unknown> }>;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long running calls are waited for. */
  readonly drainMs: () => number;
}

/** A node that takes longer to answer is not there. */
const answerMs = 1_000;

/**
 * Returns what hands instances over to nodes that want them and cannot reach this one, as both hold their leases and
 * none can take over: to one that this node does not reach either, and to one that it does where that lasts for longer
 * than a lease. The newest of several that want one gets it, once a minute at most.
 */
export function createWants(deps: WantsDeps): (wanted: readonly Want[]) => void {
  const { store, membership, placed, clock, leaseMs } = deps;
  const running = new Set<string>();

  async function answers(node: KnownNode): Promise<boolean> {
    try {
      await (await deps.reach(node)).ask({ question: "reach" }, answerMs);
      return true;
    } catch {
      return false;
    }
  }

  async function consider(want: Want): Promise<void> {
    const node = membership.nodes().find(({ id }) => id === want.node);
    if (node?.state !== "ready" || node.leasedUntilMs <= clock.monotonic()) return;
    if (!placed.mayGoTo(want.instance, node)) return;
    if (want.forMs < leaseMs && (await answers(node))) return;
    if (await store.grant(want)) await placed.giveTo(want.instance, want.node, abortAfter(deps.drainMs()));
  }

  return (wanted) => {
    for (const want of wanted) {
      if (running.has(want.instance)) continue;
      running.add(want.instance);
      // While the database is away, it is asked for again.
      void consider(want)
        .catch(() => undefined)
        .finally(() => running.delete(want.instance));
    }
  };
}

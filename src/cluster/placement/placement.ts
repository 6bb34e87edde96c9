import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterStore, NodeKey, OwnClaim, Taken } from "../../store/shared.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { PeerClient } from "../peers/peer-client.ts";
import { Unreachable } from "../peers/peer-links.ts";

/** Where an instance runs. */
export type Place =
  /** `taken` where another node ran it. */
  | { readonly kind: "here"; readonly claim: OwnClaim; readonly taken?: Taken | undefined }
  /** That node runs it, or is to start it. */
  | { readonly kind: "far"; readonly node: string; readonly client: PeerClient };

export interface Placement {
  /**
   * Takes the instance for this node, or finds the node that has it. Waits for the lease of one that is silent, for ten
   * seconds at most. Rejects with NODE_FENCED or NODE_SILENT.
   */
  place(wanted: WantedPlace, signal: AbortSignal): Promise<Place>;
}

export interface WantedPlace {
  readonly instance: string;
  readonly server: ServerConfig;
  /** Monotonic ms since when it is looked for, also in earlier tries. */
  readonly sinceMs: number;
}

export interface PlacementDeps {
  readonly store: Pick<ClusterStore, "claim" | "markDead">;
  readonly membership: Membership;
  readonly clock: Clock;
  /** A client of that node. Rejects with Unreachable. */
  readonly reach: (node: NodeKey & { readonly address: string }) => Promise<PeerClient>;
  /** What this node has claimed and not given back, so that the database need not be asked. */
  readonly kept: (instance: string) => OwnClaim | undefined;
}

const patienceMs = 10_000;
const againMs = 100;
/** An owner that was reachable a moment ago may hold its lease by an agreement of those who lost the database. */
const agreementMs = 1_500;

export function createPlacement(deps: PlacementDeps): Placement {
  const { store, membership, clock, reach, kept } = deps;

  async function tryOnce({ instance, server, sinceMs }: WantedPlace): Promise<Place | Wait> {
    if (!membership.isLeased) return fenced;
    if (server.exclusive && !membership.isRenewed) return unrenewed;
    const own = kept(instance);
    if (own !== undefined) return { kind: "here", claim: own };
    const takesLapsed = clock.monotonic() - sinceMs > agreementMs;
    const { me } = membership;
    const claimed = await store.claim(instance, me, { takesLapsed });
    if (claimed.kind === "mine") {
      // It may have taken so long that another life of this node has begun, which does not own it.
      const isStillMine = membership.isLeased && membership.me.epoch === me.epoch;
      return isStillMine
        ? { kind: "here", claim: { instance, node: me, epoch: claimed.epoch }, taken: claimed.taken }
        : fenced;
    }
    // A node that drains starts nothing more: the newest of the others does.
    const node = claimed.node ?? (membership.isDraining ? heirOf(membership, clock) : undefined);
    if (node === undefined) return { why: "no node answers for it yet", code: "NODE_SILENT" };
    try {
      return { kind: "far", node: node.id, client: await reach(node) };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (error.isGone) await store.markDead(node);
      return { why: error.message, code: "NODE_SILENT", isGone: error.isGone };
    }
  }

  return {
    async place(wanted, signal) {
      const { server, sinceMs } = wanted;
      for (;;) {
        signal.throwIfAborted();
        const found = await tryOnce(wanted).catch((error: unknown): Wait => ({
          why: `the database that says who runs it cannot be asked (${error instanceof Error ? error.message : ""})`,
          code: "NODE_FENCED",
        }));
        if ("kind" in found) return found;
        if (clock.monotonic() - sinceMs > patienceMs)
          throw new GatewayError(found.code, `${server.slug} cannot be started: ${found.why}`);
        if (found.isGone !== true) await sleep(againMs);
      }
    },
  };
}

/** Why it has to be tried again. */
interface Wait {
  readonly why: string;
  readonly code: "NODE_FENCED" | "NODE_SILENT";
  readonly isGone?: boolean;
}

const fenced: Wait = { why: "this node has no lease", code: "NODE_FENCED" };
const unrenewed: Wait = { why: "it is exclusive, and this node could not renew its lease", code: "NODE_FENCED" };

/** Who gets what this node gives up: the node that began last, which will be there for longest. */
export function heirOf(membership: Membership, clock: Clock): KnownNode | undefined {
  const nowMs = clock.monotonic();
  const { id } = membership.me;
  return membership
    .nodes()
    .filter((node) => node.id !== id && node.state === "ready" && node.leasedUntilMs > nowMs)
    .toSorted((a, b) => b.epoch - a.epoch)[0];
}

import { setTimeout as sleep } from "node:timers/promises";
import type {
  Claimed,
  ClaimOptions,
  ClusterStore,
  NodeKey,
  NodeRow,
  OwnClaim,
  Taken,
  Whereabouts,
} from "../../store/shared.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { PeerClient } from "../peers/peer-client.ts";
import { Unreachable } from "../peers/peer-links.ts";
import { heirOf, hostOf, isChoosy, keepsFiles, mayRun, toFilesText, toRoomText } from "./place-rules.ts";

/** Where an instance runs. */
export type Place =
  /** `taken` where another node ran it. */
  | { readonly kind: "here"; readonly claim: OwnClaim; readonly taken?: Taken | undefined }
  /** That node runs it, or is to start it. */
  | { readonly kind: "far"; readonly node: string; readonly client: PeerClient };

export interface Placement {
  /**
   * Takes the instance for this node, or finds the node that has it. Waits for the lease of one that is silent, for ten
   * seconds at most. Rejects with NODE_FENCED, NODE_SILENT, NO_ROOM or FILES_ELSEWHERE.
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
  readonly store: Pick<ClusterStore, "claim" | "markDead" | "whereIs" | "want">;
  readonly membership: Membership;
  readonly clock: Clock;
  /** A client of that node. Rejects with Unreachable. */
  readonly reach: (node: NodeKey & { readonly address: string }) => Promise<PeerClient>;
  /** What this node has claimed and not given back, so that the database need not be asked. */
  readonly kept: (instance: string) => OwnClaim | undefined;
  /** What this node has that servers may ask for. */
  readonly labels: Readonly<Record<string, string>>;
}

const patienceMs = 10_000;
const againMs = 100;
/** An owner that was reachable a moment ago may hold its lease by an agreement of those who lost the database. */
const agreementMs = 1_500;

export function createPlacement(deps: PlacementDeps): Placement {
  const { store, membership, clock, reach, kept } = deps;

  /** A node that may not run it asks only where it is; what it has all the same is its own. */
  async function claimOr(
    { instance, server }: WantedPlace,
    me: NodeKey,
    options: Pick<ClaimOptions, "takesLapsed">,
  ): Promise<Claimed> {
    if (!mayRun(server, deps.labels)) {
      const found = await store.whereIs(instance);
      if (found.node?.id !== me.id || found.node.epoch !== me.epoch) return { kind: "taken", ...found };
    }
    return await store.claim(instance, me, { ...options, keepsFiles: keepsFiles(server) });
  }

  /** The node that has it; where there is none, and this one may not start it, another one that may. */
  function nodeToAsk({ node, home }: Whereabouts, { instance, server }: WantedPlace): NodeRow | KnownNode | undefined {
    if (mayRun(server, deps.labels) && homeOf(server, home) === undefined)
      return node ?? (membership.isDraining ? heirOf(membership, clock, server) : undefined);
    // One that lives no more is found out by those that may run it.
    const isThere = node !== undefined && node.state !== "dead" && node.leftMs > 0;
    return isThere ? node : hostOf(membership, clock, { instance, server, home: homeOf(server, home) });
  }

  /** Asked through the database, the node that has it and cannot be reached from here may hand it over. */
  function mayTakeFrom(node: NodeRow | KnownNode, server: ServerConfig): boolean {
    const isLeased = "leftMs" in node && node.state === "ready" && node.leftMs > 0;
    return isLeased && !membership.isDraining && !keepsFiles(server) && mayRun(server, deps.labels);
  }

  /** A node that has the labels, or had them of late, may be back in a moment. */
  function nowhere({ server }: WantedPlace, { home }: Whereabouts): Wait {
    const nodes = membership.nodes();
    if (homeOf(server, home) !== undefined) return { why: toFilesText(home ?? "", nodes), code: "FILES_ELSEWHERE" };
    if (!isChoosy(server)) return { why: "no node answers for it yet", code: "NODE_SILENT" };
    const isFinal = !nodes.some(({ info }) => mayRun(server, info.labels));
    return { why: toRoomText(server, nodes), code: "NO_ROOM", isFinal };
  }

  async function tryOnce(wanted: WantedPlace): Promise<Place | Wait> {
    const { instance, server, sinceMs } = wanted;
    if (!membership.isLeased) return fenced;
    if (server.exclusive && !membership.isRenewed) return unrenewed;
    const own = kept(instance);
    if (own !== undefined) return { kind: "here", claim: own };
    const takesLapsed = clock.monotonic() - sinceMs > agreementMs;
    const { me } = membership;
    const found = await claimOr(wanted, me, { takesLapsed });
    if (found.kind === "mine") {
      // It may have taken so long that another life of this node has begun, which does not own it.
      const isStillMine = membership.isLeased && membership.me.epoch === me.epoch;
      return isStillMine
        ? { kind: "here", claim: { instance, node: me, epoch: found.epoch }, taken: found.taken }
        : fenced;
    }
    const node = nodeToAsk(found, wanted);
    if (node === undefined) return nowhere(wanted, found);
    try {
      return { kind: "far", node: node.id, client: await reach(node) };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (error.isGone) await store.markDead(node);
      else if (mayTakeFrom(node, server)) await store.want(instance, node, me);
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
        if (found.isFinal === true || clock.monotonic() - sinceMs > patienceMs)
          throw new GatewayError(found.code, `${server.slug} cannot be started: ${found.why}`);
        if (found.isGone !== true) await sleep(againMs);
      }
    },
  };
}

/** The node that has the files of a server that keeps some. */
function homeOf(server: ServerConfig, home: string | undefined): string | undefined {
  return keepsFiles(server) ? home : undefined;
}

/** Why it has to be tried again. */
interface Wait {
  readonly why: string;
  readonly code: "NODE_FENCED" | "NODE_SILENT" | "NO_ROOM" | "FILES_ELSEWHERE";
  readonly isGone?: boolean;
  /** There is no use in waiting. */
  readonly isFinal?: boolean;
}

const fenced: Wait = { why: "this node has no lease", code: "NODE_FENCED" };
const unrenewed: Wait = { why: "it is exclusive, and this node could not renew its lease", code: "NODE_FENCED" };

import type { GatewayStatus } from "../../records/gateway-status.ts";
import type { TokenSum } from "../../records/usage/list-costs.ts";
import { sumSaved, type SavedToday } from "../../records/usage/saved-today.ts";
import type { PendingRequest } from "../../servers/upstream/connection.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** What a screen shows that is drawn again and again: what `toolyard status` says, and what goes on at this moment. */
export interface StatusScreen {
  readonly status: GatewayStatus;
  /** Requests of clients that servers work on. */
  readonly pending: readonly PendingAt[];
  readonly saved: SavedToday;
  /** What the list of `/mcp` costs a model, and what that of every tool would. */
  readonly here: TokenSum;
  readonly flat: TokenSum;
}

export interface PendingAt extends PendingRequest {
  readonly server: string;
}

/** A client that asked for the list of tools. */
export interface ListedBy {
  /** What it calls itself, untrusted; null when it does not say. */
  readonly client: string | null;
  /** Wall clock. */
  readonly startedMs: number;
}

type Seen = Pick<GatewayParts, "status" | "owner" | "fleet" | "usage" | "viewOf">;

/** Visits every tool, so that it is for screens. */
export async function readStatusScreen(parts: Seen): Promise<StatusScreen> {
  const { owner, usage, fleet } = parts;
  // Prices the owner's view as well, which is looked at below.
  const status = await parts.status({ principal: owner, isAdmin: true });
  const view = parts.viewOf(owner);
  await usage.costs.prepare(view);
  return {
    status,
    pending: fleet
      .all()
      .flatMap(({ server: { slug }, connection }) =>
        (connection?.pending() ?? []).map((request) => ({ server: slug, ...request })),
      ),
    saved: sumSaved(usage.finding.sessions(), usage.finding.today().sinceMs),
    here: await usage.here(view),
    flat: usage.costs.flat(view),
  };
}

/** Who asked for the list of tools since the gateway was started, oldest first. */
export function readListedBy({ usage }: Pick<GatewayParts, "usage">): readonly ListedBy[] {
  return usage.finding.sessions().map(({ client, startedMs }) => ({ client, startedMs }));
}

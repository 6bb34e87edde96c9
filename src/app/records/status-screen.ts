import { sumSaved } from "../../records/usage/finding-history.ts";
import type { Activity } from "../../operations/services.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** A client that asked for the list of tools. */
export interface ListedBy {
  /** What it calls itself, untrusted; null when it does not say. */
  readonly client: string | null;
  /** Wall clock. */
  readonly startedMs: number;
}

type Seen = Pick<GatewayParts, "status" | "owner" | "fleet" | "usage" | "viewOf" | "mcp">;

/** Visits every tool, so that it is for screens. */
export async function readActivity(parts: Seen): Promise<Activity> {
  const { owner, usage, fleet } = parts;
  // Prices the owner's view as well, which is looked at below.
  const status = await parts.status({ principal: owner, isAdmin: true });
  const view = parts.viewOf(owner);
  await usage.costs.prepare(view);
  const nowMs = parts.mcp.parts.clock.monotonic();
  return {
    status,
    pending: fleet.all().flatMap(({ server: { slug }, connection }) =>
      (connection?.pending() ?? []).map(({ method, name = null, sinceMs }) => {
        return { server: slug, method, name, runningMs: Math.round(nowMs - sinceMs) };
      }),
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

import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { usageDimensions, type UsageDimension, type UsageSum } from "../../store/record-store.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** The members of the command `usage`. Missing ones are not looked at. */
export interface UsageRequest {
  /** What the sums are grouped by. */
  readonly by: readonly string[];
  readonly days: number;
  readonly team?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly limit: number;
}

/** Who used what, as the command shows it. */
export interface UsageReport {
  readonly by: readonly UsageDimension[];
  readonly fromMs: number;
  readonly toMs: number;
  /** What was before is not known; null where all that was is. */
  readonly sinceMs: number | null;
  readonly sums: readonly UsageSum[];
  /** Names of the people whose ids stand among the sums. */
  readonly names: Readonly<Record<string, string>>;
}

const dayMs = 86_400_000;
/** As many as a query takes. */
const mostDimensions = 3;
const mostSums = 10_000;
const mostDays = 400;

/** Rejects with REQUEST_INVALID. */
export async function readUsage(
  { usage, mcp, team }: Pick<GatewayParts, "usage" | "mcp" | "team">,
  request: JsonObject,
): Promise<UsageReport> {
  const { by: names, days, limit, ...filters } = request as unknown as UsageRequest;
  const by = usageDimensions.filter((dimension) => names.includes(dimension));
  if (by.length !== names.length || by.length > mostDimensions)
    throw new GatewayError("REQUEST_INVALID", "usage is grouped by up to three things, each once", {
      hint: `They are ${usageDimensions.join(", ")}.`,
    });
  const toMs = mcp.parts.clock.now();
  const fromMs = toMs - Math.min(mostDays, Math.max(1, days)) * dayMs;
  const { team: ofTeam, server, tool } = filters;
  // In the order in which they were asked for.
  const asked = { fromMs, toMs, by: names as readonly UsageDimension[], team: ofTeam, server, tool };
  const { sums, sinceMs } = await usage.usage.read({ ...asked, limit: Math.min(mostSums, Math.max(1, limit)) });
  const at = asked.by.indexOf("principal");
  const members = team?.people()?.directory.book.members;
  const named = sums.flatMap(({ group }) => {
    const member = at === -1 ? undefined : members?.get(group[at] ?? "");
    return member === undefined ? [] : [[member.row.id, `${member.user.name} (${member.team.slug})`] as const];
  });
  return { by: asked.by, fromMs, toMs, sinceMs, sums, names: Object.fromEntries(named) };
}

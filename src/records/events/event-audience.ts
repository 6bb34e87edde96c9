import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import type { Principal } from "../../kernel/principal.ts";

/** How much of an event somebody may see: all of it, or that it happened and not what was in it. */
export type EventShare = "whole" | "metadata";

/**
 * How much of an event a principal may see; undefined for nothing. Everybody sees what happens to the instances that
 * they share, with all or with their team, and to their own, and what they do themselves. An admin also sees that
 * something happened to the instances of others and which calls they make, but neither names nor contents, and what
 * concerns the gateway.
 */
export function shareOf(event: PublishedEvent, principal: Principal): EventShare | undefined {
  const isAdmin = principal.roles.includes("admin");
  if (isOfGateway(event)) return isAdmin ? "whole" : undefined;
  if (event.principal === principal.id) return "whole";
  if (event.principal === undefined && isSharedWith(event, principal))
    return isAdmin || !ofSomebody.has(event.type) ? "whole" : "metadata";
  return isAdmin ? "metadata" : undefined;
}

/** What a team installed is shared by that team alone. */
function isSharedWith(event: PublishedEvent, { team }: Principal): boolean {
  return !("team" in event) || event.team === undefined || event.team === team;
}

type OfGateway = Exclude<PublishedEvent, { readonly principal: unknown }>;

function isOfGateway(event: PublishedEvent): event is OfGateway {
  return !("principal" in event);
}

/** What somebody's request led to, though it does not say whose it was. */
const ofSomebody: ReadonlySet<PublishedEvent["type"]> = new Set(["resource.updated", "result.schema_mismatch"]);

/**
 * The members of an event that reveal the content of a call, or output of a person's own server. A request's members
 * are listed the other way round, because new ones may be added to it.
 */
export function isContent(event: PublishedEvent, member: string): boolean {
  if (event.type === "mcp.request.logs") return !requestMetadata.has(member);
  return contents[event.type]?.includes(member) === true;
}

const requestMetadata: ReadonlySet<string> = new Set([
  "method",
  "durationMs",
  "waitMs",
  "outcome",
  "via",
  "argumentBytes",
  "resultBytes",
  "cutTokens",
  "serverCode",
  "traceId",
]);

const contents: Readonly<Partial<Record<PublishedEvent["type"], readonly string[]>>> = {
  "mcp.server.logs": ["line"],
  "mcp.server.crashed": ["stderr"],
  "resource.updated": ["uri"],
  "upstream.oddity": ["detail"],
  "result.schema_mismatch": ["tool", "reason"],
  "tool.bare_name": ["path"],
  "search.done": ["client", "first"],
};

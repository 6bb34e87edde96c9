import type { DiscoveredTool, EventOf } from "../../kernel/events/event.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { toRedactedJson } from "../redaction/redacted-value.ts";
import { isApprover, type Principal } from "../../kernel/principal.ts";

/** What an event as text says beyond the event itself. */
export interface EventFacts {
  /** The instance of which another one is the copy for a single client; otherwise the instance itself. */
  readonly installationOf: (instance: InstanceId) => InstanceId;
  readonly teamOf: (principal: PrincipalId) => string | undefined;
  /** Whether the configuration lets anybody see a tool of an instance. */
  readonly isShown: (instance: InstanceId, tool: DiscoveredTool) => boolean;
  /** What a tool's definition costs in a list. */
  readonly countTokens: (tool: DiscoveredTool) => number;
  /** Removes every secret from a text. */
  readonly redact: (text: string) => string;
}

/**
 * An event as JSON, the same for the live stream, webhooks and the event log. `coalesced` is the number of other events
 * that it summarizes.
 */
export type EventToJson = (event: PublishedEvent, share: EventShare, coalesced?: number) => string;

/**
 * `{ type, time, server, instance, installation, principal, team, data }`, with null for what an event does not
 * concern, and `coalesced` where it summarizes several. `data` has the event's own members in snake_case.
 */
export function createEventToJson(facts: EventFacts): EventToJson {
  return (event, share, coalesced = 0) => {
    const value = {
      type: event.type,
      time: new Date(event.atMs).toISOString(),
      ...contextOf(event, facts),
      ...(coalesced === 0 ? {} : { coalesced }),
      data: event.type === "mcp.tools.discovered" ? toDiscovery(event, facts) : toData(event, share),
    };
    return toRedactedJson(value, facts.redact);
  };
}

function contextOf(event: PublishedEvent, { installationOf, teamOf }: EventFacts) {
  const principal = "principal" in event ? event.principal : undefined;
  const instance = "instance" in event ? event.instance : undefined;
  const installation =
    "installation" in event ? event.installation : instance === undefined ? undefined : installationOf(instance);
  const team = "team" in event && event.team !== undefined ? event.team : principal && teamOf(principal);
  return {
    server: "server" in event ? event.server : null,
    instance: instance ?? null,
    installation: installation ?? null,
    principal: principal ?? null,
    team: team ?? null,
  };
}

/**
 * The contract of `mcp.tools.discovered`: these members, and no others. Of a list of many megabytes the first tools are
 * told, because it is written in one turn; `tools_omitted` says how many are not, and their tokens are those of an
 * average one.
 */
function toDiscovery(event: EventOf<"mcp.tools.discovered">, { isShown, countTokens }: EventFacts) {
  const shown = event.tools.filter((tool) => isShown(event.instance, tool));
  const tools: { readonly token_count: number; readonly [member: string]: unknown }[] = [];
  let room = mostCharacters;
  for (const tool of shown) {
    const { name, description = "", inputSchema } = tool.definition;
    room -= stringifyExact({ name, description, inputSchema }).length;
    if (room < 0 && tools.length > 0) break;
    tools.push({
      tool_name: name,
      tool_path: tool.path,
      description,
      input_schema: inputSchema,
      token_count: countTokens(tool),
    });
  }
  const tokens = tools.reduce((sum, tool) => sum + tool.token_count, 0);
  const omitted = shown.length - tools.length;
  return {
    installation_id: event.installation,
    installation_name: event.installationName,
    team_id: event.team ?? null,
    server_slug: event.server,
    tool_count: shown.length,
    total_tokens: omitted === 0 ? tokens : Math.round((tokens / tools.length) * shown.length),
    tools,
    ...(omitted === 0 ? {} : { tools_omitted: omitted }),
    discovered_at: new Date(event.atMs).toISOString(),
  };
}

/** Of the definitions in one event: a thousand usual ones. */
const mostCharacters = 524_288;

const ofContext: ReadonlySet<string> = new Set([
  "type",
  "atMs",
  "server",
  "instance",
  "installation",
  "principal",
  "team",
]);

function toData(event: PublishedEvent, share: EventShare): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(event)) {
    if (ofContext.has(member) || value === undefined) continue;
    if (share === "metadata" && isContent(event, member)) continue;
    data[toSnakeCase(member)] = value;
  }
  return data;
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** How much of an event somebody may see: all of it, or that it happened and not what was in it. */
export type EventShare = "whole" | "metadata";

/**
 * How much of an event a principal may see; undefined for nothing. Everybody sees what happens to the instances that
 * they share, with all or with their team, and to their own, what they do themselves, and which calls they may allow.
 * An admin also sees that something happened to the instances of others and which calls they make, but neither names
 * nor contents, and what concerns the gateway.
 */
export function shareOf(event: PublishedEvent, principal: Principal): EventShare | undefined {
  const isAdmin = principal.roles.includes("admin");
  if (isOfGateway(event)) return isAdmin ? "whole" : undefined;
  if (event.principal === principal.id) return "whole";
  if ("approver" in event && isApprover(principal, event.approver, event.team ?? null)) return "whole";
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
  "approvals.changed": ["tool", "client", "id"],
  ...Object.fromEntries(
    (["requested", "decided", "expired", "revoked"] as const).map((what) => [
      `approval.${what}`,
      ["tool", "client", "id", "page"],
    ]),
  ),
};

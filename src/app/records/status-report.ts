import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { InstanceStatus } from "../../kernel/status-words.ts";
import type { ServerCost } from "../../records/usage/list-costs.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { sumSaved } from "../../records/usage/finding-history.ts";
import type { Activity } from "../../operations/services.ts";

/** What a person wants to know about a gateway at a glance. */
export interface Overview {
  readonly servers: readonly ServerOverview[];
  /** What `tools/list` and the instructions of `/mcp` cost a client's model, in tokens. */
  readonly tokensHere: number;
  /** The same for `/mcp/flat`, which lists every tool. */
  readonly tokensFlat: number;
  /** Whether both were counted, so that no estimate is in them. */
  readonly areTokensExact: boolean;
}

export interface OverviewAsk {
  /** Waits until the tokens are counted, as `toolyard tokens` does. They are kept for the next start. */
  readonly isCounted?: boolean;
}

/** After it, estimates are shown where the counting goes on. */
const longestCountMs = 10_000;

export interface ServerOverview {
  readonly slug: string;
  readonly title: string;
  readonly status: InstanceStatus;
  readonly dormant: boolean;
  /** Of one that is off: what has to be done before it runs again. */
  readonly step?: ViewServer["step"];
  /** One sentence that explains the status. */
  readonly reason: string;
  readonly tools: readonly ToolOverview[];
  /** How much it offers of each kind, whatever its rules hide; null while it is unknown. */
  readonly offers: Offers | null;
  /** What its tools cost in a flat list. 0 when it has none. */
  readonly tokens: number;
}

export interface Offers {
  readonly tools: number;
  readonly resources: number;
  readonly templates: number;
  readonly prompts: number;
  readonly skills: number;
}

export interface ToolOverview {
  readonly name: string;
  readonly description: string;
  readonly readOnly: boolean;
  /** Whether it can be called without arguments. */
  readonly needsNothing: boolean;
  /** What people say who need it. */
  phrases(): Promise<readonly string[]>;
}

/**
 * The gateway as its owner sees it now, after its tokens were counted where that is asked for. Visits every tool, some
 * at a time, so that it is for screens and pages, not for calls.
 */
export async function readOverview(
  { viewOf, owner, usage, discovery }: Pick<GatewayParts, "viewOf" | "owner" | "usage" | "discovery">,
  { isCounted = false }: OverviewAsk = {},
): Promise<Overview> {
  const { costs, here: hereOf } = usage;
  const view = viewOf(owner);
  if (isCounted) await usage.count(view, longestCountMs);
  await costs.prepare(view);
  const here = await hereOf(view);
  const flat = costs.flat(view);
  const byServer = new Map(costs.servers(view).map((cost) => [cost.server, cost]));
  return {
    servers: view.servers.map((server) => toServerOverview(server, byServer.get(server.slug), discovery)),
    tokensHere: here.tokens,
    tokensFlat: flat.tokens,
    areTokensExact: here.isExact && flat.isExact,
  };
}

function toServerOverview(
  server: ViewServer,
  cost: ServerCost | undefined,
  discovery: Pick<GatewayParts["discovery"], "phrasesOf">,
): ServerOverview {
  const { slug, title, status, dormant, step, reason, tools, shown, catalog } = server;
  return {
    slug,
    title,
    status,
    dormant,
    step,
    reason,
    tools: shown
      ? tools.map((tool) => ({ ...toToolOverview(tool), phrases: async () => await discovery.phrasesOf(tool) }))
      : [],
    offers: catalog === undefined ? null : toOffers(catalog),
    tokens: cost?.tokens ?? 0,
  };
}

function toToolOverview({ upstreamName, definition }: ToolEntry): Omit<ToolOverview, "phrases"> {
  const { description, annotations, inputSchema } = definition;
  return {
    name: upstreamName,
    description: typeof description === "string" ? description : "",
    readOnly: annotations?.["readOnlyHint"] === true,
    needsNothing: !Array.isArray(inputSchema["required"]) || inputSchema["required"].length === 0,
  };
}

function toOffers({ tools, resources, templates, prompts, skills }: NonNullable<ViewServer["catalog"]>): Offers {
  return {
    tools: tools.length,
    resources: resources.length,
    templates: templates.length,
    prompts: prompts.length,
    skills: skills.length,
  };
}

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

import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { InstanceStatus } from "../../kernel/status-words.ts";
import type { ServerCost } from "../../records/usage/list-costs.ts";
import type { GatewayParts } from "../gateway-parts.ts";

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
 * The gateway as its owner sees it now. Visits every tool, some at a time, so that it is for screens and pages, not for
 * calls.
 */
export async function readOverview({
  viewOf,
  owner,
  usage: { costs, here: hereOf },
  discovery,
}: Pick<GatewayParts, "viewOf" | "owner" | "usage" | "discovery">): Promise<Overview> {
  const view = viewOf(owner);
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

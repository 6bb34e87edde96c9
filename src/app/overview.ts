import type { View, ViewServer } from "../catalog/model/view.ts";
import { flatExposure } from "../catalog/exposure/flat.ts";
import { toListedTool } from "../catalog/exposure/native.ts";
import { estimateTokens } from "../catalog/exposure/token-estimate.ts";
import type { InstanceStatus } from "../kernel/status.ts";
import type { GatewayParts } from "./gateway-parts.ts";

/**
 * What a person wants to know about a gateway at a glance. Token counts are estimates (`exposure/token-estimate.ts`).
 */
export interface Overview {
  readonly servers: readonly ServerOverview[];
  /** What `tools/list` and the instructions of `/mcp` cost a client's model, in tokens. */
  readonly tokensHere: number;
  /** The same for `/mcp/flat`, which lists every tool. */
  readonly tokensFlat: number;
}

export interface ServerOverview {
  readonly slug: string;
  readonly title: string;
  readonly status: InstanceStatus;
  readonly dormant: boolean;
  /** One sentence that explains the status. */
  readonly reason: string;
  readonly tools: readonly ToolOverview[];
  /** What its tools cost in a flat list. 0 when it has none. */
  readonly tokens: number;
}

export interface ToolOverview {
  readonly name: string;
  readonly description: string;
  readonly readOnly: boolean;
  /** Whether it can be called without arguments. */
  readonly needsNothing: boolean;
}

/** The gateway as its owner sees it now. Visits every tool, so that it is for screens and pages, not for calls. */
export function readOverview(gateway: Pick<GatewayParts, "viewOf" | "owner" | "mcp">): Overview {
  const view = gateway.viewOf(gateway.owner);
  const standard = gateway.mcp.endpointOf("/mcp")?.exposure ?? flatExposure;
  return {
    servers: view.servers.map((server) => toServerOverview(view, server)),
    tokensHere: tokensOf(view, standard),
    tokensFlat: tokensOf(view, flatExposure),
  };
}

function tokensOf(view: View, exposure: typeof flatExposure): number {
  const { items } = exposure.list(view, "tools");
  return items.reduce((sum, item) => sum + estimateTokens(item), estimateTokens(exposure.instructions(view)));
}

function toServerOverview(view: View, server: ViewServer): ServerOverview {
  const { slug, title, status, dormant, reason, tools, shown } = server;
  const listed = shown ? tools.map((tool) => toListedTool(tool.definition, view.names.flatName(tool), server)) : [];
  return {
    slug,
    title,
    status,
    dormant,
    reason,
    tools: shown
      ? tools.map(({ upstreamName, definition: { description, annotations, inputSchema } }) => ({
          name: upstreamName,
          description: typeof description === "string" ? description : "",
          readOnly: annotations?.["readOnlyHint"] === true,
          needsNothing: !Array.isArray(inputSchema["required"]) || inputSchema["required"].length === 0,
        }))
      : [],
    tokens: listed.reduce((sum, item) => sum + estimateTokens(item), 0),
  };
}

import { resolveTool } from "../../catalog/exposure/text/tool-lookup.ts";
import { noArguments } from "../../kernel/call/call-context.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Services } from "../services.ts";
import type { ConfigEntries } from "../request/management.ts";
import type { OperationRequest } from "../operation.ts";

/** A tool by the slug of its server and the server's own name. */
export interface Ruled {
  readonly slug: string;
  readonly tool: string;
}

/** What a path may mean to the caller. */
export interface ToolPlace {
  /** The tool that the caller sees under this name, in any spelling. */
  readonly shown: Ruled | undefined;
  /** Whether a server offers a tool of this name of its own. */
  readonly isOffered: (ruled: Ruled) => boolean;
}

/** What each of these paths may mean. Throws TOOL_AMBIGUOUS for a name that several tools have. */
export async function placesOf(
  services: Services,
  { principal }: Pick<OperationRequest, "principal">,
  paths: readonly string[],
): Promise<readonly ToolPlace[]> {
  const view = services.viewOf(principal);
  const places: ToolPlace[] = [];
  for (const path of paths) {
    for (const listing of ["flat", "namespaced"] as const) await services.namesInTurns(view, listing, path);
    places.push({
      shown: shownTool(view, path),
      isOffered: ({ slug, tool }) =>
        view.server(slug)?.catalog?.tools.some(({ upstreamName }) => upstreamName === tool) === true,
    });
  }
  return places;
}

function shownTool(view: ReturnType<Services["viewOf"]>, path: string): Ruled | undefined {
  try {
    const { tool } = resolveTool(view, path, noArguments);
    return { slug: tool.server, tool: tool.upstreamName };
  } catch (error) {
    if (toGatewayError(error).code === "TOOL_AMBIGUOUS") throw error;
    return undefined;
  }
}

/**
 * The tool that a path means: one that is seen, or one of a server of the file that is hidden, or has a rule there.
 * Throws TOOL_UNKNOWN, and TOOL_AMBIGUOUS where a hidden tool has a name that another one was given.
 */
export function requireRuled({ servers }: ConfigEntries, { shown, isOffered }: ToolPlace, path: string): Ruled {
  const owner = servers.find(({ slug }) => path.startsWith(`${slug}:`));
  const named = owner && { slug: owner.slug, tool: path.slice(owner.slug.length + 1) };
  const own =
    named !== undefined && owner !== undefined && (isOffered(named) || owner.rules.tools.includes(named.tool));
  if (shown === undefined && own) return named;
  if (shown === undefined)
    throw new GatewayError("TOOL_UNKNOWN", `there is no tool ${JSON.stringify(path.slice(0, 200))}`, {
      hint:
        "List the tools to see what exists; one that is hidden is `server:tool`, with the " +
        "server's own name for it.",
    });
  if (own && (named.slug !== shown.slug || named.tool !== shown.tool) && isOffered(named))
    throw new GatewayError(
      "TOOL_AMBIGUOUS",
      `${path} is ${shown.slug}'s ${shown.tool} by its new name, and the own name of another one`,
      { hint: "Give one of them a name of its own in the configuration file." },
    );
  return shown;
}

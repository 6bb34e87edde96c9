import type { Listing } from "../model/names/names.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { View } from "../model/view.ts";
import type { CallArguments } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { resolveTool } from "./text/tool-lookup.ts";
import type { Intent } from "./intent.ts";

/** How an exposure offers its tools. */
export interface Offer {
  readonly listing?: Listing;
  /** The tool's name in the exposure's own list. */
  readonly nameOf: (tool: ToolEntry) => string;
  /** Tells how to see what exists there. */
  readonly hint: string;
}

/**
 * As {@link resolveTool}, except that TOOL_UNKNOWN names what this exposure offers, because its client has no other
 * tools to look with.
 */
export function resolveOffered(
  view: View,
  spelling: string,
  given: CallArguments,
  offer: Offer,
): Extract<Intent, { kind: "call" }> {
  try {
    return resolveTool(view, spelling, given, offer.listing);
  } catch (error) {
    throw error instanceof GatewayError && error.code === "TOOL_UNKNOWN" ? inItsNames(error, view, offer) : error;
  }
}

function inItsNames(error: GatewayError, view: View, offer: Offer): GatewayError {
  const closest = error.data?.["closest"];
  const named = Array.isArray(closest)
    ? closest.flatMap((path) => view.names.tools.filter((tool) => tool.path === path).map(offer.nameOf))
    : undefined;
  return new GatewayError("TOOL_UNKNOWN", error.message, {
    data: { ...error.data, ...(named === undefined ? {} : { closest: named }) },
    cause: error,
    hint: offer.hint,
  });
}

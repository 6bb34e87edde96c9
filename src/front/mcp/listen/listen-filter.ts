import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";

/** What one `subscriptions/listen` wants to hear of. */
export interface ListenFilter {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resourcesList: boolean;
  /** URIs, each once. */
  readonly resources: readonly string[];
}

/** Resources that one request may name: each is a subscription upstream. */
const mostResources = 1_000;

/** Reads `params.notifications` (2026-07-28, patterns/subscriptions). Throws PARAMS_INVALID. */
export function parseListenFilter(value: unknown): ListenFilter {
  if (!isJsonObject(value))
    throw new GatewayError("PARAMS_INVALID", "subscriptions/listen needs params.notifications, an object");
  const resources = value["resourceSubscriptions"] ?? [];
  if (!Array.isArray(resources) || resources.some((uri) => typeof uri !== "string"))
    throw new GatewayError("PARAMS_INVALID", "resourceSubscriptions must be an array of strings");
  if (resources.length > mostResources)
    throw new GatewayError("PARAMS_INVALID", `resourceSubscriptions holds more than ${mostResources} resources`);
  return {
    tools: value["toolsListChanged"] === true,
    prompts: value["promptsListChanged"] === true,
    resourcesList: value["resourcesListChanged"] === true,
    resources: [...new Set(resources as readonly string[])],
  };
}

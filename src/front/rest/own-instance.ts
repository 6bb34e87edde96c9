import * as z from "zod";
import type { View } from "../../catalog/model/view.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { RestDeps } from "./deps.ts";

export const instanceSchema = z
  .object({
    id: z.string(),
    server: z.string(),
    scope: z.enum(["shared", "user", "client"]),
    transport: z.enum(["stdio", "http", "sse"]),
    status: z.string(),
    dormant: z.boolean(),
    reason: z.string(),
    toolCount: z.int(),
    endpoint: z.string().describe("Where MCP clients reach this instance alone, with a token of its own."),
  })
  .meta({ id: "Instance" });

/**
 * One of the principal's own instances, or of those that all share. Throws SERVER_UNKNOWN: another's id is as unknown
 * as a random one (fault 94).
 */
export function findInstance(deps: RestDeps, principal: Principal, id: string): Instance {
  const instance = deps.instancesOf(principal).find((candidate) => candidate.id === id);
  // The id is not repeated: what comes back must not tell one unknown id from another.
  if (instance === undefined)
    throw new GatewayError("SERVER_UNKNOWN", "there is no such instance", { hint: "GET /api/instances lists yours." });
  return instance;
}

/** The same, to be stopped: everybody who sees a shared instance may use it, only who runs the gateway may stop it for all. Throws FORBIDDEN. */
export function findOwnInstance(deps: RestDeps, principal: Principal, id: string): Instance {
  const instance = findInstance(deps, principal, id);
  const isForeign = instance.owner === null && !deps.isOpen() && !principal.roles.includes("admin");
  if (isForeign) throw new GatewayError("FORBIDDEN", "this instance is shared: only an admin may do that");
  return instance;
}

export function describeInstance(instance: Instance, view: View, deps: RestDeps): z.output<typeof instanceSchema> {
  const { status, dormant, reason, transport } = instance.statusView();
  return {
    id: instance.id,
    server: instance.server.slug,
    scope: instance.server.scope,
    transport,
    status,
    dormant,
    reason: deps.redact(reason),
    toolCount: view.server(instance.server.slug)?.tools.length ?? 0,
    endpoint: endpointOf(instance),
  };
}

export function endpointOf(instance: Instance): string {
  return `/i/${encodeURIComponent(instance.id)}/mcp`;
}

/** How long restarting or listing may take; it goes on when the client leaves, because others may wait for the same. */
export const actionTimeoutMs = 180_000;

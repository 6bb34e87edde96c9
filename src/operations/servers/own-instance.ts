import { transportKinds } from "../../config/entry/transports.ts";
import * as z from "zod";
import type { Instance } from "../../servers/instance/instance.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import * as schemas from "../schemas.ts";
import { requireScope } from "../../engine/policy/scopes.ts";
import type { Services } from "../services.ts";
import type { OperationRequest } from "../operation.ts";

/** The schema of the address at which clients reach one instance alone, with a token of its own. */
export const endpointSchema = {
  endpoint: z.string().describe("The path at which MCP clients reach only this instance, with a token of its own."),
  url: z.string().describe("The complete URL of that endpoint, for a client's settings."),
};

export const instanceSchema = z
  .object({
    id: z.string(),
    server: z.string(),
    scope: z.enum(["shared", "user", "client"]),
    transport: z.enum(transportKinds),
    status: z.string(),
    dormant: z.boolean(),
    reason: z.string(),
    toolCount: z.int(),
    node: schemas.nullableText.describe("The node of the cluster that runs it; null in a gateway that is alone."),
    ...endpointSchema,
  })
  .meta({ id: "Instance" });

/**
 * Finds one of the principal's own instances, or a shared one. Throws SERVER_UNKNOWN for any other, so that another
 * person's id looks like one that does not exist (fault 94).
 */
export function findInstance(services: Pick<Services, "instancesOf">, principal: Principal, id: string): Instance {
  const instance = services.instancesOf(principal).find((candidate) => candidate.id === id);
  // The message does not repeat the id, so that the answers to all unknown ids are the same.
  if (instance === undefined)
    throw new GatewayError("SERVER_UNKNOWN", "there is no such instance", {
      hint: "`toolyard status` and GET /api/instances list yours.",
    });
  return instance;
}

/**
 * The same, and those that somebody else has in a team that the caller runs. The caller may see their state, restart
 * them and stop them; their conversations and logs belong to their person alone.
 */
export function findVisibleInstance(
  services: Pick<Services, "instancesOf" | "managedInstance">,
  principal: Principal,
  id: string,
): Instance {
  return services.managedInstance(principal, id) ?? findInstance(services, principal, id);
}

/**
 * Finds an instance that is to be stopped. Everybody who sees a shared instance may use it, but only those who run the
 * gateway, or the team that installed it, may stop it for all. To stop an instance that is not one's own takes the
 * scope of a change. Throws FORBIDDEN and SCOPE_INSUFFICIENT.
 */
export function findOwnInstance(services: Services, principal: Principal, id: string): Instance {
  const managed = services.managedInstance(principal, id);
  const instance = managed ?? findInstance(services, principal, id);
  if (instance.owner === principal.id || services.isOpen()) return instance;
  const isForeign = managed === undefined && instance.owner === null && !principal.roles.includes("admin");
  if (isForeign) throw new GatewayError("FORBIDDEN", "this instance is shared: only an admin may do that");
  if (managed !== undefined || instance.owner === null) requireScope(principal, "mcp:admin");
  return instance;
}

/** An instance in the words and addresses of the sender of the request. */
export function describeInstance(
  instance: Instance,
  request: Pick<OperationRequest, "principal" | "base">,
  services: Services,
): z.output<typeof instanceSchema> {
  const view = services.viewOf(request.principal);
  const { status, dormant, reason, transport } = instance.statusView();
  return {
    id: instance.id,
    server: instance.server.slug,
    scope: instance.server.scope,
    transport,
    status,
    dormant,
    reason: services.redact(reason),
    toolCount: view.server(instance.server.slug)?.tools.length ?? 0,
    node: services.nodeOf(instance),
    ...endpointOf(instance, request),
  };
}

/** Path and URL of the endpoint that shows only this instance. */
export function endpointOf(
  { id }: Instance,
  { base }: Pick<OperationRequest, "base">,
): { readonly endpoint: string; readonly url: string } {
  const endpoint = `/i/${encodeURIComponent(id)}/mcp`;
  return { endpoint, url: `${base}${endpoint}` };
}

/**
 * How long restarting or listing may take. It continues when the client leaves, because others may wait for the same.
 */
export const actionTimeoutMs = 180_000;

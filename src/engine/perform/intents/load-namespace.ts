import type { Intent } from "../../../catalog/exposure/intent.ts";
import type { View } from "../../../catalog/model/view.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { NamespaceLoads } from "../../namespaces/namespace-loads.ts";
import type { LoadedNamespace } from "../work.ts";

export interface NamespaceDeps {
  readonly loads: Pick<NamespaceLoads, "load">;
  readonly viewOf: (principal: Principal) => View;
}

/** Loads a namespace for the principal. Throws SERVER_UNKNOWN when its server has disappeared in the meantime. */
export async function loadNamespace(
  deps: NamespaceDeps,
  asked: Extract<Intent, { kind: "list-namespace" }>,
  { principal, signal }: CallContext,
): Promise<LoadedNamespace> {
  const { loadedAtMs, stale } = await deps.loads.load(principal, asked.server, signal);
  const view = deps.viewOf(principal);
  const server = view.servers.find((candidate) => candidate.instance === asked.server.instance);
  if (server === undefined) throw new GatewayError("SERVER_UNKNOWN", `${asked.server.slug} is no longer configured`);
  return { kind: "namespace", asked, view, server, loadedAtMs, stale };
}

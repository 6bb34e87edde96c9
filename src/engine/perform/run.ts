import type { Intent } from "../../catalog/exposure/intent.ts";
import { renderResourceList } from "../../catalog/exposure/resource-list.ts";
import type { Routing } from "../calls/routing.ts";
import { discover, type DiscoverDeps } from "./intents/discover.ts";
import { readKept, type KeptDeps } from "./intents/read-kept.ts";
import type { Outcome, Work, OriginalRequest, LoadedNamespace } from "./work.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toJsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { dropDuplicateKeys } from "../../wire/json/duplicate-keys.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import type { View } from "../../catalog/model/view.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { NamespaceLoads } from "../namespaces/namespace-loads.ts";

/** The request that an intent passes on. Throws INTERNAL when the front that made the intent supplied none. */
function originalOf(intent: Intent, { request }: Work): OriginalRequest {
  if (request === undefined) throw new GatewayError("INTERNAL", `there is no request to ${intent.kind}`);
  return request;
}

/**
 * The members of the client's params as the client wrote them, without those that concern only the connection between
 * client and gateway. Of duplicate keys the server gets the one by which the request was judged.
 */
export function passedParams(request: OriginalRequest): ParamMember[] {
  return Object.keys(request.params).flatMap((key): ParamMember[] => {
    const bytes = hopParams.has(key) ? undefined : request.paramBytes(key);
    return bytes === undefined ? [] : [[key, dropDuplicateKeys(bytes, request.params[key])]];
  });
}

const hopParams: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"]);

/** The same with the server's own URI, where the client's is another. */
function withUri(request: OriginalRequest, uri: string | undefined): ParamMember[] {
  const params = passedParams(request);
  return uri === undefined
    ? params
    : params.map(([key, value]): ParamMember => (key === "uri" ? ["uri", toJsonBytes(uri)] : [key, value]));
}

/** The same with a reference that uses the server's own names. An optional member that is null is not there. */
function withRef(request: OriginalRequest, ref: JsonObject): ParamMember[] {
  return passedParams(request)
    .filter(([key]) => request.params[key] !== null)
    .map(([key, value]): ParamMember => (key === "ref" ? ["ref", toJsonBytes(ref)] : [key, value]));
}

export interface RunDeps extends DiscoverDeps, NamespaceDeps, KeptDeps {
  readonly routing: Routing;
}

export type RunStage = (intent: Intent, work: Work) => Promise<Outcome>;

/** Does what an intent says: the only switch over its kinds. May throw instead of rejecting. */
export function createRunStage(deps: RunDeps): RunStage {
  const { routing } = deps;
  return (intent, work) => {
    switch (intent.kind) {
      case "call":
        return routing.callTool(intent.instance, intent.tool, intent.arguments, work.context);
      case "read":
        return routing.readResource(intent.server.instance, intent.uri, work.context);
      case "prompt":
        return routing.getPrompt(intent.instance, intent.prompt, intent.arguments, work.context);
      case "complete":
        return routing.complete(intent.server.instance, withRef(originalOf(intent, work), intent.ref), work.context);
      case "forward": {
        const original = originalOf(intent, work);
        return routing.forward(intent.server.instance, original.method, withUri(original, intent.uri), work.context);
      }
      case "discover":
        return discover(deps, intent.request, work.context);
      case "list-resources":
        return Promise.resolve({ kind: "resources", list: renderResourceList(work.view, intent) });
      case "list-namespace":
        return loadNamespace(deps, intent, work.context);
      case "kept":
        return readKept(deps, intent, work.context.principal);
      case "answer":
        return Promise.resolve({ kind: "own", result: intent.result });
    }
  };
}

interface NamespaceDeps {
  readonly loads: Pick<NamespaceLoads, "load">;
  readonly viewOf: (principal: Principal) => View;
}

/** Loads a namespace for the principal. Throws SERVER_UNKNOWN when its server has disappeared in the meantime. */
async function loadNamespace(
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

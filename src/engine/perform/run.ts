import type { Intent } from "../../catalog/exposure/intent.ts";
import { renderResourceList } from "../../catalog/exposure/resource-list.ts";
import type { Routing } from "../calls/routing.ts";
import { discover, type DiscoverDeps } from "./intents/discover.ts";
import { readKept, type KeptDeps } from "./intents/read-kept.ts";
import { loadNamespace, type NamespaceDeps } from "./intents/load-namespace.ts";
import { originalOf, withRef, withUri } from "./original-params.ts";
import type { Outcome } from "./outcome.ts";
import type { Work } from "./work.ts";

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

import { readDiscoverArguments } from "../../catalog/exposure/meta/meta-arguments.ts";
import { renderFailure } from "../../catalog/exposure/text/failure.ts";
import { toSearchReport } from "../../catalog/exposure/discover/search-report.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Conversation } from "./owner-conversation.ts";
import type { EverydayDeps } from "./everyday-deps.ts";
import { callTool, readOne } from "./everyday-calls.ts";
import type { FailureLine } from "./everyday-lines.ts";
import { doKept } from "./everyday-kept.ts";
import { listPrompts, listResources, listTools, showTool } from "./everyday-lists.ts";
import type { EverydayName } from "./everyday-names.ts";
import { ownerContext, waitForUnseen } from "./everyday-view.ts";

/**
 * Answers what a person asks from a terminal, as the owner of the data directory. Everything goes through
 * `engine/perform`, as it does for clients: it is subject to the same rules and recorded, via `owner`. Nothing is
 * learned from it.
 */
export type Everyday = (command: EverydayName, request: JsonObject, conversation: Conversation) => Promise<void>;

/** Never rejects: a failure is a line too. */
export function createEveryday(deps: EverydayDeps): Everyday {
  const commands: Readonly<Record<EverydayName, EverydayCommand>> = {
    search: searchTools,
    kept: doKept,
    call: callTool,
    tools: listTools,
    show: showTool,
    resources: listResources,
    read: readOne,
    prompts: listPrompts,
  };
  return async (command, request, conversation) => {
    const controller = new AbortController();
    const end = (): void => controller.abort(conversation.signal.reason);
    conversation.signal.addEventListener("abort", end, { once: true });
    const untrack = deps.track(deps.principal, controller);
    let leave: (() => void) | undefined;
    try {
      leave = deps.admit(deps.principal);
      await deps.adopting(deps.principal);
      await commands[command](deps, request, { ...conversation, signal: controller.signal });
      await conversation.send({ ok: true, end: true });
    } catch (error) {
      const failure = toFailureLine(deps, toGatewayError(error));
      // No one is there to be told of a call that was given up.
      await conversation.send({ ok: false, failure, end: true }).catch(() => undefined);
    } finally {
      conversation.signal.removeEventListener("abort", end);
      leave?.();
      untrack();
    }
  };
}

type EverydayCommand = (deps: EverydayDeps, request: JsonObject, conversation: Conversation) => Promise<void>;

async function searchTools(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  const asked = readDiscoverArguments(request);
  if (asked.queries.every((query) => query === ""))
    throw new GatewayError("REQUEST_INVALID", "there are no words to search for", {
      hint: "`toolyard tools` lists everything.",
    });
  await waitForUnseen(deps, conversation);
  const found = await deps.performer.perform(
    { kind: "discover", request: { ...asked, explain: request["explain"] === true, isTrial: true } },
    { view: deps.viewOf(deps.principal), context: ownerContext(deps, conversation.signal) },
  );
  if (found.kind === "servers") throw new GatewayError("INTERNAL", "a search was answered with servers");
  if (found.failed !== undefined) throw new GatewayError("SEARCH_FAILED", found.failed);
  await conversation.send({ ok: true, search: toSearchReport(found, deps.discoverTokens()) });
}

/** As a model is told, signature included. */
function toFailureLine({ viewOf, principal }: EverydayDeps, failure: GatewayError): FailureLine {
  const [block] = renderFailure(failure, viewOf(principal))["content"] as readonly JsonObject[];
  return JSON.parse(String(block?.["text"])) as FailureLine;
}

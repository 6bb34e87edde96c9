import { readDiscoverArguments } from "../../catalog/exposure/meta/meta-arguments.ts";
import { renderFailure } from "../../catalog/exposure/text/failure.ts";
import { toSearchReport } from "../../catalog/exposure/discover/search-report.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Conversation } from "./owner-conversation.ts";
import type { EverydayDeps } from "./everyday-deps.ts";
import { callTool, readOne } from "./everyday-calls.ts";
import type { FailureLine, KeptLine } from "./everyday-lines.ts";
import { listPrompts, listResources, listTools, showTool } from "./everyday-lists.ts";
import type { EverydayName } from "./everyday-names.ts";
import { ownerContext, waitForUnseen } from "./everyday-view.ts";
import type { KeptSearch } from "../../catalog/discovery/kept-searches.ts";
import { placeNow, runKept, toolToFind, type KeptRunWork } from "../../engine/perform/intents/kept-runs.ts";

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

/**
 * Searches that the owner keeps as tests: with `keep` (the words) and `tool` one more, with `remove` (its id) one less,
 * and with neither all of them are made again.
 */
async function doKept(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  const { keep: query, tool, remove: id } = request;
  const { principal } = deps;
  const kept = await deps.keptSearches(principal);
  if (typeof id === "string") {
    if (!(await kept.remove(principal.id, id)))
      throw new GatewayError("KEPT_SEARCH_UNKNOWN", "you keep no search of this id", {
        hint: "`toolyard search --check --json` lists them with their ids.",
      });
    return;
  }
  await waitForUnseen(deps, conversation);
  const work: KeptRunWork = {
    performer: deps.performer,
    view: deps.viewOf(principal),
    context: ownerContext(deps, conversation.signal),
  };
  if (typeof query === "string" && typeof tool === "string") {
    const { path, toolExists } = await toolToFind(work.view, tool, deps.namesInTurns);
    const rank = await placeNow(work, { query, tool: path });
    const made = await kept.keep({ person: principal.id, query, tool: path, rank });
    await conversation.send({ ok: true, kept: { ...toLine(made), toolExists } });
    return;
  }
  const { searches, degraded } = await runKept(work, await kept.of(principal.id));
  if (degraded !== null) await conversation.send({ ok: true, degraded });
  for (const { rankNow, toolExists, first, ...search } of searches)
    await conversation.send({ ok: true, kept: { ...toLine(search), now: { rankNow, toolExists, first } } });
}

function toLine({ id, query, tool, rank, keptAtMs }: KeptSearch): KeptLine {
  return { id, query, tool, rank, keptAt: new Date(keptAtMs).toISOString() };
}

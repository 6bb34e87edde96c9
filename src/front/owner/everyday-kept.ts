import type { KeptSearch } from "../../catalog/discovery/kept-searches.ts";
import { placeNow, runKept, toolToFind, type KeptRunWork } from "../../engine/perform/intents/kept-runs.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { EverydayDeps } from "./everyday-deps.ts";
import type { KeptLine } from "./everyday-lines.ts";
import { ownerContext, waitForUnseen } from "./everyday-view.ts";
import type { Conversation } from "./owner-conversation.ts";

/**
 * Searches that the owner keeps as tests: with `keep` (the words) and `tool` one more, with `remove` (its id) one less,
 * and with neither all of them are made again.
 */
export async function doKept(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
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

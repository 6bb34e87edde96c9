import type { Discovery } from "../../catalog/discovery/discovery.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { EventBus } from "../../kernel/event-bus.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import type { Outcome } from "./outcome.ts";
import type { TaskBook } from "./task-book.ts";
import type { Work } from "./work.ts";

export interface RecordEndDeps {
  readonly events: Pick<EventBus, "emit">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly tasks: Pick<TaskBook, "note">;
  readonly discovery: Pick<Discovery, "noteCall">;
}

/** `startedMs` is the time at the first stage, by the monotonic clock. */
export type RecordEndStage = (intent: Intent, work: Work, startedMs: number, ended: Outcome | GatewayError) => void;

type ServerIntent = Extract<Intent, { kind: "call" | "read" | "prompt" | "complete" | "forward" }>;

/** Reports how an intent ended, and stores what later intents need to know of it, whichever front it came through. */
export function createRecordEndStage(deps: RecordEndDeps): RecordEndStage {
  const { events, clock } = deps;

  function emitRequest(intent: ServerIntent, work: Work, startedMs: number, ended: Outcome | GatewayError): void {
    // The call reached no server.
    if (ended instanceof GatewayError && ended.code === "SERVER_UNKNOWN") return;
    const owner = ownerOf(intent);
    events.emit({
      type: "mcp.request.logs",
      atMs: clock.now(),
      instance: owner.instance,
      server: owner.server,
      principal: work.context.principal.id,
      method: methodOf(intent, work),
      name: nameOf(intent, work),
      durationMs: clock.monotonic() - startedMs,
      outcome: outcomeWord(ended),
    });
  }

  return (intent, work, startedMs, ended) => {
    switch (intent.kind) {
      case "call":
        emitRequest(intent, work, startedMs, ended);
        if (!(ended instanceof GatewayError)) noteCall(deps, intent, work, ended);
        return;
      case "read":
      case "prompt":
      case "complete":
      case "forward":
        emitRequest(intent, work, startedMs, ended);
        return;
      case "discover":
        if (!(ended instanceof GatewayError)) noteSearch(deps, work, ended);
        return;
      case "list-resources":
      case "list-namespace":
      case "kept":
      case "answer":
        return;
    }
  };
}

/**
 * After a call was answered: notes the task that it began, what the search can learn from it, and how the tool was
 * named.
 */
function noteCall(
  deps: RecordEndDeps,
  intent: Extract<Intent, { kind: "call" }>,
  { context: { principal, signal } }: Work,
  ended: Outcome,
): void {
  if (ended.kind === "result") {
    deps.tasks.note(principal, intent.tool.instance, ended.result.known);
    // A tool that failed, asked something or was cancelled may not have been the right one, so that nothing is
    // learned from it.
    if (!ended.result.isQuestion && !ended.result.isError && !signal.aborted)
      deps.discovery.noteCall(principal, intent.tool);
  }
  if (intent.bareName === undefined) return;
  deps.events.emit({
    type: "tool.bare_name",
    atMs: deps.clock.now(),
    principal: principal.id,
    path: intent.tool.path,
    migrated: intent.migrated === true,
  });
}

/** Neither a list of servers nor a failed search counts as a search. */
function noteSearch({ events, clock }: RecordEndDeps, { context }: Work, ended: Outcome): void {
  if (ended.kind !== "found" || ended.search === undefined) return;
  const { engine, searchTimeMs, needs } = ended.search;
  events.emit({
    type: "search.done",
    atMs: clock.now(),
    principal: context.principal.id,
    engine,
    results: needs.reduce((sum, need) => sum + need.hits.length, 0),
    durationMs: searchTimeMs,
  });
}

interface Owner {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
}

function ownerOf(intent: ServerIntent): Owner {
  switch (intent.kind) {
    case "call":
      return intent.tool;
    case "prompt":
      return intent.prompt;
    case "read":
    case "complete":
    case "forward":
      return { instance: intent.server.instance, server: intent.server.slug };
  }
}

function methodOf(intent: ServerIntent, { request }: Work): string {
  switch (intent.kind) {
    case "call":
      return "tools/call";
    case "read":
      return "resources/read";
    case "prompt":
      return "prompts/get";
    case "complete":
      return "completion/complete";
    case "forward":
      return request?.method ?? "";
  }
}

function nameOf(intent: ServerIntent, work: Work): string {
  switch (intent.kind) {
    case "call":
      return intent.tool.upstreamName;
    case "read":
      return intent.uri;
    case "prompt":
      return intent.prompt.definition.name;
    case "complete":
      return "completion";
    case "forward":
      return methodOf(intent, work);
  }
}

/** `ok`, `tool_error`, `error`, or the failure's code (see the event). */
function outcomeWord(ended: Outcome | GatewayError): string {
  if (ended instanceof GatewayError) return ended.code;
  if (ended.kind === "error") return "error";
  return ended.kind === "result" && ended.result.isError ? "tool_error" : "ok";
}

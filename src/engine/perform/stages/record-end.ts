import type { Discovery } from "../../../catalog/discovery/discovery.ts";
import { slugOf } from "../../../catalog/exposure/meta/intent-server.ts";
import type { Intent, ServerIntent } from "../../../catalog/exposure/intent.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { EventOf } from "../../../kernel/events/event.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { TraceSource } from "../../../kernel/runtime/tracing.ts";
import type { Outcome } from "../outcome.ts";
import {
  answerOf,
  argumentsOf,
  clientNameOf,
  cutTokensOf,
  instanceOf,
  methodOf,
  nameOf,
  outcomeWord,
  pathOf,
  serverCodeOf,
  traceIdOf,
} from "./request-facts.ts";
import type { TaskBook } from "../task-book.ts";
import type { Work } from "../work.ts";

export interface RecordEndDeps {
  readonly events: Pick<EventBus, "emit">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly tasks: Pick<TaskBook, "note">;
  readonly discovery: Pick<Discovery, "noteCall">;
  /** Undefined when calls are not recorded. */
  readonly recordCall?: RecordCall | undefined;
  /** Undefined while traces are off. */
  readonly traces?: TraceSource | undefined;
  /** Told of calls that the configuration does not allow. Undefined when there is no listener. */
  readonly onDenied?: ((event: EventOf<"mcp.request.logs">) => void) | undefined;
}

/**
 * Records one call: the event that was emitted of it, and what was said in it, where that is at hand. The bytes are
 * the call's own: they must be read before it returns.
 */
export type RecordCall = (
  event: EventOf<"mcp.request.logs">,
  given: JsonBytes | undefined,
  answer: JsonBytes | undefined,
) => void;

/** `startedMs` is the time at the first stage, by the monotonic clock. */
export type RecordEndStage = (intent: Intent, work: Work, startedMs: number, ended: Outcome | GatewayError) => void;

/** Reports how an intent ended, and stores what later intents need to know of it, whichever front it came through. */
export function createRecordEndStage(deps: RecordEndDeps): RecordEndStage {
  const { events, clock } = deps;

  function emitRequest(intent: ServerIntent, work: Work, startedMs: number, ended: Outcome | GatewayError): void {
    // The call reached no server.
    if (ended instanceof GatewayError && ended.code === "SERVER_UNKNOWN") return;
    const { context } = work;
    const given = argumentsOf(intent);
    const answer = answerOf(ended);
    const event: EventOf<"mcp.request.logs"> = {
      type: "mcp.request.logs",
      atMs: clock.now(),
      instance: instanceOf(intent),
      server: slugOf(intent),
      principal: context.principal.id,
      team: context.principal.team,
      via: context.via,
      client: clientNameOf(context),
      method: methodOf(intent, work),
      name: nameOf(intent, work),
      path: pathOf(intent, work),
      // A question to a person may be answered while the server is still at work.
      durationMs: toMicroseconds(Math.max(0, clock.monotonic() - startedMs - context.waitedMs)),
      waitMs: toMicroseconds(context.waitedMs),
      argumentBytes: given?.length ?? 0,
      resultBytes: answer?.length ?? 0,
      cutTokens: cutTokensOf(ended),
      serverCode: serverCodeOf(ended),
      outcome: outcomeWord(ended),
      traceId: deps.traces?.current === undefined ? undefined : traceIdOf(context),
    };
    events.emit(event);
    deps.recordCall?.(event, given, answer);
    if (event.outcome === "POLICY_DENIED") deps.onDenied?.(event);
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
  { context }: Work,
  ended: Outcome,
): void {
  const { principal, signal, via } = context;
  if (ended.kind === "result") {
    deps.tasks.note(context, intent.instance, ended.result.known);
    // A tool that failed, asked something or was given up may not have been the right one, nor one that a person tries.
    if (via !== "owner" && !ended.result.isQuestion && !ended.result.isError && !signal.aborted)
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
    client: clientNameOf(context),
    first: needs[0]?.hits[0]?.tool.path,
    engine,
    results: needs.reduce((sum, need) => sum + need.hits.length, 0),
    durationMs: toMicroseconds(searchTimeMs),
  });
}

/** Fractions of a microsecond are noise, and thirteen digits in every row and line. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

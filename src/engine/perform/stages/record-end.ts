import { askerOf, clientNameOf } from "../../../kernel/client-presence.ts";
import type { Discovery } from "../../../catalog/discovery/discovery.ts";
import { slugOf, type DiscoverRequest, type Intent, type ServerIntent } from "../../../catalog/exposure/intent.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId, ServerSlug } from "../../../kernel/ids.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import type { EventOf } from "../../../kernel/events/event.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { TraceSource } from "../../../kernel/runtime/tracing.ts";
import type { Outcome, Work } from "../work.ts";
import {
  answerOf,
  argumentsOf,
  cutTokensOf,
  instanceOf,
  messageOf,
  methodOf,
  nameOf,
  outcomeWord,
  pathOf,
  serverCodeOf,
  traceIdOf,
} from "./request-facts.ts";
import type { LogRequest } from "../../../records/calls/call-recorder.ts";
import type { TaskBook } from "../task-book.ts";

export interface RecordEndDeps {
  readonly events: Pick<EventBus, "emit">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly tasks: Pick<TaskBook, "note">;
  readonly discovery: Pick<Discovery, "noteCall">;
  /** Undefined when calls are not recorded. */
  readonly recordCall?: LogRequest | undefined;
  /** Undefined while traces are off. */
  readonly traces?: TraceSource | undefined;
  /** Told of calls that the configuration does not allow. Undefined when there is no listener. */
  readonly onDenied?: ((event: EventOf<"mcp.request.logs">) => void) | undefined;
}

export interface RecordEnd {
  /**
   * Reports how an intent ended, and stores what later intents need to know of it, whichever front it came through.
   * `startedMs` is the time at the first stage, by the monotonic clock.
   */
  readonly ended: (intent: Intent, work: Work, startedMs: number, ended: Outcome | GatewayError) => void;
  /** Records a call that became no intent: its tool is not there, or its server could not be asked for its tools. */
  readonly refused: (work: Pick<Work, "context" | "view">, name: string, error: GatewayError) => void;
}

export function createRecordEndStage(deps: RecordEndDeps): RecordEnd {
  const { events, clock } = deps;
  const { toEvent, recordOwn } = createRecorder(deps);

  const refused: RecordEnd["refused"] = ({ context, view }, name, error) => {
    const named = view.server(name.slice(0, Math.max(0, name.indexOf(":"))));
    const of = named === undefined ? noServer : { instance: named.instance, server: named.slug };
    recordOwn(context, { ...of, method: "tools/call", name, durationMs: 0, message: error.message }, error);
  };

  function emitRequest(intent: ServerIntent, work: Work, startedMs: number, ended: Outcome | GatewayError): void {
    const { context } = work;
    if (ended instanceof GatewayError && ended.code === "SERVER_UNKNOWN") {
      refused(work, pathOf(intent, work), ended);
      return;
    }
    const given = argumentsOf(intent);
    const answer = answerOf(ended);
    const facts = {
      instance: instanceOf(intent),
      server: slugOf(intent),
      method: methodOf(intent, work),
      name: nameOf(intent, work),
      path: pathOf(intent, work),
      // A question to a person may be answered while the server is still at work.
      durationMs: Math.max(0, clock.monotonic() - startedMs - context.waitedMs),
      given,
      answer,
    };
    const event = toEvent(context, facts, ended);
    events.emit(event);
    const message = event.outcome === "ok" ? undefined : messageOf(ended);
    deps.recordCall?.(event, { given, answer, message: withRemarks(message, context.remarks) });
    if (event.outcome === "POLICY_DENIED") deps.onDenied?.(event);
  }

  function endSearch(
    { queries, isTrial }: DiscoverRequest,
    work: Work,
    ms: number,
    ended: Outcome | GatewayError,
  ): void {
    if (!(ended instanceof GatewayError)) noteSearch(deps, work, ended);
    const message = ended instanceof GatewayError ? ended.message : foundBy(ended);
    if (isTrial === true || message === undefined) return;
    recordOwn(
      work.context,
      { ...noServer, method: "search", name: queries.join("; "), durationMs: ms, message },
      ended,
    );
  }

  const ended: RecordEnd["ended"] = (intent, work, startedMs, ended) => {
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
        endSearch(intent.request, work, clock.monotonic() - startedMs, ended);
        return;
      case "list-resources":
      case "list-namespace":
      case "kept":
      case "answer":
        return;
    }
  };

  return { ended, refused };
}

function createRecorder({ clock, events, traces, recordCall }: RecordEndDeps): {
  readonly toEvent: (context: CallContext, facts: RequestFacts, ended: Outcome | GatewayError) => RequestEvent;
  /** What reached no server is no event: sums of servers do not have it. */
  readonly recordOwn: (context: CallContext, own: OwnFacts, ended: Outcome | GatewayError) => void;
} {
  function toEvent(context: CallContext, facts: RequestFacts, ended: Outcome | GatewayError): RequestEvent {
    return {
      type: "mcp.request.logs",
      atMs: clock.now(),
      instance: facts.instance,
      server: facts.server,
      principal: context.principal.id,
      team: context.principal.team,
      via: context.via,
      client: clientNameOf(context),
      method: facts.method,
      name: facts.name,
      path: facts.path,
      durationMs: toMicroseconds(facts.durationMs),
      waitMs: toMicroseconds(context.waitedMs),
      argumentBytes: facts.given?.length ?? 0,
      resultBytes: facts.answer?.length ?? 0,
      cutTokens: cutTokensOf(ended),
      serverCode: serverCodeOf(ended),
      outcome: outcomeWord(ended),
      node: context.node,
      traceId: traces?.current === undefined ? undefined : traceIdOf(context),
    };
  }

  return {
    toEvent,
    recordOwn(context, { message, name: whole, ...own }, ended) {
      const name = whole.slice(0, longestOwnName);
      if (recordCall === undefined) return;
      recordCall(toEvent(context, { ...own, name, path: name }, ended), { message, isOwn: true });
      events.emit({ type: "call.recorded", atMs: clock.now() });
    },
  };
}

type RequestEvent = EventOf<"mcp.request.logs">;

interface RequestFacts extends Pick<RequestEvent, "instance" | "server" | "method" | "name" | "path" | "durationMs"> {
  readonly given?: JsonBytes | undefined;
  readonly answer?: JsonBytes | undefined;
}

/** Facts of a request that reached no server. */
interface OwnFacts extends Pick<RequestEvent, "instance" | "server" | "method" | "name" | "durationMs"> {
  readonly message: string;
}

const noServer = { instance: "" as InstanceId, server: "" as ServerSlug };
/** Of a name that a client made up, or what it searched for; it is cut further once secrets are taken out of it. */
const longestOwnName = 2_400;

/** The first tools that a search found; undefined where it was none, as a list of servers is none. */
function foundBy(ended: Outcome): string | undefined {
  if (ended.kind !== "found" || ended.search === undefined) return undefined;
  const paths = [...new Set(ended.search.needs.flatMap(({ hits }) => hits.map(({ tool }) => tool.path)))];
  if (paths.length === 0) return "nothing";
  const rest = paths.length - shownPaths;
  return `${paths.slice(0, shownPaths).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const shownPaths = 3;

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
    if (
      via !== "owner" &&
      context.isTrial !== true &&
      !ended.result.isQuestion &&
      !ended.result.isError &&
      !signal.aborted
    )
      deps.discovery.noteCall(principal, intent.tool, askerOf(context));
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

/** One line: what went wrong, and what stages noted. Undefined where there is neither. */
function withRemarks(message: string | undefined, remarks: CallContext["remarks"]): string | undefined {
  if (remarks === undefined) return message;
  const [first = ""] = (message ?? "").trimStart().split(/[\r\n]/, 1);
  return [...(first === "" ? [] : [first]), ...remarks].join("; ");
}

/** Fractions of a microsecond are noise, and thirteen digits in every row and line. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

import type { EventOf } from "../../kernel/events/event.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";
import type { RequestBody, RequestOutcome } from "../../store/record-rows.ts";
import { tokensOfBytes } from "./byte-tokens.ts";
import type { RecordSink } from "./record-sink.ts";

/** How much of a server's calls is recorded. */
export type RequestLogging = "full" | "metadata" | "off";

export interface RequestLogDeps {
  readonly sink: Pick<RecordSink, "append">;
  /** The name of this node of a cluster; null in a gateway that is alone. */
  readonly node: string | null;
  readonly loggingOf: (instance: EventOf<"mcp.request.logs">["instance"]) => RequestLogging;
  /**
   * The definition of the tool that was called, which may mark members of arguments and results as secret. Undefined
   * where it is no tool, or is not listed any more. Asked only for calls that are recorded in full.
   */
  readonly schemasOf: (event: EventOf<"mcp.request.logs">) => ToolSchemas | undefined;
  /** Takes secrets out of arguments and results: as JSON, by the names of their members and their schema too. */
  readonly redactJson: (text: string, schema?: JsonObject) => string;
  /** Takes secrets out of a text. */
  readonly said: (text: string) => string;
}

/** The schemas of a tool's definition. */
export interface ToolSchemas {
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
}

/**
 * Records one call, or one search: the event that tells of it, which was emitted if a server was reached, and what was
 * said in it. The bytes are the call's own: they must be read before it returns.
 */
export type LogRequest = (event: EventOf<"mcp.request.logs">, said: CallTexts) => void;

/** What was said in a call, where it is at hand. */
interface CallTexts {
  readonly given?: JsonBytes | undefined;
  readonly answer?: JsonBytes | undefined;
  /** As `RequestRecord.message`, of any length. */
  readonly message?: string | undefined;
  /** Whether the name is a client's own words, of any length. */
  readonly isOwn?: boolean;
}

/**
 * Limit of the kept arguments and of a kept result each: the ends of a thousand results on one page explain nothing.
 */
const longestBody = 16_384;

/** Of the first line of an error, which says what happened: the rest explains. */
const longestMessage = 300;

/** Longer than is kept: a secret that begins before the cut would not be known by its beginning. */
function firstLineOf(text: string): string {
  const [line = ""] = text
    .slice(0, longestMessage * 8)
    .trimStart()
    .split(/[\r\n]/, 1);
  return line;
}

function cut(line: string): string {
  return line.length > longestMessage ? `${line.slice(0, longestMessage - 1)}…` : line;
}

/** A log of requests: one row for each call, and for each search. */
export function createRequestLog(deps: RequestLogDeps): LogRequest {
  const { sink, loggingOf, said } = deps;
  return (event, { given, answer, message, isOwn }) => {
    // Of what reached no server nothing but its name is at hand.
    const logging = event.instance === "" ? "metadata" : loggingOf(event.instance);
    if (logging === "off") return;
    sink.append("request", {
      atMs: event.atMs,
      team: event.team,
      principal: event.principal,
      client: event.client ?? null,
      instance: event.instance,
      server: event.server,
      via: event.via,
      method: event.method,
      name: isOwn === true ? cut(said(event.path)) : event.path,
      outcome: outcomeOf(event.outcome),
      code: codeOf(event),
      durationMs: event.durationMs,
      waitMs: event.waitMs,
      argumentTokens: tokensOfBytes(event.argumentBytes),
      resultTokens: tokensOfBytes(event.resultBytes),
      isResultCut: event.cutTokens > 0,
      traceId: event.traceId ?? null,
      message: message === undefined ? null : cut(said(firstLineOf(message))),
      node: deps.node,
      serverNode: event.node ?? null,
      body: logging === "full" ? bodyOf({ event, given, answer }, deps) : null,
    });
  };
}

function outcomeOf(outcome: string): RequestOutcome {
  return outcome === "ok" || outcome === "tool_error" || outcome === "error" ? outcome : "failed";
}

/** Our failure's code, or the number of the server's error; null for calls that a tool answered. */
export function codeOf({ outcome, serverCode }: EventOf<"mcp.request.logs">): string | null {
  if (outcome === "ok" || outcome === "tool_error") return null;
  return outcome === "error" ? String(serverCode ?? "error") : outcome;
}

/**
 * Secrets are taken out before anything is cut: a secret that begins before the cut would not be known by its
 * beginning. Text far beyond the cut is not searched.
 */
function bodyOf({ event, given, answer }: Said, { schemasOf, redactJson }: RequestLogDeps): RequestBody {
  const schemas = event.method === "tools/call" ? schemasOf(event) : undefined;
  const [sent, isSentCut] = beginningOf(given, (text) => redactJson(text, schemas?.inputSchema));
  const [got, isGotCut] = beginningOf(answer, (text) => redactJson(text, schemas?.outputSchema));
  return { arguments: sent, areArgumentsCut: isSentCut, result: got, isResultCut: isGotCut };
}

/** What was said in a call. */
interface Said {
  readonly event: EventOf<"mcp.request.logs">;
  readonly given: JsonBytes | undefined;
  readonly answer: JsonBytes | undefined;
}

function beginningOf(bytes: JsonBytes | undefined, redact: (text: string) => string): [string, boolean] {
  if (bytes === undefined) return ["", false];
  const isLarge = bytes.length > longestBody * 4;
  const text = redact(bytes.toString("utf8", 0, isLarge ? longestBody * 4 : undefined));
  const isCut = isLarge || text.length > longestBody;
  return [isCut ? text.slice(0, longestBody) : text, isCut];
}

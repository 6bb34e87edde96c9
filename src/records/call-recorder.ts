import type { EventOf } from "../kernel/event.ts";
import type { JsonBytes } from "../kernel/json-bytes.ts";
import type { RequestBody, RequestOutcome } from "../store/record-rows.ts";
import { tokensOfBytes } from "./byte-tokens.ts";
import type { RecordSink } from "./record-sink.ts";

/** How much of a server's calls is recorded. */
export type RequestLogging = "full" | "metadata" | "off";

export interface RequestLogDeps {
  readonly sink: Pick<RecordSink, "append">;
  readonly loggingOf: (instance: EventOf<"mcp.request.logs">["instance"]) => RequestLogging;
  /** Takes secrets out of arguments and results: as JSON, by the names of their members too. */
  readonly redactJson: (text: string) => string;
}

/** Records a call; see `RecordCall` of `engine/perform/record-end.ts`. */
export type LogRequest = (
  event: EventOf<"mcp.request.logs">,
  given: JsonBytes | undefined,
  answer: JsonBytes | undefined,
) => void;

/** What is kept of arguments and of a result each: a page of a thousand results' ends explains nothing. */
const longestBody = 16_384;

/** A log of requests: one row for each call that a server was asked for. */
export function createRequestLog({ sink, loggingOf, redactJson }: RequestLogDeps): LogRequest {
  return (event, given, answer) => {
    const logging = loggingOf(event.instance);
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
      name: event.path,
      outcome: outcomeOf(event.outcome),
      code: codeOf(event),
      durationMs: event.durationMs,
      waitMs: event.waitMs,
      argumentTokens: tokensOfBytes(event.argumentBytes),
      resultTokens: tokensOfBytes(event.resultBytes),
      isResultCut: event.cutTokens > 0,
      body: logging === "full" ? bodyOf(given, answer, redactJson) : null,
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
 * beginning. What is far beyond the cut is not looked at.
 */
function bodyOf(
  given: JsonBytes | undefined,
  answer: JsonBytes | undefined,
  redactJson: (text: string) => string,
): RequestBody {
  const [sent, isSentCut] = beginningOf(given, redactJson);
  const [got, isGotCut] = beginningOf(answer, redactJson);
  return { arguments: sent, areArgumentsCut: isSentCut, result: got, isResultCut: isGotCut };
}

function beginningOf(bytes: JsonBytes | undefined, redactJson: (text: string) => string): [string, boolean] {
  if (bytes === undefined) return ["", false];
  const isLarge = bytes.length > longestBody * 4;
  const text = redactJson(bytes.toString("utf8", 0, isLarge ? longestBody * 4 : undefined));
  const isCut = isLarge || text.length > longestBody;
  return [isCut ? text.slice(0, longestBody) : text, isCut];
}

import { renderFound } from "../../../catalog/exposure/discover/discover-text.ts";
import type { ClientProfile } from "../../../config/rows/client-profiles.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import { renderNamespace } from "../../../catalog/exposure/namespaces/namespace-tools.ts";
import { withLossTold } from "../../../catalog/exposure/meta/restart-notice.ts";
import type { ServerAnswer } from "../../../engine/calls/server-call.ts";
import type { LoadedNamespace, Outcome, Work } from "../../../engine/perform/work.ts";
import type { JsonObject, JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { FindingMeter } from "../../../records/usage/finding.ts";
import { stringifyExact } from "../../../wire/json/exact-json.ts";
import { fitResult } from "../../../wire/mcp/shapes/result-shapes.ts";
import { assumedRevision, newestLegacyRevision } from "../../../wire/mcp/revisions.ts";
import type { Caller, ReplyBody } from "../caller.ts";
import { ownResultText, prefixed, toResultText, type WireText } from "./result-text.ts";
import { failures } from "../../../kernel/failures/failures.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import { errorBody, isErrorObject, parseErrorObject, rpcCodes } from "../../../wire/mcp/error-object.ts";

/** What answers are written with. */
export interface EncodeParts {
  readonly serverInfoText: string;
  /** Tokens that one answer of discover_mcp_tools may take. */
  readonly maxTokens: number;
  readonly finding: FindingMeter;
  readonly clientOf: (caller: Caller) => ClientProfile | undefined;
}

/** Perform's work, and the client that is to be answered. */
export interface ClientWork extends Work {
  readonly caller: Caller;
}

/** The text of a result, or a server's error to be relayed. */
export type Answered = WireText | ServerError;
type ServerError = Extract<ServerAnswer, { kind: "error" }>;

/** An outcome as MCP says it to this client. */
export function encodeOutcome(parts: EncodeParts, work: ClientWork, intent: Intent, outcome: Outcome): Answered {
  switch (outcome.kind) {
    case "result":
      return encodeResult(parts, work, intent, outcome);
    case "error":
      return outcome;
    case "found":
    case "servers":
      return encodeFound(parts, work, renderFound(outcome, parts.maxTokens, parts.clientOf(work.caller)));
    case "resources":
      return encodeText(parts, work, stringifyExact(outcome.list));
    case "namespace":
      return encodeOwn(parts, work, namespaceResult(outcome));
    case "own":
      return encodeOwn(parts, work, outcome.result);
  }
}

function encodeResult(
  parts: EncodeParts,
  { view, caller }: ClientWork,
  intent: Intent,
  { result, loss }: Extract<ServerAnswer, { kind: "result" }>,
): WireText {
  const { exposure } = caller.endpoint;
  const rendered = result.isQuestion ? result : exposure.render(view, intent, result);
  const told =
    loss === undefined ? rendered : withLossTold(rendered, { reason: loss, intent, forModel: !exposure.isTransparent });
  const hints = intent.kind === "read" && !result.isQuestion ? neverCached : "";
  return toResultText(fitResult(told, revisionOf(caller)), caller.client.era, parts.serverInfoText, hints);
}

/** A client that never said its revision is not taken for an old one: what it can read is its own business. */
function revisionOf({ client: { revision }, session }: Caller): string {
  return session === undefined && revision === assumedRevision ? newestLegacyRevision : revision;
}

/** Resources are never cached, so that their TTL is 0. */
const neverCached = '"ttlMs":0,"cacheScope":"private"';

function encodeFound(parts: EncodeParts, work: ClientWork, text: string): string {
  parts.finding.answered(work.context, text);
  return encodeText(parts, work, text);
}

function encodeOwn({ serverInfoText }: EncodeParts, { caller }: ClientWork, result: JsonObject): string {
  return ownResultText(result, caller.client.era, serverInfoText);
}

function encodeText(parts: EncodeParts, work: ClientWork, text: string): string {
  return encodeOwn(parts, work, { content: [{ type: "text", text }] });
}

function namespaceResult({ asked, view, server, stale }: LoadedNamespace): JsonObject {
  return renderNamespace({
    server,
    nameOf: (tool) => asked.nameOf(view, tool),
    query: asked.query,
    cursor: asked.cursor,
    loaded: view.loaded.has(server.instance),
    stale,
  });
}

export function toReplyBody(answered: Answered, { caller }: ClientWork): ReplyBody {
  return isError(answered)
    ? relayError(answered.error, caller.client.era)
    : { body: prefixed('"result":', answered), status: 200 };
}

function isError(answered: Answered): answered is ServerError {
  return typeof answered === "object" && "kind" in answered;
}

/**
 * A server's error, unchanged but for what concerns only our hop to it, and for codes that this revision must not see
 * (docs/design.md, "Errors").
 */
export function relayError(error: JsonBytes, era: Era): ReplyBody {
  const parsed = parseErrorObject(error);
  if (parsed.code === rpcCodes.headerMismatch || parsed.code === rpcCodes.unsupportedVersion) {
    return {
      body: errorBody({
        ...parsed,
        code: failures.UPSTREAM_PROTOCOL.rpc,
        message: `the server refused what the gateway sent: ${parsed.message}`,
      }),
      status: 200,
    };
  }
  if (parsed.code === failures.CAPABILITY_MISSING.rpc && era === "legacy")
    return { body: errorBody({ ...parsed, code: failures.CLIENT_CANNOT_ANSWER.rpc }), status: 200 };
  if (
    (parsed.code === rpcCodes.resourceNotFound || parsed.code === rpcCodes.urlElicitationRequired) &&
    era === "modern"
  )
    return { body: errorBody({ ...parsed, code: rpcCodes.invalidParams }), status: 200 };
  return {
    body: isErrorObject(error) ? `"error":${error.toString("latin1")}` : errorBody(parsed),
    status: era === "modern" ? (relayedStatus[parsed.code] ?? 200) : 200,
  };
}

/** A server's own error codes that have an HTTP status of their own (2026-07-28, streamable-http). */
const relayedStatus: Readonly<Record<number, number>> = Object.freeze({
  [failures.CAPABILITY_MISSING.rpc]: failures.CAPABILITY_MISSING.http,
  [failures.METHOD_UNKNOWN.rpc]: failures.METHOD_UNKNOWN.http,
});

import { notificationText } from "../../../wire/mcp/envelope.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { isLogLevel, isWanted } from "../../../wire/mcp/log-level.ts";
import { isHopKey, metaKeys } from "../../../wire/mcp/revisions.ts";
import type { CallContext, Replies } from "../../../kernel/call/call-context.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { withTraceContext } from "../../../kernel/runtime/tracing.ts";
import type { Caller } from "../caller.ts";
import type { RequestWays } from "./long-waits.ts";
import { paramHeadersOf } from "../param-headers.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";

/** What travels with a request: who asks, what may be passed on, and the ways back to the client. */
export function toCallContext(
  request: ClientRequest,
  caller: Caller,
  { replies, progress, stage }: RequestWays,
  signal: AbortSignal,
  ask: CallContext["ask"],
): CallContext {
  const meta = request.params["_meta"];
  const passed = isJsonObject(meta) ? passedMeta(meta) : undefined;
  const logLevel = logLevelOf(meta, caller);
  const onLog = caller.client.era === "modern" && logLevel === undefined ? undefined : logSender(logLevel, replies);
  const { requestState } = request.params;
  const { inputResponses: responses = null } = request.params;
  const hasResponses = responses !== null && caller.client.era === "modern";
  const inputResponses = hasResponses ? request.paramBytes("inputResponses") : undefined;
  // All fields always: objects of one shape are what the optimizer wants on this path.
  return {
    principal: caller.principal,
    signal,
    client: caller.client,
    via: caller.via,
    waitedMs: 0,
    connected: caller.session?.connected ?? caller.connected,
    meta: caller.trace === undefined ? passed : withTraceContext(passed, caller.trace),
    onProgress: progress === undefined ? undefined : (params) => progress.pass(params),
    onLog,
    logLevel,
    ask,
    inputResponses,
    requestState: typeof requestState === "string" && caller.client.era === "modern" ? requestState : undefined,
    extraParams: extraParams(request),
    paramHeaders: paramHeadersOf(caller),
    transparent: caller.endpoint.exposure.isTransparent,
    sawDefinitions: caller.endpoint.exposure.showsDefinitions === true,
    maxResultTokens: isJsonObject(meta) ? toTokenLimit(meta[metaKeys.maxResultTokens]) : undefined,
    replies,
    stage,
  };
}

/** A whole number from 0 on; anything else says nothing. */
function toTokenLimit(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** What calls, reads and prompts take apart, and what belongs to this hop. */
const ownParams: ReadonlySet<string> = new Set(["name", "arguments", "uri", "_meta", "inputResponses", "requestState"]);

/** Other members of `params` (2025-11-25: `task`) are for the server. */
function extraParams(request: ClientRequest): CallContext["extraParams"] {
  let extra: (readonly [string, JsonBytes])[] | undefined;
  for (const key in request.params) {
    const bytes = ownParams.has(key) || request.params[key] === null ? undefined : request.paramBytes(key);
    if (bytes !== undefined) (extra ??= []).push([key, bytes]);
  }
  return extra;
}

function logSender(least: string | undefined, replies: Replies): (params: JsonObject) => void {
  return (params) => {
    if (!isWanted(params["level"], least)) return;
    replies.send(notificationText("notifications/message", asciiJson(params)));
  };
}

function logLevelOf(meta: unknown, caller: Caller): string | undefined {
  if (caller.client.era === "legacy") return caller.session?.logLevel;
  const level = isJsonObject(meta) ? meta[metaKeys.logLevel] : undefined;
  return isLogLevel(level) ? level : undefined;
}

/** Vendor keys and trace context pass; the protocol's own keys are this hop's. */
function passedMeta(meta: JsonObject): JsonObject | undefined {
  let passed: Record<string, unknown> | undefined;
  for (const key of Object.keys(meta)) {
    if (!isHopKey(key)) (passed ??= Object.create(null) as Record<string, unknown>)[key] = meta[key];
  }
  return passed;
}

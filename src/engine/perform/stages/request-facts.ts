import type { ServerIntent } from "../../../catalog/exposure/intent.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { parseTraceparent } from "../../../kernel/runtime/tracing.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import type { Outcome, Work } from "../work.ts";

/** The instance that an intent is for. */
export function instanceOf(intent: ServerIntent): InstanceId {
  return intent.kind === "call" || intent.kind === "prompt" ? intent.instance : intent.server.instance;
}

/** The protocol's name of the request to the server. */
export function methodOf(intent: ServerIntent, { request }: Work): string {
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

/** The requested item, by the server's name. */
export function nameOf(intent: ServerIntent, work: Work): string {
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

/** The requested item, as clients know it: a tool by its path. */
export function pathOf(intent: ServerIntent, work: Work): string {
  return intent.kind === "call" ? intent.tool.path : nameOf(intent, work);
}

/** What the client gave to the server; undefined where it gave nothing, or what it gave is not kept as one value. */
export function argumentsOf(intent: ServerIntent): JsonBytes | undefined {
  switch (intent.kind) {
    case "call":
      return intent.arguments.bytes;
    case "prompt":
      return intent.arguments;
    case "read":
    case "complete":
    case "forward":
      return undefined;
  }
}

/** What the client is given: a result, or the server's error. */
export function answerOf(ended: Outcome | GatewayError): JsonBytes | undefined {
  if (ended instanceof GatewayError) return undefined;
  if (ended.kind === "result") return ended.result.bytes;
  return ended.kind === "error" ? ended.error : undefined;
}

/** `ok`, `tool_error`, `error`, or the code of our failure (see the event). */
export function outcomeWord(ended: Outcome | GatewayError): string {
  if (ended instanceof GatewayError) return ended.code;
  if (ended.kind === "error") return "error";
  return ended.kind === "result" && ended.result.isError ? "tool_error" : "ok";
}

/** The number of the server's JSON-RPC error. */
export function serverCodeOf(ended: Outcome | GatewayError): number | undefined {
  return !(ended instanceof GatewayError) && ended.kind === "error" ? parseErrorObject(ended.error).code : undefined;
}

/** What the error of a failed call says: ours, the server's, or the first text of a tool's. */
export function messageOf(ended: Outcome | GatewayError): string | undefined {
  if (ended instanceof GatewayError) return ended.message;
  if (ended.kind === "error") return parseErrorObject(ended.error).message;
  return ended.kind === "result" ? firstTextOf(ended.result.bytes) : undefined;
}

/** Where a result's first text is looked for: its first line is wanted. */
const firstTextBytes = 8_192;
const textMember = /"text"\s*:\s*"((?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*)/;

/** The beginning of the first text of a result; undefined where there is none at its beginning. */
function firstTextOf(bytes: JsonBytes): string | undefined {
  const [, text] = textMember.exec(bytes.toString("utf8", 0, firstTextBytes)) ?? [];
  try {
    return text === undefined ? undefined : (JSON.parse(`"${text}"`) as string);
  } catch {
    return undefined;
  }
}

export function cutTokensOf(ended: Outcome | GatewayError): number {
  return !(ended instanceof GatewayError) && ended.kind === "result" ? (ended.cutTokens ?? 0) : 0;
}

/** Of the span that `tracePassage` put around the request, which is in what servers are told. */
export function traceIdOf({ meta }: CallContext): string | undefined {
  return parseTraceparent(meta?.["traceparent"])?.traceId;
}

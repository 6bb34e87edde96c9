import type { PinnedTools } from "../../../catalog/exposure/exposure.ts";
import type { ExposureRequest, Intent } from "../../../catalog/exposure/intent.ts";
import { resolveSkill } from "../../../catalog/exposure/native.ts";
import { areNone, noArguments } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ClientWork } from "../answers/outcome-text.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";

/** A client's request with the context for finding out its meaning. */
export interface ClientRequestWork extends ClientWork {
  readonly request: ClientRequest;
}

type Asked<Method extends ExposureRequest["method"]> = Extract<ExposureRequest, { method: Method }>;

/** What the request means at the endpoint that it came to. Throws what exposures throw. */
export function toIntent(work: ClientRequestWork, asked: ExposureRequest, pinned?: PinnedTools): Intent {
  return work.caller.endpoint.exposure.resolve(work.view, asked, pinned);
}

/** The skill or directory that is named by an address of all servers. Throws PARAMS_INVALID. */
export function toSkillIntent({ request, view }: ClientRequestWork): Intent {
  return resolveSkill(view, requireText(request, "uri"));
}

/** Throws PARAMS_INVALID, as the others here do. */
export function readToolsCall(request: ClientRequest): Asked<"tools/call"> {
  const bytes = request.paramBytes("arguments");
  const value = request.params["arguments"];
  const isGiven = bytes !== undefined && !areNone(value);
  if (isGiven && !isJsonObject(value)) throw new GatewayError("PARAMS_INVALID", "arguments must be an object");
  const given = isGiven ? { bytes, value } : noArguments;
  return { method: "tools/call", name: requireText(request, "name"), arguments: given };
}

export function readResourcesRead(request: ClientRequest): Asked<"resources/read"> {
  return { method: "resources/read", uri: requireText(request, "uri") };
}

export function readPromptsGet(request: ClientRequest): Asked<"prompts/get"> {
  return {
    method: "prompts/get",
    name: requireText(request, "name"),
    arguments: areNone(request.params["arguments"]) ? undefined : request.paramBytes("arguments"),
  };
}

export function readComplete(request: ClientRequest): Asked<"completion/complete"> {
  return { method: "completion/complete", ref: requireObject(request, "ref") };
}

function requireText(request: ClientRequest, key: string): string {
  const value = request.params[key];
  if (typeof value !== "string")
    throw new GatewayError("PARAMS_INVALID", `${request.method} needs params.${key}, a string`);
  return value;
}

function requireObject(request: ClientRequest, key: string): JsonObject {
  const value = request.params[key];
  if (!isJsonObject(value))
    throw new GatewayError("PARAMS_INVALID", `${request.method} needs params.${key}, an object`);
  return value;
}

import type { Intent } from "../../catalog/exposure/intent.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toJsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import type { OriginalRequest, Work } from "./work.ts";

/** The request that an intent passes on. Throws INTERNAL when the front that made the intent supplied none. */
export function originalOf(intent: Intent, { request }: Work): OriginalRequest {
  if (request === undefined) throw new GatewayError("INTERNAL", `there is no request to ${intent.kind}`);
  return request;
}

/**
 * The members of the client's params as the client wrote them, without those that concern only the connection between
 * client and gateway.
 */
export function passedParams(request: OriginalRequest): ParamMember[] {
  return Object.keys(request.params).flatMap((key): ParamMember[] => {
    const bytes = hopParams.has(key) ? undefined : request.paramBytes(key);
    return bytes === undefined ? [] : [[key, bytes]];
  });
}

const hopParams: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"]);

/** The same with the server's own URI, where the client's is another. */
export function withUri(request: OriginalRequest, uri: string | undefined): ParamMember[] {
  const params = passedParams(request);
  return uri === undefined
    ? params
    : params.map(([key, value]): ParamMember => (key === "uri" ? ["uri", toJsonBytes(uri)] : [key, value]));
}

/** The same with a reference that uses the server's own names. An optional member that is null is not there. */
export function withRef(request: OriginalRequest, ref: JsonObject): ParamMember[] {
  return passedParams(request)
    .filter(([key]) => request.params[key] !== null)
    .map(([key, value]): ParamMember => (key === "ref" ? ["ref", toJsonBytes(ref)] : [key, value]));
}

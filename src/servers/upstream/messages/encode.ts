import { requestText } from "../../../wire/mcp/envelope.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { UpstreamRequest } from "../connection.ts";

/** What the gateway tells servers about itself. */
export interface GatewayIdentity {
  readonly name: string;
  readonly version: string;
}

/** The properties that all requests on one connection share. */
export interface Dialect {
  readonly era: Era;
  /**
   * The beginning of a modern request's `_meta`, which is the same in all requests; the client's capabilities follow
   * as the value of its last key.
   */
  readonly metaStart: string;
  /** The capabilities to declare when no client is behind the request. */
  readonly capabilities: JsonObject;
}

/** The dialect of a connection in this era and revision. */
export function createDialect(
  era: Era,
  revision: string,
  identity: GatewayIdentity,
  capabilities: JsonObject,
): Dialect {
  const version = `"${metaKeys.protocolVersion}":"${revision}"`;
  const clientInfo = `"${metaKeys.clientInfo}":${asciiJson(identity)}`;
  return {
    era,
    metaStart: `${version},${clientInfo},"${metaKeys.clientCapabilities}":`,
    capabilities,
  };
}

/**
 * Writes a request as a latin1 string (write it with the encoding "latin1"): our own text is ASCII, and the members
 * of `params` are the given bytes. The progress token is the id, so it is unique among active requests.
 */
export function encodeRequest(id: number, request: UpstreamRequest, dialect: Dialect): string {
  return requestText(id, request.method, encodeParams(id, request, dialect));
}

function encodeParams(id: number, request: UpstreamRequest, dialect: Dialect): string {
  let text = "{";
  for (const [key, value] of request.params) {
    const valueText = typeof value === "string" ? value : value.toString("latin1");
    text += `${text.length > 1 ? "," : ""}${asciiJson(key)}:${valueText}`;
  }
  const meta = encodeMeta(id, request, dialect);
  if (meta !== undefined) text += `${text.length > 1 ? "," : ""}"_meta":${meta}`;
  return `${text}}`;
}

function encodeMeta(id: number, request: UpstreamRequest, dialect: Dialect): string | undefined {
  const progress = request.onProgress === undefined ? undefined : { [metaKeys.progressToken]: id };
  if (dialect.era === "legacy") {
    if (progress === undefined && request.meta === undefined) return undefined;
    return asciiJson({ ...request.meta, ...progress });
  }
  const capabilities = request.clientCapabilities ?? dialect.capabilities;
  const own = dialect.metaStart + (isEmpty(capabilities) ? "{}" : asciiJson(capabilities));
  if (request.meta === undefined && request.logLevel === undefined && progress === undefined) return `{${own}}`;
  const extra = asciiJson({
    ...request.meta,
    ...(request.logLevel === undefined ? undefined : { [metaKeys.logLevel]: request.logLevel }),
    ...progress,
  });
  return extra === "{}" ? `{${own}}` : `{${own},${extra.slice(1)}`;
}

function isEmpty(object: JsonObject): boolean {
  for (const _key in object) return false;
  return true;
}

import type { IncomingHttpHeaders } from "node:http";
import { capabilitiesWithoutNulls } from "../../../wire/mcp/shapes/null-members.ts";
import { isLogLevel } from "../../../wire/mcp/log-level.ts";
import { metaKeys, modernRevision } from "../../../wire/mcp/revisions.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";

/** The member of the body that a header mirrors (2026-07-28, streamable-http, standard request headers). */
const namedBy: Readonly<Record<string, "name" | "uri" | "taskId" | undefined>> = Object.freeze({
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
});

export function claimedRevision(params: JsonObject): unknown {
  const meta = params["_meta"];
  return isJsonObject(meta) ? meta[metaKeys.protocolVersion] : undefined;
}

/** What a request says of the program that sent it; anything at all. */
export function clientInfoOf(params: JsonObject): unknown {
  const meta = params["_meta"];
  return isJsonObject(meta) ? meta[metaKeys.clientInfo] : undefined;
}

/**
 * Checks a modern request's envelope, over HTTP its headers too (faults 10-12). Returns the client's capabilities.
 * Throws VERSION_UNSUPPORTED, HEADER_MISMATCH, PARAMS_INVALID.
 */
export function checkEnvelope(request: ClientRequest, headers: IncomingHttpHeaders | undefined): JsonObject {
  const claimed = claimedRevision(request.params);
  const header = headers?.["mcp-protocol-version"];
  if (claimed !== undefined && header !== undefined && claimed !== header) {
    throw new GatewayError(
      "HEADER_MISMATCH",
      `the MCP-Protocol-Version header says ${quote(header)}, the body ${quote(claimed)}`,
    );
  }
  const version = claimed ?? header;
  if (typeof version === "string" && version !== modernRevision)
    throw new GatewayError("VERSION_UNSUPPORTED", "Unsupported protocol version", {
      data: { requested: version.slice(0, 100) },
    });
  const meta = request.params["_meta"];
  if (!isJsonObject(meta) || typeof claimed !== "string")
    throw new GatewayError("PARAMS_INVALID", `params._meta needs ${metaKeys.protocolVersion}, a string`);
  if (headers !== undefined) checkHeaders(request, headers);
  const capabilities = meta[metaKeys.clientCapabilities];
  if (!isJsonObject(capabilities))
    throw new GatewayError("PARAMS_INVALID", `params._meta needs ${metaKeys.clientCapabilities}, an object`);
  const level = meta[metaKeys.logLevel];
  if (level !== undefined && level !== null && !isLogLevel(level))
    throw new GatewayError("PARAMS_INVALID", `${quote(level)} is no log level`);
  return capabilitiesWithoutNulls(capabilities);
}

function checkHeaders(request: ClientRequest, headers: IncomingHttpHeaders): void {
  if (headers["mcp-protocol-version"] === undefined)
    throw new GatewayError("HEADER_MISMATCH", "the MCP-Protocol-Version header is missing");
  const method = headers["mcp-method"];
  if (method === undefined) throw new GatewayError("HEADER_MISMATCH", "the Mcp-Method header is missing");
  if (method !== request.method)
    throw new GatewayError(
      "HEADER_MISMATCH",
      `the Mcp-Method header says ${quote(method)}, the body ${quote(request.method)}`,
    );
  const source = Object.hasOwn(namedBy, request.method) ? namedBy[request.method] : undefined;
  if (source === undefined) return;
  const named = headers["mcp-name"];
  // Nothing to mirror: the method itself says what its params lack. Of tasks only clients are told to name them
  // (SEP-2663): a request without the header is not refused for it.
  if (named === undefined && (source === "taskId" || typeof request.params[source] !== "string")) return;
  if (named === undefined) throw new GatewayError("HEADER_MISMATCH", "the Mcp-Name header is missing");
  const decoded = decodeHeaderValue(Array.isArray(named) ? named.join(",") : named);
  if (decoded !== request.params[source])
    throw new GatewayError("HEADER_MISMATCH", `the Mcp-Name header does not match params.${source}`);
}

const sentinel = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;
const utf8 = { fatal: true } as const;

/** Takes a Base64 sentinel apart. Throws HEADER_MISMATCH for one that is none (fault 12). */
export function decodeHeaderValue(value: string): string {
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value;
  const coded = sentinel.exec(value)?.[1];
  if (coded === undefined || coded.length % 4 !== 0)
    throw new GatewayError("HEADER_MISMATCH", "a header's Base64 value cannot be decoded");
  try {
    return new TextDecoder("utf-8", utf8).decode(Buffer.from(coded, "base64"));
  } catch {
    throw new GatewayError("HEADER_MISMATCH", "a header's Base64 value is not UTF-8");
  }
}

function quote(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? "nothing";
}

import { findMember, scanMembers } from "../../../../wire/json/json-scan.ts";
import { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes } from "../../../../kernel/text/json-bytes.ts";
import { saysEnvelope } from "../../../../wire/mcp/envelope.ts";
import { parseErrorObject } from "../../../../wire/mcp/error-object.ts";
import { redirectTarget, type ServerAddress } from "../server-address.ts";
import type { ResponseHead } from "../../../../wire/http/response-head.ts";
import type { TransportFailure } from "../../../../wire/http/http-client.ts";

/** An HTTP response that is neither a success nor a redirect. The body is empty when it was larger than the limit. */
export interface Refusal {
  readonly head: ResponseHead;
  readonly body: Buffer;
}

/** A JSON-RPC error in the body of a refusal. */
export interface RpcError {
  readonly code: number;
  readonly bytes: JsonBytes;
  /** The request's id if the server had read it; otherwise null or anything. */
  readonly id: unknown;
}

/**
 * The JSON-RPC error in a body, with or without an id. Undefined when there is none, and only the HTTP status is
 * known.
 */
export function rpcErrorOf(body: Buffer, maxDepth: number): RpcError | undefined {
  try {
    const members = scanMembers(body, 0, body.length, maxDepth);
    const member = findMember(members, "error");
    if (member === undefined) return undefined;
    const bytes = body.subarray(member.start, member.end);
    const error: unknown = JSON.parse(bytes.toString("utf8"));
    // Errors of other protocols have an `error` too, such as those of OAuth.
    const isRpc = saysEnvelope(members) && error !== null;
    if (!isRpc && (!isJsonObject(error) || typeof error["code"] !== "number")) return undefined;
    const id = findMember(members, "id");
    return {
      code: parseErrorObject(bytes).code,
      bytes,
      id: id === undefined ? undefined : (JSON.parse(body.toString("utf8", id.start, id.end)) as unknown),
    };
  } catch {
    // Not a JSON object; for example, a proxy's error page.
    return undefined;
  }
}

/**
 * Failures that are certain before the body is read: redirects (fault 103), and encodings that were not asked for
 * (fault 19). Undefined for any other head.
 */
export function failureOfHead(address: ServerAddress, head: ResponseHead): GatewayError | undefined {
  const { server } = address;
  const { status } = head;
  if (status >= 300 && status < 400) {
    const target = redirectTarget(address, head.get("location"));
    const advice = "redirects are not followed, so configure that URL if you trust it";
    return new GatewayError("CONNECT_FAILED", `${server} redirects to ${target} (HTTP ${status}); ${advice}`, {
      data: { status, target },
    });
  }
  const encoding = head.get("content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity") return undefined;
  return new GatewayError(
    "UPSTREAM_PROTOCOL",
    `${server} answered with Content-Encoding ${encoding.slice(0, 40)}, which was not asked for`,
  );
}

/** What a refusal means for the request: a login is needed, the server is busy, or the status as it is. */
export function failureOfRefusal(server: string, refusal: Refusal): GatewayError {
  const { head } = refusal;
  const { status } = head;
  const challenge = readChallenge(head);
  if (status === 401 || (status === 403 && challenge["error"] === "insufficient_scope"))
    return needsLogin(server, status, challenge);
  const retryAfter = head.get("retry-after")?.slice(0, 40);
  const data = retryAfter === undefined ? { status } : { status, retryAfter };
  if (status === 429)
    return new GatewayError("UPSTREAM_BUSY", `${server} answered with HTTP 429: it accepts no more requests now`, {
      data,
    });
  return new GatewayError("UPSTREAM_HTTP", `${server} answered with HTTP ${status}`, { data });
}

/** The failure of a request for which the server demands a login, or one with more scopes (403). */
export function needsLogin(server: string, status: number, challenge: Readonly<Record<string, string>>): GatewayError {
  const why = status === 403 ? "it requires a login with more scopes" : "it requires a login";
  const scope = challenge["scope"] ?? "";
  // The scope is text from the server, and the hint is meant to be pasted into a shell, so only harmless characters
  // are copied into it.
  const option = status === 403 && /^[A-Za-z0-9:._/ -]{1,500}$/.test(scope) ? ` --scope "${scope}"` : "";
  return new GatewayError("SERVER_NEEDS_LOGIN", `${server} answered with HTTP ${status}: ${why}`, {
    data: { status, challenge },
    hint: `Run \`toolyard login ${server}${option}\`.`,
  });
}

const challengeLimit = 4_096;
const authParameter = /([A-Za-z0-9!#$%&'*+.^_`|~-]{1,64})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g;
const keptParameters: ReadonlySet<string> = new Set(["resource_metadata", "scope", "error", "realm"]);

/** The parts of `WWW-Authenticate` that a login needs (RFC 9728, RFC 6750). Untrusted text from the server. */
export function readChallenge(head: ResponseHead): Readonly<Record<string, string>> {
  const facts: Record<string, string> = {};
  for (const header of head.getAll("www-authenticate")) {
    for (const [, name = "", quoted, plain] of header.slice(0, challengeLimit).matchAll(authParameter)) {
      const key = name.toLowerCase();
      if (keptParameters.has(key) && facts[key] === undefined)
        facts[key] = quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "";
    }
  }
  return facts;
}

/** What a request ends with whose connection failed; one that never came about is tried again first. */
export function toTransportError(
  server: string,
  { kind, reason }: { readonly kind: Exclude<TransportFailure["kind"], "connect">; readonly reason: string },
): GatewayError {
  switch (kind) {
    case "closed":
      return new GatewayError(
        "UPSTREAM_CLOSED",
        `${server} closed the connection before it had answered${inBrackets(reason)}`,
      );
    case "malformed":
      return new GatewayError("UPSTREAM_PROTOCOL", `${server} answered with malformed HTTP: ${reason}`);
    case "unsendable":
      return new GatewayError("CONNECT_FAILED", `the request to ${server} cannot be sent: ${reason}`);
    case "disposed":
      return new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`);
  }
}

/** A detail behind what it belongs to; nothing for none. */
export function inBrackets(detail: string): string {
  return detail === "" ? "" : ` (${detail})`;
}

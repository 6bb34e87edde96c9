import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { cardPathEnd, cardSchema, cardType, supportedRevisions } from "../../../wire/mcp/revisions.ts";
import type { PublicUrl } from "../../http/public-url.ts";
import type { Endpoint } from "./endpoint.ts";

export interface ServerCardDeps {
  readonly endpointOf: (path: string) => Endpoint | undefined;
  readonly publicUrl: PublicUrl;
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title: string };
}

/** Answers a request for a server card. Throws HTTP_METHOD_UNSUPPORTED. */
export type AnswerCard = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The server card of each Streamable HTTP endpoint, at its path with `/server-card` behind it (SEP-2127); undefined for
 * every other path. A card is for everybody, without a credential. It therefore says of the endpoint what its path says
 * already: not whether a server or an instance of that name exists.
 */
export function createServerCards(deps: ServerCardDeps): (path: string) => AnswerCard | undefined {
  return (path) => {
    if (!path.endsWith(cardPathEnd)) return undefined;
    const endpoint = deps.endpointOf(path.slice(0, -cardPathEnd.length));
    if (endpoint === undefined || endpoint.sse !== undefined) return undefined;
    return (request, response) => answer(toCard(endpoint, deps.publicUrl(request), deps), request, response);
  };
}

function toCard({ path }: Endpoint, gatewayUrl: string, { serverInfo }: ServerCardDeps): JsonObject {
  const { hostname } = new URL(gatewayUrl);
  const supportedProtocolVersions = supportedRevisions;
  return {
    $schema: cardSchema,
    name: `${toNamespace(hostname)}/${toName(serverInfo.name, path)}`,
    version: serverInfo.version,
    title: serverInfo.title,
    description: "One connection to any number of MCP servers: finds, starts and calls their tools.",
    remotes: [{ type: "streamable-http", url: `${gatewayUrl}${path}`, supportedProtocolVersions }],
  };
}

/** Names begin with a host in reverse; any other text stays as it is, as far as a name may hold it. */
function toNamespace(hostname: string): string {
  const isName = !/^[\d.]+$|:/.test(hostname);
  const text = isName ? hostname.split(".").toReversed().join(".") : hostname;
  return text.replaceAll(/[^a-zA-Z0-9.-]/g, "-").slice(0, longestPart);
}

/** Of 200 characters of a name, this many before the slash, and behind it. */
const longestPart = 99;

/** `toolyard` at `/mcp`, `toolyard.server.github` at `/mcp/server/github`. */
function toName(name: string, path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== "mcp");
  return [name, ...parts]
    .join(".")
    .replaceAll(/[^a-zA-Z0-9._-]/g, "-")
    .slice(0, longestPart);
}

function answer(card: JsonObject, request: IncomingMessage, response: ServerResponse): void {
  const headers = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
    "Access-Control-Expose-Headers": "ETag",
  };
  const { method } = request;
  if (method === "OPTIONS") {
    response.writeHead(204, headers).end();
    return;
  }
  if (method !== "GET" && method !== "HEAD")
    throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "a server card is read with GET");
  const text = JSON.stringify(card);
  const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
  const caching = { ...headers, ETag: etag, "Cache-Control": "public, max-age=3600" };
  if (request.headers["if-none-match"]?.includes(etag) === true) {
    response.writeHead(304, caching).end();
    return;
  }
  response.writeHead(200, { ...caching, "Content-Type": cardType, "Content-Length": Buffer.byteLength(text) });
  response.end(method === "HEAD" ? undefined : text);
}

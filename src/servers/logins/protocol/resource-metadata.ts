import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { requestText } from "../../../wire/mcp/envelope.ts";
import { metaKeys, modernRevision } from "../../../wire/mcp/revisions.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { flawOf, isSuccess, parseAnswer, textOf, textsOf, urlOf } from "./answer-members.ts";
import type { Outgoing, OutgoingAnswer } from "../outgoing.ts";

/** What a server says of itself as a protected resource (RFC 9728), as far as a login needs it. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
}

/**
 * The facts of a 401: where the metadata is, and which scopes are wanted (MCP, authorization, scope selection
 * strategy).
 */
export interface Challenge {
  readonly status: number;
  readonly resourceMetadata: string | undefined;
  readonly scope: string | undefined;
}

const challengeLimit = 4_096;
/** Any parameter, so that text within the quotation marks of another one is not taken for one. */
const challengeParameter = /([A-Za-z0-9!#$%&'*+.^_`|~-]{1,64})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g;

/**
 * Asks the server without a login, or with one. The request is one that no server runs without having checked the
 * login, and that opens no session.
 */
export async function probe(
  url: string,
  headers: Readonly<Record<string, string>>,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<Challenge> {
  const body = requestText(
    1,
    "server/discover",
    asciiJson({
      _meta: {
        [metaKeys.protocolVersion]: modernRevision,
        [metaKeys.clientInfo]: { name: "toolyard", version: "1" },
        [metaKeys.clientCapabilities]: {},
      },
    }),
  );
  const own = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": modernRevision,
    "mcp-method": "server/discover",
  };
  const answer = await outgoing(url, { method: "POST", headers: { ...headers, ...own }, body }, signal);
  return readChallenge(answer);
}

function readChallenge(answer: OutgoingAnswer): Challenge {
  const facts = new Map<string, string>();
  for (const [, name = "", quoted, plain] of (answer.headers["www-authenticate"] ?? "")
    .slice(0, challengeLimit)
    .matchAll(challengeParameter)) {
    const key = name.toLowerCase();
    if (!facts.has(key)) facts.set(key, quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "");
  }
  const given = Object.fromEntries(facts);
  return { status: answer.status, resourceMetadata: textOf(given, "resource_metadata"), scope: textOf(given, "scope") };
}

/**
 * Fetches the metadata from where the challenge says, and where nothing is there from the well-known places, in the
 * order of the specification. Undefined when there is none: a server of revision 2025-03-26 is its own authorization
 * server. A page in place of metadata is none: many sites answer every path with one. Rejects with LOGIN_FAILED for
 * metadata of another resource, for a server that fails, and for one that names a place where nothing is.
 */
export async function fetchResourceMetadata(
  serverUrl: string,
  challenge: Challenge,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<ResourceMetadata | undefined> {
  const headers = { "mcp-protocol-version": modernRevision };
  const named = namedUrl(serverUrl, challenge);
  let problem: string | undefined;
  for (const url of new Set([...(named === undefined ? [] : [named]), ...wellKnownUrls(serverUrl)])) {
    const answer = await outgoing(url, { method: "GET", headers }, signal);
    const value = isSuccess(answer) ? parseAnswer(answer) : undefined;
    const resource = urlOf(value, "resource");
    if (value !== undefined && resource !== undefined) return toMetadata(value, resource, serverUrl);
    if (answer.status >= 500)
      problem ??= `${new URL(url).origin} answered with HTTP ${answer.status} when asked for its metadata`;
    else if (value !== undefined || (isSuccess(answer) && url === named))
      problem ??= `the server's metadata names no resource: it ${flawOf(value, "resource")}`;
  }
  if (problem === undefined && named === undefined) return undefined;
  throw new GatewayError("LOGIN_FAILED", problem ?? "the server names metadata that is not there");
}

/** A place without an origin is one of the server's own (RFC 3986, section 5). */
function namedUrl(serverUrl: string, { resourceMetadata }: Challenge): string | undefined {
  if (resourceMetadata === undefined) return undefined;
  return URL.canParse(resourceMetadata, serverUrl) ? new URL(resourceMetadata, serverUrl).href : resourceMetadata;
}

function wellKnownUrls(serverUrl: string): readonly string[] {
  const { origin, pathname } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const path = pathname.replace(/\/$/, "");
  return path === "" ? [root] : [`${root}${path}`, root];
}

function toMetadata(value: JsonObject, resource: string, serverUrl: string): ResourceMetadata {
  if (!covers(new URL(resource), new URL(serverUrl))) {
    throw new GatewayError(
      "LOGIN_FAILED",
      `the server's metadata is for another resource, on ${new URL(resource).origin}: a token for it must not be ` +
        "sent here",
    );
  }
  return {
    resource,
    authorizationServers: textsOf(value, "authorization_servers"),
    scopes: textsOf(value, "scopes_supported"),
  };
}

/**
 * The resource is the server's URL, or a folder above it on the same origin (RFC 9728, section 3.3, as MCP servers
 * use it).
 */
function covers(resource: URL, server: URL): boolean {
  const folder = resource.pathname.endsWith("/") ? resource.pathname : `${resource.pathname}/`;
  return resource.origin === server.origin && `${server.pathname}/`.startsWith(folder);
}

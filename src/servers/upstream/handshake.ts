import { rpcCodes } from "../../wire/mcp/rpc-codes.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Era } from "../../kernel/call-context.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import { skipValue } from "../../wire/json/json-scan.ts";
import {
  eraOfRevision,
  legacyRevisions,
  metaKeys,
  modernRevision,
  newestLegacyRevision,
} from "../../wire/mcp/revisions.ts";
import type { GatewayIdentity } from "./encode.ts";
import type { Peer, RootsSource } from "./connection.ts";

/**
 * The capabilities that the gateway declares at `initialize`. They cannot be changed later, so everything that can be
 * passed on to a client is declared. Whether the client of a certain call can answer is checked when a question
 * comes.
 */
const bridgedCapabilities: JsonObject = Object.freeze({
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
});

const withRoots: JsonObject = Object.freeze({ roots: { listChanged: true }, ...bridgedCapabilities });

/**
 * The capabilities to declare on one connection. Roots are declared only where the connection has its own: servers
 * remember the roots that they get, and one client's roots would replace the server's own settings for everybody who
 * uses it.
 */
export function declaredCapabilities(roots: RootsSource | undefined): JsonObject {
  return roots === undefined ? bridgedCapabilities : withRoots;
}

/** Error codes that only modern servers use: they prove the era, so `initialize` must not follow. */
const modernErrorCodes: ReadonlySet<number> = new Set([
  rpcCodes.headerMismatch,
  rpcCodes.missingCapability,
  rpcCodes.unsupportedVersion,
]);

/** Whether an error code proves that the server is a modern one. */
export function isModernError(code: number): boolean {
  return modernErrorCodes.has(code);
}

/** The revisions that a refusal (-32022) names as supported. */
export function supportedIn(data: unknown): readonly string[] {
  const supported: readonly unknown[] = isJsonObject(data) && Array.isArray(data["supported"]) ? data["supported"] : [];
  return supported.filter((version) => typeof version === "string");
}

/** The `params` of `initialize`, without `_meta`. */
export function initializeParams(identity: GatewayIdentity, capabilities: JsonObject): JsonObject {
  return { protocolVersion: newestLegacyRevision, capabilities, clientInfo: identity };
}

/** Reads the result of `initialize`. Throws UPSTREAM_PROTOCOL when it is not a valid one. */
export function peerFromInitialize(server: string, result: JsonBytes): Peer {
  const parsed = parseResult(server, "initialize", result);
  const revision = parsed["protocolVersion"];
  if (typeof revision !== "string")
    throw new GatewayError("UPSTREAM_PROTOCOL", `${server} answered initialize without a protocolVersion`);
  if (!(legacyRevisions as readonly string[]).includes(revision)) {
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${server} answered initialize with protocol version ${revision.slice(0, 40)}, which the gateway does not know`,
    );
  }
  return {
    era: "legacy",
    revision,
    serverInfo: isJsonObject(parsed["serverInfo"]) ? parsed["serverInfo"] : {},
    capabilities: isJsonObject(parsed["capabilities"]) ? parsed["capabilities"] : {},
    instructions: typeof parsed["instructions"] === "string" ? parsed["instructions"] : undefined,
    eras: ["legacy"],
    gateways: gatewaysIn(parsed["_meta"]),
  };
}

/**
 * Reads the result of `server/discover`. Undefined when it is not a valid one, as from a legacy server that answers
 * any method with something.
 */
export function peerFromDiscover(result: JsonBytes): Peer | undefined {
  const parsed = parseShallow(result);
  if (!isJsonObject(parsed) || !Array.isArray(parsed["supportedVersions"])) return undefined;
  const versions = parsed["supportedVersions"].filter((version): version is string => typeof version === "string");
  if (!versions.includes(modernRevision)) return undefined;
  const meta = isJsonObject(parsed["_meta"]) ? parsed["_meta"] : {};
  const serverInfo = meta[metaKeys.serverInfo];
  const eras: Era[] = ["modern"];
  if (versions.some((version) => eraOfRevision(version) === "legacy")) eras.push("legacy");
  return {
    era: "modern",
    revision: modernRevision,
    serverInfo: isJsonObject(serverInfo) ? serverInfo : {},
    capabilities: isJsonObject(parsed["capabilities"]) ? parsed["capabilities"] : {},
    instructions: typeof parsed["instructions"] === "string" ? parsed["instructions"] : undefined,
    eras,
    gateways: gatewaysIn(meta),
  };
}

function gatewaysIn(meta: unknown): readonly string[] {
  const ids = isJsonObject(meta) ? meta[metaKeys.gateways] : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

function parseResult(server: string, method: string, result: JsonBytes): JsonObject {
  const parsed = parseShallow(result);
  if (!isJsonObject(parsed))
    throw new GatewayError("UPSTREAM_PROTOCOL", `${server} answered ${method} with something that is not an object`);
  return parsed;
}

/**
 * Parses what a server says about itself. Undefined when it is not JSON, or nests so deeply that JSON.stringify could
 * fail when it is written again, to disk and to clients.
 */
function parseShallow(result: JsonBytes): unknown {
  try {
    skipValue(result, 0, result.length, greatestDepth);
    return JSON.parse(result.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

const greatestDepth = 100;

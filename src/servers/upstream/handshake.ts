import { hasManyParts } from "../../wire/json/json-parts.ts";
import { rpcCodes, parseErrorObject } from "../../wire/mcp/error-object.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { skipValue } from "../../wire/json/json-scan.ts";
import { eraOfRevision, legacyRevisions, metaKeys, modernRevision } from "../../wire/mcp/revisions.ts";
import type { GatewayIdentity } from "./messages/encode.ts";
import { capabilitiesOf, type Rung } from "./declared-capabilities.ts";
import type { Handshake, Peer, RootsSource } from "./connection.ts";
import { toHandshake, type StepFailure } from "./ladder.ts";

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
export function initializeParams(identity: GatewayIdentity, rung: Rung, roots: RootsSource | undefined): JsonObject {
  return {
    protocolVersion: rung.revision,
    capabilities: capabilitiesOf(rung, roots !== undefined),
    clientInfo: identity,
  };
}

/** A failed `initialize`. */
type InitializeFailure = StepFailure & { readonly failure: GatewayError };

/** Reads the error with which a server answered `initialize`. */
export function initializeRefusal(server: string, error: JsonBytes): InitializeFailure {
  const { code, message, data } = parseErrorObject(error);
  const why = `${message.slice(0, 200)} (${code})`;
  const failure = new GatewayError("UPSTREAM_PROTOCOL", `${server} refused initialize: ${why}`, { data: { code } });
  return { why, failure, text: `${message} ${JSON.stringify(data ?? "")}` };
}

/**
 * Reads the error with which a server answered `server/discover`. Throws UPSTREAM_PROTOCOL when it proves that the
 * server is a modern one without a revision in common: then `initialize` must not follow.
 */
export function probeRefusal(server: string, error: JsonBytes): StepFailure {
  const { code, message, data } = parseErrorObject(error);
  const supported = supportedIn(data);
  if (!isModernError(code) || supported.some((version) => eraOfRevision(version) === "legacy"))
    return { why: `${message.slice(0, 200)} (${code})`, text: supported.join(" ") };
  throw new GatewayError(
    "UPSTREAM_PROTOCOL",
    `${server} refused server/discover with error ${code}, and speaks no revision that the gateway knows: ` +
      message.slice(0, 200),
    { data: { code, supported: supported.slice(0, 20).map((version) => version.slice(0, 40)) } },
  );
}

/** Reads the result of `initialize` as asked by `rung`. A failure when it names no revision that the gateway speaks. */
export function peerFromInitialize(
  server: string,
  result: JsonBytes,
  rung: Rung,
  before: Handshake | undefined,
): Peer | InitializeFailure {
  const parsed = parseResult(server, "initialize", result);
  const revision = parsed["protocolVersion"];
  if (typeof revision !== "string" || !(legacyRevisions as readonly string[]).includes(revision)) {
    const why =
      typeof revision === "string"
        ? `with protocol version ${revision.slice(0, 40)}, which the gateway does not know`
        : "without a protocolVersion";
    const failure = new GatewayError("UPSTREAM_PROTOCOL", `${server} answered initialize ${why}`);
    return { why: `answered ${why}`, failure };
  }
  const serverInfo = isJsonObject(parsed["serverInfo"]) ? parsed["serverInfo"] : {};
  return {
    era: "legacy",
    revision,
    serverInfo,
    handshake: toHandshake(rung, serverInfo, before),
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
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      result.length > mostBytes
        ? `${server} answered ${method} with ${result.length} bytes, and more than ${mostBytes} are not read`
        : `${server} answered ${method} with something that is not an object`,
    );
  return parsed;
}

/**
 * Parses what a server says about itself. Undefined when it is not JSON, is larger than a megabyte, or nests so deeply
 * that JSON.stringify could fail when it is written again, to disk and to clients.
 */
function parseShallow(result: JsonBytes): unknown {
  if (result.length > mostBytes || hasManyParts(result)) return undefined;
  try {
    skipValue(result, 0, result.length, greatestDepth);
    return JSON.parse(result.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

const greatestDepth = 100;
/** Instructions of a hundred pages, and icons. All of it is read, searched and shown in one turn. */
const mostBytes = 1_048_576;

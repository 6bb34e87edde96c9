import type { Era } from "../../kernel/call/call-context.ts";

/** Words of server cards (SEP-2127, `docs/discovery.md` of its repository, July 2026). */

/** The path appended to the URL of a Streamable HTTP endpoint for its card. */
export const cardPathEnd = "/server-card";
export const cardType = "application/mcp-server-card+json";
export const cardSchema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/**
 * The revisions of MCP that the gateway speaks, newest first. 2026-07-28 is modern: it has neither initialize nor
 * sessions.
 */
export const modernRevision = "2026-07-28";
/** The revisions that begin with `initialize`, newest first. */
export const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** A revision that begins with `initialize`. */
export type LegacyRevision = (typeof legacyRevisions)[number];
/** All revisions, newest first. */
export const supportedRevisions: readonly string[] = [modernRevision, ...legacyRevisions];
/** The revision that the gateway asks legacy servers for. */
export const newestLegacyRevision = legacyRevisions[0];
/** The revision of a request without a version header (2025-06-18, transports, protocol version header). */
export const assumedRevision = "2025-03-26";

/**
 * Keys of `_meta` that belong to a single connection (2026-07-28, basic/index, `_meta`): they are never passed on,
 * and each side writes its own.
 */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  progressToken: "progressToken",
  /**
   * The gateway's own key in answers to `initialize` and `server/discover`: the ids of all gateways on the way. By it
   * a gateway recognises that one of its servers is the gateway itself.
   */
  gateways: "toolyard/gateways",
  /** Ours, of a request: the most tokens that its result may have; 0 for as many as it has. */
  maxResultTokens: "toolyard/maxTokens",
} as const;

const hopKeys: ReadonlySet<string> = new Set(Object.values(metaKeys));

/** Whether a key of `_meta` belongs to a single connection and is not passed on. */
export function isHopKey(key: string): boolean {
  return hopKeys.has(key);
}

/**
 * The era of a request that names this revision. Every revision that is not a known legacy one counts as modern,
 * unknown ones included (docs/design.md, "Eras").
 */
export function eraOfRevision(revision: string): Era {
  return (legacyRevisions as readonly string[]).includes(revision) ? "legacy" : "modern";
}

/**
 * The revision to answer `initialize` with: the requested one if it is a legacy one that we speak, otherwise the
 * newest legacy one.
 */
export function negotiateLegacy(asked: unknown): string {
  return typeof asked === "string" && (legacyRevisions as readonly string[]).includes(asked)
    ? asked
    : newestLegacyRevision;
}

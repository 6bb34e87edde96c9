import type { Era } from "../../kernel/call-context.ts";

/** The revisions of MCP that the gateway speaks, newest first. 2026-07-28 is modern: no initialize, no sessions. */
export const modernRevision = "2026-07-28";
export const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const supportedRevisions: readonly string[] = [modernRevision, ...legacyRevisions];
export const newestLegacyRevision = legacyRevisions[0];
/** What a request without a version header is taken for (2025-06-18, transports, protocol version header). */
export const assumedRevision = "2025-03-26";

/**
 * Keys of `_meta` that belong to one hop (2026-07-28, basic/index, `_meta`): never passed on, always our own.
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
   * Ours: ids of the gateways that an answer to `initialize` or `server/discover` came through, so that none becomes
   * its own server.
   */
  gateways: "toolyard/gateways",
  /** Ours, of a request: the most tokens that its result may have; 0 for as many as it has. */
  maxResultTokens: "toolyard/maxTokens",
} as const;

const hopKeys: ReadonlySet<string> = new Set(Object.values(metaKeys));

export function isHopKey(key: string): boolean {
  return hopKeys.has(key);
}

/**
 * A version that is not one of the legacy ones makes a request modern, also when nobody knows it
 * (docs/design.md, "Eras").
 */
export function eraOfRevision(revision: string): Era {
  return (legacyRevisions as readonly string[]).includes(revision) ? "legacy" : "modern";
}

/** The revision to answer `initialize` with: the one asked for when it is known, otherwise our newest legacy one. */
export function negotiateLegacy(asked: unknown): string {
  return typeof asked === "string" && (legacyRevisions as readonly string[]).includes(asked)
    ? asked
    : newestLegacyRevision;
}

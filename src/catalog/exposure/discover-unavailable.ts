import { dormantRow, statusTable } from "../../kernel/status-table.ts";
import type { InstanceStatus } from "../../kernel/status.ts";
import { cutAtWord, plainDescription } from "./discover-description.ts";

/** A server that was looked at and cannot be used now, as discover_mcp_tools says it. */
export interface Unavailable {
  readonly server: string;
  readonly status: ServerCondition;
  readonly reason: string;
  readonly action: string;
}

/** Status of a server towards a search: an instance's, or one that only a search knows. */
export type ServerCondition = InstanceStatus | "dormant" | "search_failed" | "not_found";

export interface UnavailableFacts {
  readonly server: string;
  readonly status: ServerCondition;
  /**
   * What is known of the cause, e.g. the failure's message. Untrusted: shown without hidden characters, cut at 60
   * tokens.
   */
  readonly reason?: string;
}

const reasonTokens = 60;

/**
 * What a model is told of a server that it cannot use, and what to do about it (docs/design.md, "discover_mcp_tools").
 */
export function unavailableLine({ server, status, reason }: UnavailableFacts): Unavailable {
  const row = rowOf(status);
  const known = reason === undefined ? "" : cutAtWord(plainDescription(reason).text, reasonTokens);
  return {
    server,
    status,
    reason: known === "" ? row.reason : known,
    action: row.action.replaceAll("{server}", server),
  };
}

interface ConditionRow {
  readonly reason: string;
  readonly action: string;
}

/** Rows of an instance's status are those of the one status table; a search adds what only it knows. */
function rowOf(status: ServerCondition): ConditionRow {
  switch (status) {
    case "dormant":
      return dormantRow;
    case "search_failed":
      return {
        reason: "Its tools could not be searched.",
        action: "Search again with fewer words, or in one server only, with `server`.",
      };
    case "not_found":
      return { reason: "There is no server of this name.", action: "An empty query lists the servers." };
    default:
      return statusTable[status];
  }
}

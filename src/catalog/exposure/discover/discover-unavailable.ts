import { dormantRow, statusTable, type InstanceStatus } from "../../../kernel/status-words.ts";
import { cutAtWord, plainDescription } from "../text/discover-description.ts";

/** A server that was considered and cannot be used now, as the answer of discover_mcp_tools shows it. */
export interface Unavailable {
  readonly server: string;
  readonly status: ServerCondition;
  readonly reason: string;
  readonly action: string;
}

/** The status of a server as a search sees it: an instance's own, or one that only searches have. */
export type ServerCondition = InstanceStatus | "dormant" | "search_failed" | "not_found";

export interface UnavailableFacts {
  readonly server: string;
  readonly status: ServerCondition;
  /**
   * The cause, as far as it is known, such as the failure's message. Untrusted: shown without hidden characters and cut
   * at 60 tokens.
   */
  readonly reason?: string;
  /** What to do, where that is known more exactly than the status says. */
  readonly advice?: string | undefined;
}

const reasonTokens = 60;

/**
 * What a model is told of a server that it cannot use, and what to do about it (docs/design.md, "discover_mcp_tools").
 */
export function unavailableLine({ server, status, reason, advice }: UnavailableFacts): Unavailable {
  const row = rowOf(status);
  const known = reason === undefined ? "" : cutAtWord(plainDescription(reason).text, reasonTokens);
  return {
    server,
    status,
    reason: known === "" ? row.reason : known,
    action: advice ?? row.action.replaceAll("{server}", server),
  };
}

interface ConditionRow {
  readonly reason: string;
  readonly action: string;
}

/** The status of an instance has its row in the common status table. The others exist only in searches. */
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

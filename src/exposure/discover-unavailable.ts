import type { InstanceStatus } from "../shared/status.ts";
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
  /** What is known of the cause, e.g. the failure's message. Untrusted: shown without hidden characters, cut at 40 tokens. */
  readonly reason?: string;
}

const reasonTokens = 40;

/** What a model is told of a server that it cannot use, and what to do about it (DESIGN.md section 4). */
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

function rowOf(status: ServerCondition): ConditionRow {
  switch (status) {
    case "provisioning":
    case "command_received":
    case "connecting":
    case "discovering_tools":
    case "restarting":
      return {
        reason: "It is starting; its tools are not known yet.",
        action: "Search again in a few seconds.",
      };
    case "syncing_tools":
      return { reason: "Its tools are being read.", action: "Search again in a few seconds." };
    case "online":
      return { reason: "It is online.", action: "Call it with execute_mcp_tool." };
    case "dormant":
      return {
        reason: "It sleeps and starts when it is called.",
        action: "Call it with execute_mcp_tool as usual.",
      };
    case "requires_reauth":
      return {
        reason: "It needs a login.",
        action: "Ask the user to run `toolyard login {server}`.",
      };
    case "awaiting_user_config":
      return {
        reason: "Values that it requires are missing.",
        action: "Ask the user to fill them in; the configuration of {server} lists them.",
      };
    case "offline":
      return {
        reason: "It does not answer.",
        action: "Try again in a minute; the gateway keeps trying to reach it.",
      };
    case "error":
      return {
        reason: "It failed to start.",
        action:
          "Ask the user to look at its log, and to run `toolyard restart {server}` when it is mended.",
      };
    case "permanently_failed":
      return {
        reason: "It crashed too often and was given up.",
        action: "Ask the user to mend it and to run `toolyard restart {server}`.",
      };
    case "disabled":
      return {
        reason: "It is switched off.",
        action: "Ask the user to enable {server} in the configuration.",
      };
    case "search_failed":
      return {
        reason: "Its tools could not be searched.",
        action: "Search again with fewer words, or list its tools: empty query and this server.",
      };
    case "not_found":
      return {
        reason: "There is no server of this name.",
        action: "An empty query lists the servers.",
      };
  }
}

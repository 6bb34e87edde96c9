import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { type InstanceStatus, dormantRow, statusTable } from "../../../kernel/status-words.ts";
import { cutAtWord, plainDescription, shortDescription } from "../text/discover-description.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { escapeHidden } from "../text/visible-text.ts";

const defaultMaxTokens = 4000;
/** Estimates of some servers' texts are up to 4 % too low. */
const safety = 0.96;
/** Upper limit of what everything but the lines costs. */
const frameTokens = 120;

/** One line of the answer to an empty query. */
export interface ServerLine {
  readonly server: string;
  readonly title: string;
  readonly tools: number;
  readonly status: InstanceStatus | "dormant";
  /** What the server is for, in the words of the configuration or of the server. */
  readonly about?: string;
  /** Present when the server cannot be used: why, and what to do. */
  readonly unavailable?: Unavailable;
}

export interface ServerFindings {
  readonly servers: readonly ServerLine[];
  readonly searchTimeMs: number;
  readonly maxTokens?: number;
  /** How much a profile hides. */
  readonly outside?: string | undefined;
}

/** Tokens for a server's description in the list: generous at first, then fewer, then none. */
const aboutTokens = [30, 14, 0] as const;

/**
 * The answer to an empty query: `{ servers: [{ server, title?, tools, status, about?, reason?, action? }],
 * total_servers, total_tools, tools: [], total_found: 0, search_time_ms, query: "", hint, left_out? }`, within
 * `maxTokens`.
 */
export function renderServers(findings: ServerFindings): string {
  const maxTokens = (findings.maxTokens ?? defaultMaxTokens) * safety - frameTokens;
  let lines: string[] = [];
  for (const limit of aboutTokens) {
    lines = findings.servers.map((line) => serverText(line, limit));
    if (totalTokens(lines) <= maxTokens) break;
  }
  let total = totalTokens(lines);
  while (lines.length > 0 && total > maxTokens) total -= estimateTokens(lines.pop() ?? "");
  const rest: JsonObject = {
    total_servers: findings.servers.length,
    total_tools: findings.servers.reduce((sum, line) => sum + line.tools, 0),
    tools: [],
    total_found: 0,
    search_time_ms: Math.round(findings.searchTimeMs * 10) / 10,
    query: "",
    ...(findings.outside === undefined ? {} : { outside: findings.outside }),
    ...(lines.length < findings.servers.length ? { left_out: findings.servers.length - lines.length } : {}),
    hint: "Say what is needed in query; server narrows the search to one of these.",
  };
  return `{"servers":[${lines.join(",")}],${JSON.stringify(rest).slice(1)}`;
}

function totalTokens(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + estimateTokens(line), 0);
}

function serverText(line: ServerLine, limit: number): string {
  const about = limit === 0 ? "" : shortDescription(line.about ?? "", limit).text;
  const title = cutAtWord(plainDescription(line.title).text, 12);
  const why = line.unavailable;
  return escapeHidden(
    JSON.stringify({
      server: line.server,
      ...(title === "" || title === line.server ? {} : { title }),
      tools: line.tools,
      status: line.status,
      ...(about === "" ? {} : { about }),
      ...(why === undefined ? {} : { reason: why.reason, action: why.action }),
    }),
  );
}

/** A server that was considered and cannot be used now, as the answer of discover_mcp_tools shows it. */
export interface Unavailable {
  readonly server: string;
  readonly status: ServerCondition;
  readonly reason: string;
  readonly action: string;
}

/** The status of a server as a search sees it: an instance's own, or one that only searches have. */
export type ServerCondition = InstanceStatus | "dormant" | "held" | "search_failed" | "not_found";

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
    case "held":
      return {
        reason: "Tools of it are held for review.",
        action: "Go on with its other tools; a person decides with `toolyard definitions`, or on the server's page.",
      };
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

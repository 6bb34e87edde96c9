import type { ToolEntry } from "../../model/snapshot.ts";
import type { DiscoverHit } from "./discover-result.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { escapeHidden } from "../text/visible-text.ts";

/** How many servers have their other tools named: those of the best results. A fifth adds nothing (docs/search.md). */
const serverLimit = 4;
/** Estimated tokens of all names together, including the punctuation around them. */
const tokenLimit = 145;
/** `"more":{},` */
const frameTokens = 5;

export interface SiblingRequest {
  /** Best first. */
  readonly hits: readonly DiscoverHit[];
  /** Tools that the answer already shows. */
  readonly shown: ReadonlySet<string>;
  /** The tools that a server offers, in its own order. */
  readonly toolsOf: (server: string) => readonly ToolEntry[];
  /** The tokens that the answer has left. */
  readonly maxTokens: number;
}

/**
 * `"more":{"github":["list_issues"]}`: other tools of the best results' servers, by name only, because a task often
 * needs a second tool of the same server. Undefined when there is none, or no room.
 */
export function renderSiblings({ hits, shown, toolsOf, maxTokens }: SiblingRequest): string | undefined {
  const servers = [...new Set(hits.map(({ tool }) => tool.server as string))].slice(0, serverLimit);
  let left = Math.min(tokenLimit, maxTokens) - frameTokens;
  const lists: string[] = [];
  for (const server of servers) {
    const key = escapeHidden(JSON.stringify(server));
    const names: string[] = [];
    let room = left - estimateTokens(key) - 2;
    for (const tool of toolsOf(server)) {
      if (shown.has(tool.path)) continue;
      const name = nameOf(tool);
      room -= name.tokens;
      if (room < 0) break;
      names.push(name.json);
      left = room;
    }
    if (names.length > 0) lists.push(`${key}:[${names.join(",")}]`);
  }
  return lists.length === 0 ? undefined : `"more":{${lists.join(",")}}`;
}

interface PrintedName {
  readonly json: string;
  readonly tokens: number;
}

const printed = new WeakMap<ToolEntry, PrintedName>();

/** The part of a tool's path that follows the server. */
function nameOf(tool: ToolEntry): PrintedName {
  const known = printed.get(tool);
  if (known !== undefined) return known;
  const json = escapeHidden(JSON.stringify(tool.path.slice(tool.server.length + 1)));
  const name = { json, tokens: estimateTokens(`${json},`) };
  printed.set(tool, name);
  return name;
}

import type { ServerConfig, ToolRules } from "../../config/config.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import { mayUse } from "./tool-rules.ts";

/** A server as far as names and rules of its tools go. */
export type RuledServer = Pick<ServerConfig, "slug" | "namespace" | "tools">;

/**
 * What the rules say of the tool that a name means, without the lists of the servers: `ask` where the name may mean a
 * tool that is denied and one that is not. A name that means nothing here is allowed, because the gateway refuses it.
 */
export interface NamedVerdict {
  readonly verdict: "allow" | "deny" | "ask";
  /** Slugs of the servers whose rules say so. */
  readonly servers: readonly string[];
}

/** Judges a name in any of the spellings that calls may use (docs/design.md, "Names"). Pure. */
export function judgeNamedTool(spelling: string, servers: readonly RuledServer[]): NamedVerdict {
  const name = spelling.trim();
  const readings = readingsOf(name, servers);
  const isBare = readings.length === 0;
  const judged = isBare
    ? servers.map((server) => ({ server, verdict: judgeBare(server.tools, name) }))
    : readings.map(({ server, tool }) => ({ server, verdict: judge(server.tools, tool) }));
  const strict = judged.filter(({ verdict }) => verdict !== "allow");
  const slugs = [...new Set(strict.map(({ server }) => server.slug))];
  if (strict.length === 0) return { verdict: "allow", servers: [] };
  const isSure = strict.length === judged.length && strict.every(({ verdict }) => verdict === "deny");
  return { verdict: isSure ? "deny" : "ask", servers: slugs };
}

interface Reading {
  readonly server: RuledServer;
  /** The tool's name, as it is shown. */
  readonly tool: string;
}

/** A path means one tool and nothing else; other spellings may be cut in several ways. */
function readingsOf(name: string, servers: readonly RuledServer[]): readonly Reading[] {
  const exact = servers.find(({ slug }) => name.startsWith(`${slug}:`));
  if (exact !== undefined) return [{ server: exact, tool: name.slice(exact.slug.length + 1) }];
  const lower = name.toLowerCase();
  return servers.flatMap((server) =>
    [...new Set([server.slug, server.namespace])].flatMap((prefix) => {
      if (!lower.startsWith(prefix.toLowerCase())) return [];
      const separator = /^(?:__|_1mcp_|\s*[:.|/-])\s*(?=\S)/.exec(name.slice(prefix.length))?.[0];
      return separator === undefined ? [] : [{ server, tool: name.slice(prefix.length + separator.length) }];
    }),
  );
}

/** Rules are about the server's own names, and callers know those that the configuration gives. */
function judge(rules: ToolRules, shown: string): NamedVerdict["verdict"] {
  const renamed = Object.entries(rules.rename).flatMap(([own, given]) => (isNear(given, shown) ? [own] : []));
  const own = renamed.length > 0 ? renamed : [shown];
  const folded = foldRules(rules);
  const allowed = own.flatMap((tool) => [mayUse({ rules, tool }), mayUse({ rules: folded, tool: fold(tool) })]);
  if (allowed.every(Boolean)) return "allow";
  return allowed.some(Boolean) ? "ask" : "deny";
}

/** Without a server's name: the gateway takes it for a tool that may be seen, so that `allow` says nothing. */
function judgeBare({ deny }: ToolRules, name: string): NamedVerdict["verdict"] {
  return deny.some((pattern) => matchesPattern(fold(pattern), fold(name))) ? "deny" : "allow";
}

function foldRules({ allow, within, deny, ...others }: ToolRules): ToolRules {
  const all = (patterns: readonly string[]): readonly string[] => patterns.map(fold);
  return {
    ...others,
    allow: allow && all(allow),
    ...(within === undefined ? {} : { within: within.map(all) }),
    deny: all(deny),
  };
}

function isNear(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

/** As names are compared where nearly a spelling is enough, and as clients are shown them. */
function fold(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9*]/g, "_");
}

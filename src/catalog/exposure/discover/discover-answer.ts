import type { Match } from "../../search/rank/confidence.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { cutAtWord } from "../text/discover-description.ts";
import {
  createResultPrinter,
  type Detail,
  type DiscoverHit,
  type ResultPrinter,
  type ResultSize,
  type ResultText,
} from "./discover-result.ts";
import { renderSiblings } from "./discover-siblings.ts";
import { renderSkills, type SkillHit } from "./discover-skills.ts";
import type { Unavailable } from "./discover-servers.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { escapeHidden } from "../text/visible-text.ts";

/** What discover_mcp_tools found, from which its answer is written. */
export interface DiscoverFindings {
  /**
   * One entry for `query`, several for `queries`. The hits of each stand best first, at most as many as the request's
   * limit.
   */
  readonly needs: readonly DiscoverNeed[];
  /** True when `queries` was given: the answer then says which tools belong to which need. */
  readonly grouped: boolean;
  /** Skills that may help, best first. */
  readonly skills?: readonly SkillHit[];
  readonly detail: Detail;
  /** How many tools match, whether or not the answer shows them. */
  readonly totalFound: number;
  readonly searchTimeMs: number;
  /** Default: 4,000 (o200k, estimated). */
  readonly maxTokens?: number;
  /** The query was cut before it was searched. */
  readonly queryCut?: boolean;
  /** What the search had to do without, e.g. `embeddings`. */
  readonly degraded?: string;
  /**
   * The tools of a server that models may see. Other tools of the best servers are named beside the results where
   * they fit. Default: none are named.
   */
  readonly toolsOf?: (server: string) => readonly ToolEntry[];
  /** Servers that cannot be used now and may be what was asked for. */
  readonly unavailable?: readonly Unavailable[];
  /** How many others cannot be used now. */
  readonly unavailableOthers?: number;
  /** How much a profile hides. */
  readonly outside?: string | undefined;
}

export interface DiscoverNeed {
  readonly query: string;
  /** How well the best hit fits. Undefined when the search failed. */
  readonly match?: Match | undefined;
  readonly hits: readonly DiscoverHit[];
}

const defaultMaxTokens = 4000;
/** Estimates of some servers' texts are up to 4 % too low. */
const safety = 0.96;
const notedResults = 3;
const unavailableLimit = 8;

/**
 * The answer of discover_mcp_tools as compact JSON text:
 * `{ match?, tools: [{ tool_path, description, server_name, transport, relevance_score, input, note?, status?, _meta?,
 * cut?, flagged? }], total_found, search_time_ms, query, needs?, query_cut?, degraded?, unavailable?,
 * unavailable_others?, outside?, skills?, more?, left_out?, hint? }`.
 *
 * `match` is "good", "weak" or "none": "none" says that no tool seems to do what was asked, and the results are only
 * the nearest. With several needs `tools` is the merged list, each tool once, the best of every need before the second
 * best of any; `needs` says `[{ query, match, tool_paths }]`, and the outer `match` is that of the need that is met
 * best. `more` names other tools of the best servers, `{ server: [name] }`. The text fits `maxTokens`: long
 * descriptions are shortened first, then signatures (or schemas), then the last results are left out and counted in
 * `left_out`.
 */
export function renderDiscover(findings: DiscoverFindings): string {
  const maxTokens = Math.floor((findings.maxTokens ?? defaultMaxTokens) * safety);
  const hits = mergeNeeds(findings.needs);
  const printers = hits.map((hit, rank) =>
    createResultPrinter(hit, { detail: findings.detail, noted: rank < notedResults }),
  );
  const frame = estimateTokens(frameText(findings, new Set(), "", maxTokens));
  const closing = closingTokens + (bestMatch(findings.needs) === "none" ? noFitTokens : 0);
  const skills = renderSkills(findings.skills ?? [], findings.detail, maxTokens - frame - closing);
  const room = maxTokens - frame - closing - skills.tokens;
  const { fitted: results, tokens } = fit(printers, mentionTokens(findings), room);
  const cut = results.some((result) => result.text.cut);
  const hint = [
    ...cutHints(findings.detail, cut, results.length, hits.length),
    ...fitHints(findings, hits.length),
    ...skills.hints,
  ].join(" ");
  const ending: JsonObject = {
    ...(results.length < hits.length ? { left_out: hits.length - results.length } : {}),
    ...(hint === "" ? {} : { hint }),
  };
  const shown = new Set(results.map((result) => result.path));
  const texts = results.map((result) => result.text.json).join(",");
  const { toolsOf } = findings;
  const siblings =
    toolsOf === undefined || bestMatch(findings.needs) === "none"
      ? undefined
      : renderSiblings({ hits: hits.slice(0, results.length), shown, toolsOf, maxTokens: room - tokens });
  return joinObjects(frameText(findings, shown, texts, maxTokens), [skills.member, siblings], ending);
}

/** Upper limit of what `left_out` and `hint` cost. */
const closingTokens = 60;
/** Additional tokens for the hint of an answer where nothing seems to fit. */
const noFitTokens = 30;

/** Hints that say how to see what was left out. */
function cutHints(detail: Detail, cut: boolean, shown: number, found: number): string[] {
  const hints: string[] = [];
  if (cut && detail === "signature") hints.push('detail: "schema" shows what was cut.');
  if (cut && detail === "schema")
    hints.push(
      found > 1
        ? 'What "cut" left out: ask for that tool alone, with server and limit 1.'
        : 'What "cut" left out is too large for an answer; a call whose arguments do not fit is told which field, ' +
            "and why.",
    );
  if (shown < found) hints.push("Fewer results fit than were found: narrow the query, or lower the detail.");
  return hints;
}

/** Hints that say what to do when nothing fits. */
function fitHints(findings: DiscoverFindings, found: number): string[] {
  const match = bestMatch(findings.needs);
  if (found > 0 && match !== "none") return [];
  if ((findings.unavailable ?? []).length > 0) return ["Nothing usable matches now: see unavailable."];
  const resting = (findings.unavailableOthers ?? 0) > 0 ? ", also those that cannot be used now" : "";
  const lists = `an empty query lists the servers${resting}.`;
  if (found === 0) return [`No tool matches. Say in other words what is needed, one need per query; ${lists}`];
  return [`No tool seems to do this; these are the nearest. Try other words; ${lists}`];
}

const byFit: readonly Match[] = ["good", "weak", "none"];

/** The match of the need that is met best. Undefined when nothing was searched. */
function bestMatch(needs: readonly DiscoverNeed[]): Match | undefined {
  return byFit.find((match) => needs.some((need) => need.match === match));
}

/** The answer without its closing members. The results are inserted as text. */
function frameText(findings: DiscoverFindings, shown: ReadonlySet<string>, results: string, maxTokens: number): string {
  const { unavailable = [] } = findings;
  const queryTokens = Math.floor(maxTokens / (findings.grouped ? 8 : 4) / Math.max(1, findings.needs.length));
  const queries = findings.needs.map((need) => cutAtWord(need.query, queryTokens));
  const match = bestMatch(findings.needs);
  const others = (findings.unavailableOthers ?? 0) + Math.max(0, unavailable.length - unavailableLimit);
  const rest: JsonObject = {
    total_found: findings.totalFound,
    search_time_ms: Math.round(findings.searchTimeMs * 10) / 10,
    query: queries.join(" | "),
    ...(findings.grouped
      ? {
          needs: findings.needs.map((need, at) => ({
            query: queries[at],
            ...(need.match === undefined ? {} : { match: need.match }),
            tool_paths: pathsOf(need, shown),
          })),
        }
      : {}),
    ...(findings.queryCut === true ? { query_cut: "only the first 1,000 characters were searched" } : {}),
    ...(findings.degraded === undefined ? {} : { degraded: findings.degraded }),
    ...(unavailable.length === 0 ? {} : { unavailable: unavailable.slice(0, unavailableLimit) }),
    ...(others === 0 ? {} : { unavailable_others: others }),
    ...(findings.outside === undefined ? {} : { outside: findings.outside }),
  };
  const said = match === undefined ? "" : `"match":"${match}",`;
  return `{${said}"tools":[${results}],${escapeHidden(JSON.stringify(rest)).slice(1)}`;
}

function pathsOf(need: DiscoverNeed, shown: ReadonlySet<string>): string[] {
  return need.hits.map((hit) => hit.tool.path).filter((path) => shown.has(path));
}

/** What naming a tool in `needs` costs in addition to its result. */
function mentionTokens(findings: DiscoverFindings): ReadonlyMap<string, number> {
  const tokens = new Map<string, number>();
  for (const { tool } of findings.grouped ? findings.needs.flatMap((need) => need.hits) : []) {
    tokens.set(tool.path, (tokens.get(tool.path) ?? 0) + estimateTokens(tool.path) + 1);
  }
  return tokens;
}

/** One JSON object made of the frame, members that already are text, and the closing. */
function joinObjects(text: string, members: readonly (string | undefined)[], ending: JsonObject): string {
  const given = members.filter((member) => member !== undefined);
  const head = given.length === 0 ? text : `${text.slice(0, -1)},${given.join(",")}}`;
  return Object.keys(ending).length === 0 ? head : `${head.slice(0, -1)},${JSON.stringify(ending).slice(1)}`;
}

/** Takes the needs in turn, one tool from each per round. A tool appears once, with the smallest of its distances. */
function mergeNeeds(needs: readonly DiscoverNeed[]): DiscoverHit[] {
  const byPath = new Map<string, DiscoverHit>();
  const rounds = Math.max(0, ...needs.map((need) => need.hits.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const need of needs) {
      const hit = need.hits[round];
      if (hit === undefined) continue;
      const known = byPath.get(hit.tool.path);
      if (known === undefined || hit.distance < known.distance) byPath.set(hit.tool.path, hit);
    }
  }
  return [...byPath.values()];
}

interface Fitted {
  readonly path: string;
  readonly text: ResultText;
}

const reductions: readonly ResultSize[] = [
  { description: 1, input: 0 },
  { description: 2, input: 0 },
  { description: 2, input: 1 },
  { description: 2, input: 2 },
];

/**
 * As many results as fit. Each way to shorten is applied from the last result to the first before the next way is
 * tried. At least one result always stays.
 */
function fit(
  printers: readonly ResultPrinter[],
  mentions: ReadonlyMap<string, number>,
  maxTokens: number,
): { readonly fitted: readonly Fitted[]; readonly tokens: number } {
  const fitted = printers.map(({ path, print }): Fitted => ({
    path,
    text: print({ description: 0, input: 0 }),
  }));
  const costOf = ({ path, text }: Fitted): number => text.tokens + (mentions.get(path) ?? 0);
  let total = fitted.reduce((sum, one) => sum + costOf(one), 0);
  for (const size of reductions) {
    for (let rank = fitted.length - 1; rank >= 0 && total > maxTokens; rank -= 1) {
      const now = fitted[rank];
      const smaller = printers[rank]?.print(size);
      if (now === undefined || smaller === undefined || smaller.tokens >= now.text.tokens) continue;
      total += smaller.tokens - now.text.tokens;
      fitted[rank] = { path: now.path, text: smaller };
    }
  }
  for (let last = fitted.at(-1); total > maxTokens && last !== undefined && fitted.length > 1; last = fitted.at(-1)) {
    total -= costOf(last);
    fitted.pop();
  }
  return { fitted, tokens: total };
}

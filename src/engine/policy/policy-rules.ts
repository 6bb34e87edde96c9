import type { ServerConfig } from "../../config/config.ts";
import type { PolicyRule } from "../../config/rows/rule-rows.ts";
import { rankedRoles } from "../../config/rows/rule-rows.ts";
import { matcherOf, matchesPattern } from "../../config/words/tool-pattern.ts";
import type { ToolEffect } from "../../kernel/call/tool-effects.ts";

/** A rule with the name that people find it by. */
export interface NamedRule extends PolicyRule {
  readonly name: string;
  readonly paths: readonly AskedPath[];
}

/** Values that a rule is about. */
interface AskedPath {
  readonly path: string;
  readonly names: readonly string[];
  readonly patterns: readonly { readonly matches: (text: string) => boolean; readonly number: number }[];
}

/** The rules for the tools of one server. */
export interface RuleSet {
  readonly all: readonly NamedRule[];
  /** The same text for people whom no rule tells apart. */
  whoOf(roles: readonly string[]): string;
}

const noRules: RuleSet = Object.freeze({ all: Object.freeze([]), whoOf: () => "" });
const sets = new WeakMap<readonly PolicyRule[], Map<readonly PolicyRule[] | undefined, RuleSet>>();
/** Teams whose rules are kept ready beside one configuration. */
const mostSets = 1_000;

/** The rules of the gateway, and those of the team that installed the server: the same object for the same lists. */
export function rulesFor(rules: readonly PolicyRule[], { tools, installed }: Ruled): RuleSet {
  const ofTeam = tools.rules;
  if (rules.length === 0 && ofTeam === undefined) return noRules;
  let known = sets.get(rules);
  if (known === undefined) sets.set(rules, (known = new Map()));
  let set = known.get(ofTeam);
  if (set === undefined) {
    if (known.size >= mostSets) known.clear();
    const team = installed?.team ?? "";
    known.set(ofTeam, (set = toRuleSet([...named(rules, "policy."), ...named(ofTeam, `team ${team}: `)])));
  }
  return set;
}

type Ruled = Pick<ServerConfig, "tools" | "installed">;

/** A rule of a team that would allow something has no effect. */
function named(rules: readonly PolicyRule[] = [], above: string): readonly NamedRule[] {
  const all = rules.map((rule, at) => ({ ...rule, name: `${above}rules[${at}]`, paths: toPaths(rule.when) }));
  return above === "policy." ? all : all.filter(({ then }) => then !== "allow");
}

function toPaths(when: PolicyRule["when"]): NamedRule["paths"] {
  return Object.entries(when ?? {}).map(([path, patterns]) => ({
    ...{ path, names: path.split(".") },
    patterns: patterns.map((pattern) => ({ matches: matcherOf(pattern), number: Number(pattern) })),
  }));
}

function toRuleSet(all: readonly NamedRule[]): RuleSet {
  const mentioned = new Set(all.flatMap(({ roles = [] }) => roles));
  const known = new WeakMap<readonly string[], string>();
  return {
    all,
    whoOf(roles) {
      if (mentioned.size === 0) return "";
      let who = known.get(roles);
      if (who === undefined) {
        const fitting = rolesOf(roles).filter((role) => mentioned.has(role));
        known.set(roles, (who = fitting.toSorted().join("\n")));
      }
      return who;
    },
  };
}

/** What rules take somebody for: the most that they are of the gateway's own roles, and all roles of other names. */
export function rolesOf(roles: readonly string[]): readonly string[] {
  const most = rankedRoles.find((role) => roles.includes(role));
  const ranked: readonly string[] = rankedRoles;
  return [...(most === undefined ? [] : [most]), ...roles.filter((role) => !ranked.includes(role))];
}

/** Whether a rule is about this person and this tool of this server, whatever the tool does. */
export function isAbout(
  { roles, servers, tools }: NamedRule,
  who: string,
  { slug, key, tool }: { readonly slug: string; readonly key: string; readonly tool: string },
): boolean {
  const fits = (patterns: readonly string[], name: string): boolean =>
    patterns.some((pattern) => matchesPattern(pattern, name));
  return (
    (roles === undefined || (who !== "" && who.split("\n").some((role) => roles.includes(role)))) &&
    (servers === undefined || fits(servers, slug) || fits(servers, key)) &&
    (tools === undefined || fits(tools, tool))
  );
}

/** What one call does: what its tool says, and what its arguments make of that. */
export interface CalledEffects {
  readonly tool: ToolEffect;
  readonly call: ToolEffect;
}

/** The arguments of a call, and how much of them is still compared. */
export interface SearchedArguments {
  readonly value: unknown;
  characters: number;
  values: number;
}

export function toSearched(value: unknown): SearchedArguments {
  return { value, characters: 1_000_000, values: 10_000 };
}

/**
 * Whether a rule that is about the tool fits the call. A rule that allows something fits what the call really does, and
 * every value at its paths; one that closes something fits also what the tool says, and one value is enough.
 *
 * @param given undefined where the arguments are not known: then no rule with `when` fits
 */
export function fitsCall(
  { effects, paths, then }: NamedRule,
  does: CalledEffects,
  given: SearchedArguments | undefined,
): boolean {
  const opens = then === "allow";
  if (effects !== undefined && !effects.includes(does.call) && (opens || !effects.includes(does.tool))) return false;
  if (paths.length === 0) return true;
  return given !== undefined && paths.every((path) => fitsPath(given, path, opens));
}

const mostDepth = 100;

/** A text, a number or a truth value; undefined for a place that has none. */
type Found = string | number | boolean | undefined;

/** Arguments that are too large to be compared fit a rule that closes something, and none that opens it. */
function fitsPath(given: SearchedArguments, { path, names, patterns }: AskedPath, opens: boolean): boolean {
  const found: Found[] = [];
  const start = { value: given.value, at: 0, depth: 0 };
  let isWhole = collect(given, start, names, found);
  // A name may have a dot in it.
  if (names.length > 1 && hasOwn(given.value, path)) isWhole = collect(given, start, [path], found) && isWhole;
  if (!isWhole) return !opens;
  for (const value of found) {
    const fits = value !== undefined && fitsOne(given, value, patterns, opens);
    if (fits !== opens) return fits;
  }
  return opens && found.length > 0;
}

// oxlint-disable-next-line eslint/max-params -- called for every value
function fitsOne(
  given: SearchedArguments,
  value: NonNullable<Found>,
  patterns: AskedPath["patterns"],
  opens: boolean,
): boolean {
  const text = String(value);
  for (const { matches, number } of patterns) {
    given.characters -= text.length;
    if (given.characters < 0) return !opens;
    // A number may be written in several ways, and with more digits than are kept.
    if (matches(text) || (!opens && number === value)) return true;
  }
  return false;
}

interface Place {
  readonly value: unknown;
  readonly at: number;
  readonly depth: number;
}

/** Collects the values at a path, in any lists on the way to it. False: there is too much. */
function collect(
  search: SearchedArguments,
  { value, at, depth }: Place,
  names: readonly string[],
  into: Found[],
): boolean {
  search.values -= 1;
  if (depth > mostDepth || search.values < 0) return false;
  const next = { at, depth: depth + 1 };
  if (Array.isArray(value)) return value.every((one) => collect(search, { value: one, ...next }, names, into));
  const name = names[at];
  if (name !== undefined && hasOwn(value, name))
    return collect(search, { value: value[name], at: at + 1, depth: depth + 1 }, names, into);
  into.push(name === undefined ? toComparable(value) : undefined);
  return true;
}

function hasOwn(value: unknown, name: string): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name);
}

function toComparable(value: unknown): Found {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

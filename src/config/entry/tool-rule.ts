import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { problemAt, type Origin } from "../file/check.ts";
import type { Document, Path } from "../file/document.ts";
import type { EntryChange } from "./entry-change.ts";
import { matchesPattern } from "../words/tool-pattern.ts";

/** What an entry says of one tool, by the server's own name of it. */
export interface ToolRule {
  /** `deny`: a list hides it by its name. `allow`: a list of offered tools has its name. Null: neither. */
  readonly access: "allow" | "deny" | null;
  /** Whether its calls wait for a person's yes; null where its effect decides. */
  readonly asks: "always" | "never" | null;
  /** Another name; null for its own. */
  readonly name: string | null;
  readonly description: string | null;
  readonly phrases: readonly string[] | null;
}

/** A tool of which no rule says anything. */
export const noRule: ToolRule = Object.freeze({
  ...{ access: null, asks: null, name: null, description: null, phrases: null },
});

/** Why a tool is not offered. */
export interface HiddenBy {
  /** The list in the entry: `tools.deny`. */
  readonly list: string;
  /** The pattern in it that hides the tool; null for a list of offered tools that leaves the tool out. */
  readonly pattern: string | null;
}

/** Lists of hidden tools, ours first: a new rule goes there. Other clients' spellings are as strong. */
const hiding: readonly Path[] = [["tools", "deny"], ["disabledTools"], ["disabled_tools"], ["excludeTools"]];
/** Lists of offered tools. `tools` itself is one as Copilot writes it. */
const offering: readonly Path[] = [
  ["tools", "allow"],
  ["tools"],
  ["enabledTools"],
  ["enabled_tools"],
  ["includeTools"],
];
/** Lists of tools whose calls wait for a yes, or never do. */
const asking = { always: ["tools", "ask"], never: ["tools", "neverAsk"] } as const;
/** Maps from a tool's own name to what it is given. */
const given = { name: "rename", description: "describe", phrases: "phrases" } as const;

/** What an entry says of its tools, read once: there may be a thousand rules, and a thousand tools to ask them for. */
export interface EntryRules {
  /** Every tool and pattern that the entry has a rule for, in the order of the file, each once. */
  readonly tools: readonly string[];
  /** The rule for one tool. */
  of(tool: string): ToolRule;
  /** Which lists keep a tool from being offered, as the policy decides it; empty where it is offered. */
  hiddenBy(tool: string): readonly HiddenBy[];
}

export function readEntryRules(entry: Origin): EntryRules {
  const [hides, offers] = [readLists(entry, hiding), readLists(entry, offering)];
  const [asked, unasked] = [readLists(entry, [asking.always]), readLists(entry, [asking.never])];
  const names = mapAt(entry, given.name);
  const descriptions = mapAt(entry, given.description);
  const phrases = mapAt(entry, given.phrases);
  return {
    tools: [
      ...new Set([
        ...[...hides, ...offers, ...asked, ...unasked].flatMap(({ all }) => all),
        ...[names, descriptions, phrases].flatMap((map) => [...map.keys()]),
      ]),
    ],
    of(tool) {
      const found = phrases.get(tool);
      const isIn = ({ names: own }: NameList): boolean => own.has(tool);
      return {
        access: hides.some(isIn) ? "deny" : offers.some(isIn) ? "allow" : null,
        // The stricter of two rules counts.
        asks: asked.some(isIn) ? "always" : unasked.some(isIn) ? "never" : null,
        name: textOrNull(names.get(tool)),
        description: textOrNull(descriptions.get(tool)),
        phrases: isTextList(found) ? found : null,
      };
    },
    hiddenBy: (tool) => [
      ...hides.flatMap((list) => matching(list, tool).map((pattern) => ({ list: list.title, pattern }))),
      ...offers
        .filter((list) => matching(list, tool).length === 0)
        .map(({ title }) => ({ list: title, pattern: null })),
    ],
  };
}

/** A list of the entry. What has no star in it fits one tool alone, and is looked up. */
interface NameList {
  readonly title: string;
  readonly all: readonly string[];
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly string[];
}

function readLists(entry: Origin, lists: readonly Path[]): readonly NameList[] {
  return lists.flatMap((list) => {
    const all = listAt(entry, list);
    if (all === undefined) return [];
    return { title: list.join("."), all, names: new Set(all), patterns: all.filter((name) => name.includes("*")) };
  });
}

function matching({ names, patterns }: NameList, tool: string): readonly string[] {
  const fitting = patterns.filter((pattern) => matchesPattern(pattern, tool));
  return names.has(tool) && !fitting.includes(tool) ? [tool, ...fitting] : fitting;
}

/**
 * The changes of the file after which these tools of one entry have these rules; rules of other tools stay. Without
 * access a tool is not hidden by its name any more, and stays in a list of offered tools: resetting a rule must not
 * hide the tool. A list that hides nothing any more is removed. Throws CONFIG_INVALID where there is another value in
 * place of a list.
 */
export function toolRuleChanges(entry: Origin, rules: ReadonlyMap<string, ToolRule>): readonly EntryChange[] {
  refusePatterns(entry, rules);
  const changes = namedChanges(entry, hiding, rules, ({ access }) => access === "deny");
  for (const [asks, list] of Object.entries(asking))
    changes.push(...namedChanges(entry, [list], rules, (rule) => rule.asks === asks));
  for (const list of offering) {
    const before = requireList(entry, list);
    if (before === undefined) continue;
    const isNew = ([tool, { access }]: [string, ToolRule]): boolean =>
      access === "allow" && !before.some((pattern) => matchesPattern(pattern, tool));
    const added = [...rules].filter(isNew).map(([tool]) => tool);
    changes.push(...listChanges(entry, list, before, [...before, ...added]));
  }
  for (const [member, map] of Object.entries(given) as [keyof typeof given, string][])
    changes.push(...mapChanges(entry, map, new Map([...rules].map(([tool, rule]) => [tool, rule[member]]))));
  return withoutEmpty(entry, changes);
}

/** After these changes one of the lists has the tools that `isNamed` holds for: the first, where none had them. */
function namedChanges(
  entry: Origin,
  lists: readonly Path[],
  rules: ReadonlyMap<string, ToolRule>,
  isNamed: (rule: ToolRule) => boolean,
): EntryChange[] {
  const known = new Set(lists.flatMap((list) => listAt(entry, list) ?? []));
  const added = [...rules].filter(([tool, rule]) => isNamed(rule) && !known.has(tool)).map(([tool]) => tool);
  return lists.flatMap((list, at) => {
    const before = requireList(entry, list);
    const left = (before ?? []).filter((tool) => {
      const rule = rules.get(tool);
      return rule === undefined || isNamed(rule);
    });
    return listChanges(entry, list, before, at === 0 ? [...left, ...added] : left);
  });
}

/** A star in a tool's own name would make a rule for other tools of it. */
function refusePatterns({ document, path }: Origin, rules: ReadonlyMap<string, ToolRule>): void {
  for (const [tool, { access, asks }] of rules)
    if ((access ?? asks) !== null && tool.includes("*"))
      throw new GatewayError("CONFIG_INVALID", `${document.place(path)}: a rule for ${tool} would be one for many`, {
        hint: "Write the pattern into the configuration file where you mean every tool that it fits.",
      });
}

function listAt({ document, path }: Origin, list: Path): readonly string[] | undefined {
  const value = document.value([...path, ...list]);
  return isTextList(value) ? value : undefined;
}

/** By the tool, in the order of the file. */
function mapAt({ document, path }: Origin, map: string): ReadonlyMap<string, unknown> {
  const place = [...path, "tools", map];
  const value = document.value(place);
  return new Map(isJsonObject(value) ? document.keys(place).map((tool) => [tool, value[tool]]) : []);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Undefined where there is none, or where `tools` is the object that our own lists stand in. */
function requireList(entry: Origin, list: Path): readonly string[] | undefined {
  const place = [...entry.path, ...list];
  const value = entry.document.value(place);
  const found = listAt(entry, list);
  if (value === undefined || found !== undefined || (list.length === 1 && list[0] === "tools" && isJsonObject(value)))
    return found;
  throw new GatewayError("CONFIG_INVALID", problemAt({ document: entry.document, path: place }, "is no list of names"));
}

/**
 * Item by item, so that comments between the others stay; as a whole where there are none, because each item is an
 * edit of the whole text.
 */
function listChanges(
  { document, path: entry }: Origin,
  list: Path,
  before: readonly string[] | undefined,
  after: readonly string[],
): EntryChange[] {
  const path = [...entry, ...list];
  const gone = (before ?? []).flatMap((tool, at) => (after.includes(tool) ? [] : [at]));
  const added = after.slice((before?.length ?? 0) - gone.length);
  if (gone.length + added.length === 0) return [];
  if (before === undefined) return [{ path, value: after }];
  if (after.length === 0 && isBare(document, path)) return [{ path, value: undefined }];
  if (gone.length + added.length > 1 && isBare(document, path)) return [{ path, value: after }];
  return [
    ...gone.toReversed().map((at) => ({ path: [...path, at], value: undefined })),
    ...added.map((tool, index) => ({ path: [...path, before.length - gone.length + index], value: tool })),
  ];
}

/** Whether there are no comments in it. */
function isBare(document: Document, path: Path): boolean {
  try {
    JSON.parse(document.textAt(path) ?? "");
    return true;
  } catch {
    return false;
  }
}

function mapChanges(
  entry: Origin,
  map: string,
  values: ReadonlyMap<string, string | readonly string[] | null>,
): EntryChange[] {
  const path = [...entry.path, "tools", map];
  const before = entry.document.value(path);
  const after = new Map(isJsonObject(before) ? Object.entries(before) : []);
  const changed = [...values].filter(([tool, value]) => {
    if (JSON.stringify(after.get(tool) ?? null) === JSON.stringify(value)) return false;
    if (value === null) after.delete(tool);
    else after.set(tool, value);
    return true;
  });
  const isPlain = before === undefined || (isJsonObject(before) && isBare(entry.document, path));
  if (changed.length > 0 && isPlain && (after.size === 0 || changed.length > mostSingleChanges))
    return [{ path, value: after.size === 0 ? undefined : Object.fromEntries(after) }];
  return changed.map(([tool, value]) => ({ path: [...path, tool], value: value ?? undefined }));
}

/** More members of a map without comments are written as a whole, because each one is an edit of the whole text. */
const mostSingleChanges = 20;

/** Takes `tools` out as a whole where nothing is left in it. */
function withoutEmpty({ document, path }: Origin, changes: readonly EntryChange[]): readonly EntryChange[] {
  const tools = [...path, "tools"];
  const isWithin = ({ path: changed }: EntryChange): boolean =>
    changed.length > tools.length && changed[tools.length - 1] === "tools";
  const within = changes.filter(isWithin);
  const goes = (name: string): boolean =>
    within.some(
      ({ path: changed, value }) =>
        changed.length === tools.length + 1 && changed.at(-1) === name && value === undefined,
    );
  const members = document.keys(tools);
  const isEmpty = members.length > 0 && members.every(goes) && within.every(({ value }) => value === undefined);
  if (!isEmpty || !isBare(document, tools)) return changes;
  return [...changes.filter((change) => !isWithin(change)), { path: tools, value: undefined }];
}

import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { isStronger, strongestOf, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** What the gateway says of a tool, from the server's own name of it and from its choices. */
export interface NamedEffect {
  readonly effect: ToolEffect;
  /** The word of the name that says so; undefined where none does. */
  readonly word: string | undefined;
  /** Parameters whose value decides what a call does, where a value makes it worse than the name says. */
  readonly choices: readonly EffectChoice[];
}

/** A parameter that chooses what a tool does, as `action` of a tool that creates, changes and deletes. */
export interface EffectChoice {
  /** In lower case. */
  readonly parameter: string;
  /** By the value in lower case, without white space around it. */
  readonly effects: ReadonlyMap<string, ToolEffect>;
  /** Of a value that is not among them. */
  readonly strongest: ToolEffect;
  /** Where no value is given: that of the default. */
  readonly absent: ToolEffect;
}

/** How far annotations of a server count. */
export type AnnotationUse = "raise" | "trust" | "ignore";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Anywhere in a name. */
const destroying = words(`
  delete deletes del remove removes rm purge erase wipe truncate uninstall revoke prune teardown destroy destroys
  rebuild rollback unlink kill terminate expunge obliterate discard deprovision decommission shred nuke forget
`);
/** What `drop` destroys: `browser_drop` moves something. */
const droppable = words(
  "table tables database db schema collection index column view keyspace bucket stream queue role",
);
/** As the first verb: what was there is not there any more. */
const undoing = words(`
  reset clean cleanup clear flush archive cancel shutdown abort revert undo overwrite unpublish withdraw ban
`);
const running = words("exec execute run eval evaluate invoke");
const runnable = words(`
  sql code script scripts query queries command commands cmd shell bash python js javascript notebook cell terminal
  program process expression function snippet powershell
`);
/** These run something by themselves, with any word beside them. */
const programs = words("exec eval evaluate shell bash powershell sudo");
const sending = words(`
  send sends publish pay deploy merge invite email mail notify tweet reply share submit transfer charge refund
  purchase buy broadcast dispatch push release sms dial announce post
`);
const writing = words(`
  create add update set write edit put insert make upload move copy rename save append modify change apply assign
  enable activate start restart open close click type press fill hover select navigate drag drop label tag comment mark
  pin star fork commit checkout branch init import sync generate install configure register subscribe unsubscribe store
  upsert patch replace attach link unlock lock resize scale schedule approve upgrade build new toggle switch grant
  connect disconnect handle manage unpin unmark untag unstar unlabel enqueue trigger retry resume pause complete bulk
  sort format transform restore duplicate clone provision emulate record draft track rate vote follow stop disable
  deactivate detach unassign reject invalidate launch boot reboot power swipe tap expand populate optimize protect
  unprotect customize initialize fix promote rebase stash pull cherry interact login allocate prepare play rerun unapprove
`);
const reading = words(`
  get gets list lists read reads search find fetch query show describe view look lookup count check inspect browse
  download preview status info stat stats diff explain summarize summary analyze analyse validate compare calculate
  compute resolve retrieve load export scan monitor watch wait snapshot screenshot ping tree head tail grep glob who
  whoami echo verify extract parse translate is has can identify detect estimate discover see peek poll ask lint test
  measure profile crawl scrape google think sum match audit blame reflog observe aggregate rank rerank geocode whois
  recommend suggest predict research explore log logs details searcher getter reader documentation directions
`);

type Verb = "undo" | "read" | "send" | "write";

function verbOf(word: string): Verb | undefined {
  if (undoing.has(word)) return "undo";
  if (reading.has(word)) return "read";
  if (sending.has(word)) return "send";
  return writing.has(word) ? "write" : undefined;
}

/** The words of a name, split at separators and capitals, in lower case. Names may be a thousand characters long. */
function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, longestName)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

const longestName = 1_000;

interface Said {
  readonly effect: ToolEffect;
  readonly word: string | undefined;
}

/** What a name says, of a tool or of a value that chooses what one does. The strictest reading comes first. */
export function effectOfName(name: string): Said {
  const all = wordsOf(name);
  const destroys = all.find((word, at) => destroying.has(word) || isPairThatDestroys(word, all[at + 1]));
  if (destroys !== undefined) return { effect: "destroy", word: destroys };
  const first = all.find((word) => verbOf(word) !== undefined || running.has(word));
  if (first !== undefined && undoing.has(first)) return { effect: "destroy", word: first };
  const runs = all.find((word) => programs.has(word) || (running.has(word) && all.some((one) => runnable.has(one))));
  if (runs !== undefined) return { effect: "run", word: runs };
  if (first === undefined) return { effect: "unknown", word: undefined };
  return strictestVerb(all, first);
}

/** `drop_table`, `roll_back`, `tear_down`. */
function isPairThatDestroys(word: string, next: string | undefined): boolean {
  if (next === undefined) return false;
  return (
    (word === "drop" && droppable.has(next)) ||
    (next === "back" && word === "roll") ||
    (next === "down" && word === "tear")
  );
}

/** The first verb decides, and those that follow it behind `or` and `and`: `get_or_create` may write. */
function strictestVerb(all: readonly string[], first: string): Said {
  let found: Said = { effect: effectOfVerb(first), word: first };
  for (const [at, word] of all.entries()) {
    const joined = word === "or" || word === "and" ? all[at + 1] : undefined;
    if (joined === undefined || verbOf(joined) === undefined) continue;
    const effect = effectOfVerb(joined);
    if (isStronger(effect, found.effect)) found = { effect, word: joined };
  }
  return found;
}

function effectOfVerb(word: string): ToolEffect {
  // `run` and `execute` of something that is no code say nothing.
  const verb = verbOf(word) ?? "unknown";
  return verb === "undo" ? "destroy" : verb;
}

/** Parameters that say what a tool does. */
const choosing = words("action operation mode method command type kind op");
/** These name a thing more often than an action. */
const naming = words("type kind");
/** Of a schema of a server, which may be of any size. */
const mostDepth = 12;
const mostSchemas = 2_000;
const mostValues = 500;

/** What a schema allows for one parameter, wherever it is in it. */
interface Allowed {
  readonly values: Set<string>;
  readonly defaults: Set<string>;
}

/** The table of one parameter; undefined where no value of it is worse than what the name says. */
function toChoice(parameter: string, { values, defaults }: Allowed, effect: ToolEffect): EffectChoice | undefined {
  const spelled = new Map([...values, ...defaults].map((value) => [value.trim().toLowerCase(), value]));
  // What a tool is to send to an address, or to write down of such a request, is data.
  if (parameter === "method" && ["get", "post", "put"].every((value) => spelled.has(value))) return undefined;
  const effects = new Map([...spelled].map(([lower, value]) => [lower, effectOfName(value).effect]));
  const strongest = strongestOf([...effects.values()], effect);
  if (!isStronger(strongest, effect) || strongest === "unknown") return undefined;
  if (naming.has(parameter) && strongest !== "destroy" && strongest !== "run") return undefined;
  const absent = strongestOf(
    [...defaults].map((value) => effectOfName(value).effect),
    effect,
  );
  return { parameter, effects, strongest, absent };
}

/** Where other schemas are in one. */
const combining = ["allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalProperties", "then", "else"] as const;

/** The schemas within one that concern the same value, itself among them; references within the root are followed. */
function* schemasOf(root: unknown, schema: unknown, depth = 0): Generator<JsonObject> {
  if (!isJsonObject(schema) || depth > mostDepth) return;
  yield schema;
  const { $ref: reference } = schema;
  if (typeof reference === "string") yield* schemasOf(root, referred(root, reference), depth + 1);
  for (const name of combining) {
    const within = schema[name];
    for (const one of Array.isArray(within) ? (within as readonly unknown[]) : [within])
      yield* schemasOf(root, one, depth + 1);
  }
}

/** What `#/…` names in a schema. */
function referred(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split("/"))
    found = isJsonObject(found) ? found[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  return found;
}

function choicesIn(root: unknown, effect: ToolEffect): readonly EffectChoice[] {
  const allowed = new Map<string, Allowed>();
  let left = mostSchemas;
  const note = (parameter: string, schema: unknown): void => {
    const own = allowed.get(parameter) ?? { values: new Set(), defaults: new Set() };
    allowed.set(parameter, own);
    for (const { enum: listed, const: only, default: fallback } of schemasOf(root, schema)) {
      if ((left -= 1) < 0) return;
      const values = [...(Array.isArray(listed) ? (listed as readonly unknown[]) : []), only];
      for (const value of values) if (typeof value === "string" && own.values.size < mostValues) own.values.add(value);
      for (const value of Array.isArray(fallback) ? (fallback as readonly unknown[]) : [fallback])
        if (typeof value === "string") own.defaults.add(value);
    }
  };
  const look = (schema: unknown, depth: number): void => {
    if (depth > mostDepth) return;
    for (const { properties } of schemasOf(root, schema)) {
      if ((left -= 1) < 0) return;
      for (const [name, value] of isJsonObject(properties) ? Object.entries(properties) : []) {
        if (choosing.has(name.toLowerCase())) note(name.toLowerCase(), value);
        look(value, depth + 1);
      }
    }
  };
  look(root, 0);
  return [...allowed].flatMap(([parameter, own]) => toChoice(parameter, own, effect) ?? []);
}

/** Values of parameters that choose in the arguments of a tool whose schema is not known, by the parameter. */
export function choosingValues(given: unknown): readonly (readonly [parameter: string, values: readonly string[]])[] {
  const found = new Map<string, string[]>();
  let left = mostLooked;
  const look = (value: unknown, parameter: string | undefined, depth: number): void => {
    if ((left -= 1) < 0 || depth > mostLookedDepth) return;
    if (typeof value === "string" && parameter !== undefined)
      found.set(parameter, [...(found.get(parameter) ?? []).slice(0, mostValues), value]);
    else if (Array.isArray(value)) for (const one of value) look(one, parameter, depth + 1);
    else if (typeof value === "object" && value !== null)
      for (const [key, member] of Object.entries(value)) {
        const name = key.trim().toLowerCase();
        look(member, choosing.has(name) ? name : undefined, depth + 1);
      }
  };
  look(given, undefined, 0);
  return [...found];
}

const known = new WeakMap<ToolDefinition, { readonly name: string; readonly effect: NamedEffect }>();

/** What a tool does by its server's own name of it and by its choices; worked out once for a definition. Pure. */
export function namedEffect(name: string, definition: ToolDefinition): NamedEffect {
  const before = known.get(definition);
  if (before?.name === name) return before.effect;
  const { effect, word } = effectOfName(name);
  const made = { effect, word, choices: choicesIn(definition.inputSchema, effect) };
  known.set(definition, { name, effect: made });
  return made;
}

/**
 * The effect with what a server says of its tool. Annotations are wrong in both directions, so that by default they
 * only make it stronger, and `destructiveHint` counts only where the name says nothing.
 */
export function withAnnotations(effect: ToolEffect, { annotations }: ToolDefinition, use: AnnotationUse): ToolEffect {
  if (use === "ignore" || annotations === undefined) return effect;
  const { readOnlyHint, destructiveHint } = annotations;
  if (use === "trust") {
    if (readOnlyHint === true) return "read";
    if (destructiveHint === true) return "destroy";
    return effect === "read" && readOnlyHint === false ? "write" : effect;
  }
  if (destructiveHint === true && readOnlyHint !== true && effect === "unknown") return "destroy";
  if (readOnlyHint === false && effect === "read") return "write";
  return effect;
}

const tables = new WeakMap<readonly EffectChoice[], ReadonlyMap<string, readonly EffectChoice[]>>();

/** Choices by their parameter, worked out once for a tool. */
function tableOf(choices: readonly EffectChoice[]): ReadonlyMap<string, readonly EffectChoice[]> {
  let table = tables.get(choices);
  if (table === undefined) {
    const names = [...new Set(choices.map(({ parameter }) => parameter))];
    table = new Map(names.map((name) => [name, choices.filter(({ parameter }) => parameter === name)]));
    tables.set(choices, table);
  }
  return table;
}

/** What a call with these arguments does: its choices, wherever and however they are written, may make it worse. */
export function effectOfCall(effect: ToolEffect, choices: readonly EffectChoice[], given: unknown): ToolEffect {
  if (choices.length === 0) return effect;
  const table = tableOf(choices);
  const seen = new Set<string>();
  let found = effect;
  let left = mostLooked;
  const note = (one: ToolEffect): void => {
    if (isStronger(one, found)) found = one;
  };
  /** A value of a parameter; of a list each of its items, at any depth. Other values than texts are never listed. */
  const take = (value: unknown, all: readonly EffectChoice[], depth: number): void => {
    if (Array.isArray(value) && depth <= mostLookedDepth) for (const one of value) take(one, all, depth + 1);
    else if (value !== null && value !== undefined)
      for (const { effects, strongest } of all)
        note(
          (typeof value === "string" ? (effects.get(value) ?? effects.get(value.trim().toLowerCase())) : undefined) ??
            strongest,
        );
  };
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null) return;
    // A value that is too large to be looked at may hide anything.
    if ((left -= 1) < 0 || depth > mostLookedDepth) return choices.forEach(({ strongest }) => note(strongest));
    if (Array.isArray(value)) return value.forEach((member) => look(member, depth + 1));
    for (const key of Object.keys(value)) {
      const member = (value as Readonly<Record<string, unknown>>)[key];
      const all = table.get(key) ?? (key.length > longestParameter ? undefined : table.get(key.trim().toLowerCase()));
      if (all !== undefined && member !== null) {
        seen.add(all[0]?.parameter ?? "");
        take(member, all, depth);
      }
      look(member, depth + 1);
    }
  };
  look(given, 0);
  for (const { parameter, absent } of choices) if (!seen.has(parameter)) note(absent);
  return found;
}

/** Longer names are no spelling of a parameter that chooses. */
const longestParameter = 40;
const mostLooked = 10_000;
const mostLookedDepth = 100;

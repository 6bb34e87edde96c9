import { lookAlikeForm } from "../../config/words/slug.ts";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import {
  addPin,
  latestTaken,
  limitPins,
  none,
  ownHash,
  writingPins,
  type DefinitionMode,
  type DefinitionSettings,
  type Pin,
  type Pins,
  type Versions,
} from "./definition-pins.ts";
import { factsOf, meaningOf, parseFacts, worseThan, type DefinitionFacts } from "./meaning.ts";
import type { PinnedEntry } from "../model/pinned-texts.ts";
import { scanDefinition, scanRules, type Finding, type Others } from "./scan.ts";

/** What new definitions are judged by. */
export interface JudgedList {
  readonly pins: Pins;
  readonly tools: readonly PinnedEntry[];
  /** The owner's file as it is now. */
  readonly kept: string | undefined;
  readonly nowMs: number;
  readonly mode: DefinitionMode;
  readonly newServers: DefinitionSettings["newServers"];
  readonly others: Others;
}

export interface Judged {
  readonly pins: Pins;
  /** The further lines of the owner's file. */
  readonly lines: readonly string[];
  /** Tools that are held now and were not, and those that were taken though they changed. */
  readonly held: Told;
  readonly changed: Told;
}

export interface Told {
  readonly tools: readonly string[];
  readonly reasons: readonly string[];
}

/** What looks at definitions. */
export interface DefinitionJudge {
  /** Judges the definitions of a list that are in no pin yet, a few at a time. */
  judge(list: JudgedList): Promise<Judged>;
  /** The texts of these versions, as far as they are kept. */
  textsIn(kept: string | undefined, hashes: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
  /** The owner's file with these pins and further lines. */
  fileOf(pins: Pins, lines: readonly string[]): Promise<string>;
}

export const definitionJudge: DefinitionJudge = {
  judge: async (list) => await slices.run(judging(list)),
  async textsIn(kept, hashes) {
    const found = [...(await slices.run(readingLines(kept))).values()].filter(({ hash }) => hashes.has(hash));
    return new Map(found.flatMap(({ hash, text }) => (text === undefined ? [] : [[hash, text] as const])));
  },
  fileOf: async (pins, lines) => [await slices.run(writingPins(pins)), ...lines].join("\n"),
};

function* judging(list: JudgedList): Generator<undefined, Judged> {
  const before = list.pins;
  const known = yield* readingLines(list.kept);
  const forms = formsOf(before, list.tools);
  const own = new Set(list.tools.map(({ upstreamName }) => upstreamName));
  const held: Noted[] = [];
  const changed: Noted[] = [];
  const pins = new Map(before);
  for (const tool of list.tools) {
    const { upstreamName: name } = tool;
    const hash = ownHash(tool);
    if (pins.get(name)?.has(hash) === true) continue;
    yield;
    const definition = tool.original ?? tool.definition;
    const line = toLine(tool, hash, definition);
    const versions = pins.get(name);
    const same = versions && [...versions].findLast(([other]) => known.get(other)?.meaning === line.meaning);
    known.set(hash, line);
    if (same !== undefined) {
      addPin(pins, name, [hash, { ...same[1], seenAtMs: list.nowMs }]);
      continue;
    }
    const pin = judgeOne({ list, name, definition, line, versions, isFirst: before.size === 0, forms, own, known });
    addPin(pins, name, [hash, pin]);
    if (pin.state === "held" && !wasHeld(before.get(name))) held.push({ name, pin });
    else if (pin.state === "taken" && before.size > 0) changed.push({ name, pin });
  }
  limitPins(pins, own);
  return { pins, lines: yield* writingLines(pins, known), held: toTold(held), changed: toTold(changed) };
}

interface Noted {
  readonly name: string;
  readonly pin: Pin;
}

function wasHeld(versions: Versions | undefined): boolean {
  return [...(versions?.values() ?? [])].some(({ state }) => state === "held");
}

/** Each is read by a person. */
const mostTold = 20;

function toTold(noted: readonly Noted[]): Told {
  const reasons = noted.flatMap(({ name, pin }) => pin.because.map((one) => `${name.slice(0, 100)}: ${one}`));
  return { tools: noted.slice(0, mostTold).map(({ name }) => name), reasons: reasons.slice(0, mostTold) };
}

interface Judging {
  readonly list: JudgedList;
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly line: KeptDefinition;
  readonly versions: Versions | undefined;
  /** Whether nothing is known of any tool of the server. */
  readonly isFirst: boolean;
  readonly forms: ReadonlyMap<string, string>;
  /** Names of the list's tools. */
  readonly own: ReadonlySet<string>;
  readonly known: ReadonlyMap<string, KeptDefinition>;
}

function judgeOne(judging: Judging): Pin {
  const { list, definition, line, versions, isFirst } = judging;
  const findings = scanDefinition(definition, { has: (other) => !isOwn(judging, other) && list.others.has(other) });
  const from = latestTaken(versions) ?? null;
  const reasons = [
    ...worded(findings, "hold"),
    ...lookalikes(judging),
    ...(isFirst ? none : reasonsOfChange(line.facts, from, judging)),
  ];
  const notes = worded(findings, "note");
  const waits = waitsFor(list, { isFirst, isBad: reasons.length > 0 });
  const because = [
    ...new Set([...reasons, ...(waits && reasons.length === 0 ? [whatItIs(isFirst, from)] : none), ...notes]),
  ];
  return {
    ...{ state: waits ? "held" : "taken", because: because.length === 0 ? none : because, from },
    ...{ seenAtMs: list.nowMs, decidedBy: null, decidedAtMs: null },
  };
}

/** Servers have tools of the same name, and speak of their own. */
function isOwn({ list: { pins }, own }: Judging, name: string): boolean {
  return own.has(name) || pins.has(name);
}

function waitsFor(
  { mode, newServers }: JudgedList,
  { isFirst, isBad }: { readonly isFirst: boolean; readonly isBad: boolean },
): boolean {
  if (mode === "note") return false;
  return isBad || (isFirst ? newServers === "hold" : mode === "hold");
}

function whatItIs(isFirst: boolean, from: string | null): string {
  if (isFirst) return "its server is new";
  return from === null ? "it is new" : "its definition has changed";
}

function worded(findings: readonly Finding[], tier: Finding["tier"]): readonly string[] {
  return findings
    .filter((finding) => finding.tier === tier)
    .map(({ rule, where, excerpt }) => `${scanRules[rule]} (${where}${excerpt === "" ? "" : `: ${excerpt}`})`);
}

/** Why a definition is worse than what was in use; of a new tool, why it is not taken unseen. */
function reasonsOfChange(facts: DefinitionFacts, from: string | null, { versions, known }: Judging): readonly string[] {
  if (versions !== undefined) {
    if ([...versions.values()].at(-1)?.state === "blocked") return ["its definition before this one was blocked"];
    if (from === null) return ["no definition of it was allowed yet"];
    const before = known.get(from)?.facts;
    return before === undefined ? ["what it was before cannot be read"] : worseThan(before, facts);
  }
  return facts.effect === "destroy" || facts.effect === "run"
    ? [`it is new, and its effect is \`${facts.effect}\``]
    : none;
}

/** Names by the form in which people see them; of two that look alike the first is kept. */
function formsOf(pins: Pins, tools: readonly ToolEntry[]): ReadonlyMap<string, string> {
  const forms = new Map<string, string>();
  for (const name of [...pins.keys(), ...tools.map(({ upstreamName }) => upstreamName)]) {
    const form = lookAlikeForm(name.slice(0, longestName));
    if (!forms.has(form)) forms.set(form, name);
  }
  return forms;
}

const longestName = 1_000;

function lookalikes({ name, forms, versions }: Judging): readonly string[] {
  const other = forms.get(lookAlikeForm(name.slice(0, longestName)));
  if (versions !== undefined || other === undefined || other === name) return none;
  return [`its name looks like that of ${JSON.stringify(other.slice(0, 100))}`];
}

/** One version as it is kept in the file. */
export interface KeptDefinition {
  readonly hash: string;
  readonly tool: string;
  readonly meaning: string;
  readonly facts: DefinitionFacts;
  /** The definition as JSON; absent where it is too long. */
  readonly text?: string;
}

/** Longer ones are compared by their facts, and not shown. */
const longestText = 65_536;

/** Of a text: it does nothing. */
const noFacts: DefinitionFacts = { effect: "unknown", readsOnly: false, required: none };

function toLine({ upstreamName: tool, isText }: PinnedEntry, hash: string, definition: ToolDefinition): KeptDefinition {
  const text = stringifyExact(definition);
  const facts = isText === true ? noFacts : factsOf(tool, definition);
  return {
    ...{ hash, tool, meaning: meaningOf(definition), facts },
    ...(text.length <= longestText ? { text } : {}),
  };
}

function* readingLines(kept: string | undefined): Generator<undefined, Map<string, KeptDefinition>> {
  const known = new Map<string, KeptDefinition>();
  const [, ...lines] = kept?.split("\n") ?? [];
  for (const text of lines) {
    yield;
    const line = parseLine(text);
    if (line !== undefined) known.set(line.hash, line);
  }
  return known;
}

function parseLine(line: string): KeptDefinition | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const { hash, tool, meaning, text } = value;
    const facts = parseFacts(value["facts"]);
    if (typeof hash !== "string" || typeof tool !== "string" || typeof meaning !== "string" || facts === undefined)
      return undefined;
    return { hash, tool, meaning, facts, ...(typeof text === "string" ? { text } : {}) };
  } catch {
    return undefined;
  }
}

/** Characters of texts that are kept of one owner. Those of versions that came last stay. */
const mostText = 8_388_608;

/** Of the versions that are known; others are forgotten. */
function* writingLines(
  pins: Pins,
  known: ReadonlyMap<string, KeptDefinition>,
): Generator<undefined, readonly string[]> {
  const wanted = new Set([...pins.values()].flatMap((versions) => [...versions.keys()]));
  const lines: string[] = [];
  let room = mostText;
  for (const { text, ...line } of [...known.values()].toReversed()) {
    yield;
    if (!wanted.has(line.hash)) continue;
    room -= text?.length ?? 0;
    lines.push(JSON.stringify(text !== undefined && room >= 0 ? { ...line, text } : line));
  }
  return lines.toReversed();
}

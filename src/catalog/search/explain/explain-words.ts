import { postingsOf } from "../rank/confidence.ts";
import type { FoundWord, Relation } from "./explanation.ts";
import { field, fieldCount, fieldNames, schemaTexts, toolTexts, type FieldName } from "../language/fields.ts";
import type { Language } from "../language.ts";
import { toolAt, type SearchIndex } from "../index/merge.ts";
import { packed } from "../index/postings.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { Group, Member } from "../rank/query.ts";
import { joinNeighbours, toProseWords, toWords } from "../language/words.ts";

/** What one word of the query found in a tool. */
export interface FoundWords {
  /** Of the word of the query. */
  readonly stem: string;
  /** What it added to the tool's score by words. */
  readonly value: number;
  /** Their values add up to `value`. */
  readonly members: readonly (Omit<FoundWord, "share"> & { readonly value: number })[];
}

interface MemberValue {
  readonly member: Member;
  readonly value: number;
  readonly fields: readonly FieldName[];
}

/**
 * The same sums as in `score.ts`, for one group and one tool, with where they come from. Undefined where the tool has
 * nothing of the word.
 */
export function findWords(index: SearchIndex, group: Group, tool: number): FoundWords | undefined {
  const { also } = index.language.weights;
  const found: MemberValue[] = [];
  for (const member of group.scored) {
    if (member.isCompanion === true && found.length === 0) continue;
    const one = valueOf(index, member, tool);
    if (one !== undefined) found.push(one);
  }
  if (found.length === 0) return undefined;
  const best = found.reduce((most, one) => (one.value > most.value ? one : most));
  const spell = speller(index.language, toolAt(index, tool));
  const members = found.map((one) => ({
    word: spell(one.member.stem),
    relation: relationOf(index.language, group, one.member),
    fields: one.fields,
    value: group.weight * (one === best ? 1 : also) * one.value,
  }));
  return { stem: group.stem, value: members.reduce((sum, { value }) => sum + value, 0), members };
}

function valueOf(index: SearchIndex, member: Member, tool: number): MemberValue | undefined {
  const byField = mentionsByField(index, member, tool);
  const count = byField.reduce((sum, { mentions }) => sum + mentions, 0);
  if (count === 0) return undefined;
  const { k1 } = index.language.weights;
  return {
    member,
    value: (member.weight * member.rarity * (k1 + 1) * count) / (k1 + count),
    fields: byField.toSorted((one, other) => other.mentions - one.mentions).map(({ name }) => name),
  };
}

/** Where a tool has a term, weighted by field. What related words count in parameters and phrases: as in `score.ts`. */
function mentionsByField(
  index: SearchIndex,
  { term, weight }: Member,
  tool: number,
): readonly { readonly name: FieldName; readonly mentions: number }[] {
  const found: { name: FieldName; mentions: number }[] = [];
  for (const posting of postingsOf(index, term, tool)) {
    const place = packed.field(posting);
    if (weight !== 1 && place >= field.parameters && place <= field.enums) continue;
    const share = weight !== 1 && place === field.phrases ? index.language.weights.relatedInPhrases : 1;
    const mentions = share * packed.count(posting) * (index.mention[tool * fieldCount + place] as number);
    found.push({ name: fieldNames[place] as FieldName, mentions });
  }
  return found;
}

function relationOf(language: Language, { stem }: Group, member: Member): Relation {
  if (member.stem === stem) return "word";
  const thesaurus = language.thesaurus();
  if (thesaurus.synonyms(stem).has(member.stem)) return "synonym";
  return thesaurus.hints(stem)?.names.some((name) => name.includes(member.stem)) === true ? "hint" : "spelling";
}

/** Writes stems as the tool does: people know issues, and no "issu". */
function speller({ stem }: Language, tool: ToolEntry): (stem: string) => string {
  let written: Map<string, string> | undefined;
  return (wanted) => {
    written ??= wordsOf(tool, stem);
    return written.get(wanted) ?? wanted;
  };
}

function wordsOf(tool: ToolEntry, stem: (word: string) => string): Map<string, string> {
  const { name, title, description } = toolTexts(tool.definition);
  const schema = schemaTexts(tool.definition.inputSchema);
  const words = toWords(name);
  const written = new Map<string, string>();
  const note = (word: string, shown: string): void => {
    const stemmed = stem(word);
    if (!written.has(stemmed)) written.set(stemmed, shown);
  };
  for (const text of [name, title, tool.server, description, schema.names, schema.descriptions, schema.enums])
    for (const word of toProseWords(text)) note(word, word);
  for (const [at, joined] of joinNeighbours(words).entries()) note(joined, `${words[at]} ${words[at + 1]}`);
  return written;
}

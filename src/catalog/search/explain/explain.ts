import type { Explanation, ExplainedRanking, PhraseShare, WordShare, FoundWord, Relation } from "./explanation.ts";
import { nameCoverage } from "../rank/coverage.ts";
import type { LearnedTools } from "../learning/learned.ts";
import { toolAt, type SearchIndex } from "../index/merge.ts";
import { findPhrases, type Phrase } from "../phrases.ts";
import { planQuery, type QueryPlan, queryWords, type QueryWords, type Group, type Member } from "../rank/query.ts";
import { findCandidates, refine, search, wantedBy, type SearchOptions } from "../rank.ts";
import { fitServers, type Candidate } from "../rank/server-fit.ts";
import { toWords, joinNeighbours, toProseWords } from "../language/words.ts";
import { postingsOf } from "../rank/confidence.ts";
import { field, fieldCount, fieldNames, schemaTexts, toolTexts, type FieldName } from "../language/fields.ts";
import type { Language } from "../language.ts";
import { packed } from "../index/postings.ts";
import type { ToolEntry } from "../../model/snapshot.ts";

/**
 * The same ranking as {@link search}, with the reasons for it. The order and the scores are the ranker's own; where
 * they come from is worked out again for the tools of the answer alone, from the postings, so that a search without
 * explanations pays nothing for this. Takes about three times as long as the search. Pure; never throws.
 */
export function explain(index: SearchIndex, query: string, options: SearchOptions): ExplainedRanking {
  // Before anything else is scored, because all scoring of an index uses the same memory.
  const ranking = search(index, query, options);
  const plan = planQuery(index, query);
  const steps = scoreInSteps(index, query, plan, options);
  const asked: Asked = {
    plan,
    words: queryWords(index.language, query),
    phrases: findPhrases(index, plan.stems),
    purposes: index.language.purposes.ofQuery(toWords(query)),
    coverageOf: nameCoverage(index, plan),
    learned: options.learned ?? new Map(),
  };
  const numbers = numbersOf(index, steps, asked);
  return {
    ...ranking,
    tools: ranking.tools.map((found) => {
      const tool = numbers.get(found.tool) as number;
      return { ...found, explanation: explainTool(index, asked, { tool, score: found.score }, steps(tool)) };
    }),
  };
}

interface Asked {
  readonly plan: QueryPlan;
  readonly words: QueryWords;
  readonly phrases: readonly Phrase[];
  readonly purposes: ReturnType<SearchIndex["language"]["purposes"]["ofQuery"]>;
  readonly coverageOf: (tool: number) => number;
  readonly learned: LearnedTools;
}

/** A tool's score as it grew: by words, with its name and purpose, with its server. 0 for one that was only learned. */
interface Steps {
  readonly worded: number;
  readonly refined: number;
  readonly fitted: number;
}

type StepsOf = ((tool: number) => Steps) & { readonly tools: Iterable<number> };

function scoreInSteps(index: SearchIndex, query: string, plan: QueryPlan, options: SearchOptions): StepsOf {
  const { candidates } = findCandidates(index, plan, wantedBy(index, options));
  const worded = toScores(candidates);
  const refinedOnes = refine(index, query, plan, candidates);
  const refined = toScores(refinedOnes);
  const fitted = toScores(fitServers(index, refinedOnes));
  const stepsOf = (tool: number): Steps => ({
    worded: worded.get(tool) ?? 0,
    refined: refined.get(tool) ?? 0,
    fitted: fitted.get(tool) ?? 0,
  });
  return Object.assign(stepsOf, { tools: worded.keys() });
}

function toScores(candidates: readonly Candidate[]): ReadonlyMap<number, number> {
  return new Map(candidates.map(({ tool, score }) => [tool, score]));
}

/** The numbers of the tools that an answer may have. */
function numbersOf(index: SearchIndex, { tools }: StepsOf, { learned }: Asked): ReadonlyMap<unknown, number> {
  return new Map([...tools, ...learned.keys()].map((tool) => [toolAt(index, tool), tool]));
}

function explainTool(
  index: SearchIndex,
  asked: Asked,
  { tool, score }: Candidate,
  { worded, refined, fitted }: Steps,
): Explanation {
  const { weights, purposes } = index.language;
  const shareOf = (value: number): number => (score === 0 ? 0 : value / score);
  const ofName = asked.coverageOf(tool);
  const covered = worded * (1 + weights.coverage * ofName);
  const name = toolAt(index, tool).definition.name;
  // Far down by its words, it was found for what was learned alone: then its words counted nothing.
  const groups = worded === 0 ? [] : asked.plan.groups;
  return {
    words: groups
      .map((group) => findWords(index, group, tool))
      .filter((found) => found !== undefined)
      .map((found) => toWordShare(found, asked.words, shareOf))
      .toSorted((one, other) => other.share - one.share),
    phrases: worded === 0 ? [] : phraseShares(asked, tool, shareOf),
    coverage: { ofName, share: shareOf(covered - worded) },
    intent: {
      asked: [...asked.purposes],
      does: asked.purposes.size > 0 ? (purposes.ofName(name) ?? null) : null,
      share: shareOf(refined - covered),
    },
    serverFit: { share: shareOf(fitted - refined) },
    learned: { likeness: asked.learned.get(tool)?.likeness ?? 0, share: shareOf(score - fitted) },
  };
}

function toWordShare(found: FoundWords, words: QueryWords, shareOf: (value: number) => number): WordShare {
  return {
    asked: words.of(found.stem),
    share: shareOf(found.value),
    found: found.members
      .map(({ value, ...word }) => ({ ...word, share: shareOf(value) }))
      .toSorted((one, other) => other.share - one.share),
  };
}

function phraseShares(
  { phrases, words }: Asked,
  tool: number,
  shareOf: (value: number) => number,
): readonly PhraseShare[] {
  return phrases.flatMap(({ left, right, value, shares }) => {
    const share = shares.get(tool);
    if (share === undefined) return [];
    const where = share === 1 ? "name" : "text";
    return [{ asked: `${words.of(left)} ${words.of(right)}`, where, share: shareOf(share * value) } as const];
  });
}

/** What one word of the query found in a tool. */
interface FoundWords {
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
function findWords(index: SearchIndex, group: Group, tool: number): FoundWords | undefined {
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

import { createSizedCache, type SizedCache } from "../../../kernel/runtime/sized-cache.ts";
import type { Language } from "../language.ts";
import type { SearchIndex } from "../index/merge.ts";
import { joinNeighbours, toProseWords } from "../language/words.ts";

/** One word of the query with everything that may stand for it. */
export interface Group {
  readonly stem: string;
  /** 1, less for conversational words and numbers. */
  readonly weight: number;
  /** What a full match of the word itself would count, or of what comes nearest where the catalog lacks it. */
  readonly full: number;
  /** Companions last. */
  readonly members: readonly Member[];
  /** Those that are worth looking up. */
  readonly scored: readonly Member[];
}

export interface Member {
  readonly stem: string;
  /** Global number in the index. */
  readonly term: number;
  /** 1 for the word itself. */
  readonly weight: number;
  readonly rarity: number;
  /** Whether it counts only where another member of its group is found: the second word of a name says little alone. */
  readonly isCompanion?: boolean;
}

export interface QueryPlan {
  readonly stems: readonly string[];
  /** Words that no tool knows, under no name, have no members. */
  readonly groups: readonly Group[];
  /** False when the query has nothing but stopwords, and was searched for those. */
  readonly isTelling: boolean;
}

/** Words of a query that are looked at: what follows adds time, not meaning. */
const wordLimit = 120;
/** Known words that may stand for a misspelt one. */
const typoLimit = 4;

export function planQuery(index: SearchIndex, query: string): QueryPlan {
  const words = toProseWords(query);
  const telling = planWords(
    index,
    words.filter((word) => !index.language.isStopword(word)),
  );
  // "What can you do?" has stopwords only: better than nothing.
  if (telling.groups.some((group) => group.members.length > 0)) return { ...telling, isTelling: true };
  return { ...planWords(index, words), isTelling: false };
}

function planWords(index: SearchIndex, allWords: readonly string[]): Omit<QueryPlan, "isTelling"> {
  const { language } = index;
  const thesaurus = language.thesaurus();
  const words = allWords.slice(0, wordLimit);
  const stems = words.map(language.stem);
  const joined = joinNeighbours(words)
    .map(language.stem)
    .filter((stem) => index.terms.has(stem) || thesaurus.has(stem));
  const groups = [...new Set([...stems, ...joined])].map((stem) => groupOf(index, stem));
  return { stems, groups };
}

/** What an index remembers of words that were asked for, a thousand of them: people ask in the same words. */
const groupBytes = 1_048_576;
/** What remembering one word takes, and each word of the index that is like it, about. */
const groupBytesOfOne = 800;
const memberBytes = 150;

/** What an index remembers of one word, about. */
export function bytesOfGroup({ members }: Group): number {
  return groupBytesOfOne + memberBytes * members.length;
}

const groupsOf = new WeakMap<SearchIndex, SizedCache<string, Group>>();

function groupOf(index: SearchIndex, stem: string): Group {
  let groups = groupsOf.get(index);
  if (groups === undefined) groupsOf.set(index, (groups = createSizedCache(groupBytes)));
  let group = groups.get(stem);
  if (group === undefined) {
    group = toGroup(index, stem);
    groups.set(stem, group, bytesOfGroup(group));
  }
  return group;
}

function toGroup(index: SearchIndex, stem: string): Group {
  const members = membersOf(index, stem);
  const weight = wordWeight(stem, index.language);
  const strongest = members.reduce((most, member) => Math.max(most, member.weight * member.rarity), 0);
  // Itself, or a word that means the same; else the best of what only hints at it.
  const full = members[0]?.weight === 1 ? members[0].rarity : strongest;
  const worth = { weight, full: weight * full };
  // Written out: a spread makes a hidden class of its own for each.
  return { stem, weight, members, full: worth.full, scored: members.filter((member) => isWorth(member, worth)) };
}

/** A related word that half of all tools have takes longest to look up and changes nothing. */
function isWorth(member: Member, { weight, full }: Pick<Group, "weight" | "full">): boolean {
  return member.weight === 1 || member.weight * member.rarity * weight >= leastShare * full;
}
const leastShare = 0.1;

function wordWeight(stem: string, language: Language): number {
  if (/^\p{N}+$/u.test(stem)) return language.weights.number;
  return language.isFiller(stem) ? language.weights.filler : 1;
}

function membersOf(index: SearchIndex, stem: string): Member[] {
  const { weights } = index.language;
  const thesaurus = index.language.thesaurus();
  const literal = toMember(index, stem, 1);
  const cap = literal?.rarity ?? Number.POSITIVE_INFINITY;
  const members = literal === undefined ? [] : [literal];
  const add = (other: string, weight: number, isCompanion: boolean): void => {
    const member = toMember(index, other, literal === undefined ? weight ** weights.unknownPower : weight);
    // A synonym says no more than the word itself would.
    if (member !== undefined) members.push({ ...member, rarity: Math.min(cap, member.rarity), isCompanion });
  };
  const synonyms = thesaurus.synonyms(stem);
  for (const [other, weight] of synonyms) add(other, weight, false);
  const hints = thesaurus.hints(stem);
  if (hints !== undefined) {
    const leads = new Set(hints.names.map((name) => rarestOf(index, name)));
    const companions = new Set(hints.names.flat().filter((other) => !leads.has(other)));
    for (const [others, isCompanion] of [
      [leads, false],
      [companions, true],
    ] as const)
      for (const other of others) if (other !== stem && !synonyms.has(other)) add(other, hints.weight, isCompanion);
  }
  return members.length > 0 ? members : misspelt(index, stem);
}

/** The word of a name that tells most about which tools it names, here. */
function rarestOf(index: SearchIndex, name: readonly string[]): string {
  const rarity = (stem: string): number => index.rarity[index.terms.get(stem) ?? -1] ?? -1;
  return name.reduce((best, stem) => (rarity(stem) > rarity(best) ? stem : best), name[0] ?? "");
}

function toMember(index: SearchIndex, stem: string, weight: number): Member | undefined {
  const term = index.terms.get(stem);
  return term === undefined ? undefined : { stem, term, weight, rarity: index.rarity[term] as number };
}

function misspelt(index: SearchIndex, stem: string): Member[] {
  const { typo, typoLeast } = index.language.weights;
  return index
    .spelling()
    .similar(stem, typoLimit, typoLeast)
    .map(({ stem: known, term, dice }) => ({
      stem: known,
      term,
      weight: typo * dice,
      rarity: index.rarity[term] as number,
    }));
}

/** How a query wrote the words whose stems it was searched by. */
export interface QueryWords {
  /** Two neighbours with a space between them where they were read as one word. */
  of(stem: string): string;
}

/** Reads a query as the ranker does, with and without its stopwords. The first word of a stem is kept. */
export function queryWords(language: Language, query: string): QueryWords {
  const all = toProseWords(query);
  const written = new Map<string, string>();
  const note = (stem: string, word: string): void => {
    if (!written.has(stem)) written.set(stem, word);
  };
  for (const words of [all.filter((word) => !language.isStopword(word)), all]) {
    for (const word of words) note(language.stem(word), word);
    for (const [at, joined] of joinNeighbours(words).entries())
      note(language.stem(joined), `${words[at]} ${words[at + 1]}`);
  }
  return { of: (stem) => written.get(stem) ?? stem };
}

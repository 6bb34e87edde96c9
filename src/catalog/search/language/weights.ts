import type { FieldName } from "./fields.ts";

/** What past queries add, both in proportion to the best score by words. */
export interface LearnedWeights {
  /** For a similar query: x what the likeness is above `floor` x its share of what all of them are above it. */
  readonly likeness: number;
  readonly floor: number;
  /** For the words of all queries that led to a tool: x how likely it is that the query is about this one. */
  readonly words: number;
  /** Words that speak less for a tool than this count nothing: 19 is twenty times as likely. */
  readonly leastOdds: number;
}

/** Every number that the ranking has. docs/search.md explains them and says what was measured. */
export interface RankingWeights {
  /** BM25F saturation: how soon a second mention stops counting. */
  readonly k1: number;
  /** Per field: weight, and how strongly a long field is discounted (0 not at all, 1 fully). */
  readonly fields: Readonly<Record<FieldName, FieldWeight>>;
  /** Words of a tool's phrases above which each says less, whatever other tools have; fewer words say no more. */
  readonly phraseWords: number;
  /**
   * What a related word or a hint counts in phrases, in place of 1. At most 1: bounds of parts are made without it.
   */
  readonly relatedInPhrases: number;
  readonly learned: LearnedWeights;
  /** Exponent of inverse frequency: below 1, one rare word counts less against several common ones. */
  readonly rarityPower: number;
  /** A small catalog judges rarity as if it had so many average tools more. */
  readonly commonTools: number;
  /** What an equivalent, a related word, and a hint count beside the word itself. */
  readonly strong: number;
  readonly weak: number;
  readonly hint: number;
  /**
   * A word that hints at more stems than this says less about each: times (this / stems) to the power of
   * `hintSpread`.
   */
  readonly hintTargets: number;
  readonly hintSpread: number;
  /** Exponent on those three when no tool has the word itself: below 1, they count more. */
  readonly unknownPower: number;
  /** How much of what further members of a group say is added to the best one. */
  readonly also: number;
  /** A misspelt word counts this times its similarity to the known one, which must be `typoLeast` or more. */
  readonly typo: number;
  readonly typoLeast: number;
  /**
   * Added, times ln(1 + N / df), when neighbours of the query are neighbours in the name (half in description and
   * server).
   */
  readonly phrase: number;
  /** Up to this share more for a tool whose whole name the query covers. */
  readonly coverage: number;
  /** This share less for a tool that does something else (creates, changes, deletes, reads) than the query asks. */
  readonly purpose: number;
  /** Up to this share more for tools of the server that fits best. */
  readonly serverFit: number;
  /** What conversational words and numbers count. */
  readonly filler: number;
  readonly number: number;
}

export interface FieldWeight {
  readonly weight: number;
  readonly b: number;
}

export const rankingWeights: RankingWeights = Object.freeze({
  k1: 1,
  fields: Object.freeze({
    name: { weight: 3, b: 0.6 },
    title: { weight: 2, b: 0.5 },
    server: { weight: 4, b: 0.3 },
    description: { weight: 1, b: 0.5 },
    about: { weight: 0.6, b: 0.5 },
    parameters: { weight: 0.6, b: 0.6 },
    parameterTexts: { weight: 0.4, b: 0.4 },
    enums: { weight: 0.5, b: 0.6 },
    joined: { weight: 1.2, b: 0.6 },
    phrases: { weight: 0.75, b: 0.7 },
  }),
  phraseWords: 12,
  relatedInPhrases: 0.5,
  learned: Object.freeze({ likeness: 3, floor: 0.3, words: 0.2, leastOdds: 19 }),
  rarityPower: 0.9,
  commonTools: 300,
  strong: 1,
  weak: 0.5,
  hint: 0.5,
  hintTargets: 8,
  hintSpread: 0.3,
  unknownPower: 0.7,
  also: 0.5,
  typo: 0.3,
  typoLeast: 0.55,
  phrase: 0.3,
  coverage: 0.6,
  purpose: 0.15,
  serverFit: 0.1,
  filler: 0.6,
  number: 0.4,
});

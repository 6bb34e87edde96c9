/** How sure an answer is that one of its tools does what was asked. */
export type Match = "good" | "weak" | "none";

export interface ConfidenceWeights {
  /** Logistic regression: bias, and what each of the two signals of `confidence.ts` counts. */
  readonly bias: number;
  readonly strength: number;
  readonly literal: number;
  /** Confidence below which nothing fits, and from which something does. */
  readonly weakFrom: number;
  readonly goodFrom: number;
  /** Share of all tools that is taken to have a word that neither this catalog nor `common-words.ts` has. */
  readonly unknownCommonness: number;
}

/**
 * Made by `npm run bench bench/retrieval/answerable.ts`, which prints this row: fitted on one half of the questions,
 * with five corpora whole and in pieces of 20 to 400 tools, real MCP servers counting twice; judged on the other half.
 * docs/search.md has the figures.
 */
export const confidenceWeights: ConfidenceWeights = Object.freeze({
  bias: -2.62,
  strength: 0.45,
  literal: 1.96,
  weakFrom: 0.19,
  goodFrom: 0.52,
  unknownCommonness: 0.003,
});

import type { FieldName } from "../language/fields.ts";
import type { Ranking, ScoredTool } from "../rank.ts";
import type { Purpose } from "../language/verb-purpose.ts";

/** Why a tool was found for a word: by the word itself, or by one that it may stand for. */
export type Relation = "word" | "synonym" | "hint" | "spelling";

/** A word of a tool that a word of the query was found in, or stood for. */
export interface FoundWord {
  /** As the tool writes it; a stem where no text of the tool has it, which is so for words of phrases. */
  readonly word: string;
  readonly relation: Relation;
  /** Where the tool has it, what counted most first. */
  readonly fields: readonly FieldName[];
  /** Share of the tool's score. */
  readonly share: number;
}

/** What one word of the query, or two neighbours that were read as one word, did for a tool. */
export interface WordShare {
  /** As the query has it. */
  readonly asked: string;
  readonly share: number;
  /** What counted most first. */
  readonly found: readonly FoundWord[];
}

/** Two neighbours of the query that are neighbours in the tool, too. */
export interface PhraseShare {
  readonly asked: string;
  readonly where: "name" | "text";
  readonly share: number;
}

/**
 * Where a tool's score comes from. All shares are parts of that score and add up to 1: those of words and phrases, and
 * what follows from the tool's name, its purpose, its server and past use.
 */
export interface Explanation {
  /** What counted most first. */
  readonly words: readonly WordShare[];
  readonly phrases: readonly PhraseShare[];
  readonly coverage: {
    /** How much of the tool's name the query has or means: 0 to 1. */
    readonly ofName: number;
    readonly share: number;
  };
  readonly intent: {
    /** What the query asks to be done; empty where it does not say. */
    readonly asked: readonly Purpose[];
    /** What the tool does by its name; null where that is not known or was not looked at. */
    readonly does: Purpose | null;
    /** Below 0 where the tool does something other than the query asks. */
    readonly share: number;
  };
  /** For a server whose tools fit the query well. */
  readonly serverFit: { readonly share: number };
  /** For queries like this one that led to the tool before; `likeness` is that of the most similar, 0 to 1. */
  readonly learned: { readonly likeness: number; readonly share: number };
}

export interface ExplainedTool extends ScoredTool {
  readonly explanation: Explanation;
}

/** A ranking with the reasons for it. */
export interface ExplainedRanking extends Ranking {
  readonly tools: readonly ExplainedTool[];
}

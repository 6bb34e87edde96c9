import actions from "../words/actions.txt";
import commonWords from "../words/common-words.txt";
import fillers from "../words/fillers.txt";
import hintsFields from "../words/hints-fields.txt";
import hintsLife from "../words/hints-life.txt";
import hintsOffice from "../words/hints-office.txt";
import hintsPlatforms from "../words/hints-platforms.txt";
import hintsServers from "../words/hints-servers.txt";
import hintsServices from "../words/hints-services.txt";
import hintsSoftware from "../words/hints-software.txt";
import stopwords from "../words/stopwords.txt";
import synonymsStrong from "../words/synonyms-strong.txt";
import synonymsWeak from "../words/synonyms-weak.txt";
import wordForms from "../words/word-forms.txt";
import wordLanguages from "../words/word-languages.txt";

/** Every list of words, as its file has it; `words/README.md` explains the four notations. */
export const wordLists = Object.freeze({
  strong: [wordForms, wordLanguages, synonymsStrong],
  weak: [synonymsWeak],
  hints: [hintsFields, hintsPlatforms, hintsSoftware, hintsOffice, hintsLife, hintsServers, hintsServices],
  stopwords: [stopwords],
  fillers: [fillers],
  actions: [actions],
  frequencies: [commonWords],
} satisfies Record<string, readonly string[]>);

export type WordLists = { readonly [Kind in keyof typeof wordLists]: readonly string[] };

/**
 * Share of all the world's tools that mention a stem, for the stems that are common. A small catalog knows too little
 * of which words are rare, and borrows it from here.
 */
export function commonWordShares(): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  let share = 0;
  for (const entry of linesOf(wordLists.frequencies).flatMap((line) => line.split(" "))) {
    const [before = "", after] = entry.split(":");
    if (after !== undefined) share = Number(before) / 1000;
    shares.set(after ?? before, share);
  }
  return shares;
}

/** The lines of lists that say something, in order. */
export function linesOf(lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#")));
}

/** The words of lists in the notation `words`. */
export function wordsOf(lists: readonly string[]): string[] {
  return linesOf(lists).flatMap((line) => line.split(" "));
}

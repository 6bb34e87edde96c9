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

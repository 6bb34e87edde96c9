import type { ToolEntry } from "../../model/snapshot.ts";
import { wordsOf } from "./word-lists.ts";
import { toWholeWords } from "./words.ts";
import actions from "../words/actions.txt";
import fillers from "../words/fillers.txt";
import stopwords from "../words/stopwords.txt";

/** Words that are kept of one server. */
export const subjectLimit = 8;
/**
 * Limits of the text read: a server with more tools is known by the first ones, and a description by its beginning. In
 * characters.
 */
const nameLimit = 1_000;
const nameLength = 128;
const descriptionLimit = 40;
const descriptionLength = 160;
/** With fewer tools, a word of one description is the best there is; with more, it is chance. */
const fewTools = 3;
/** A longer word is a name without separators, a key or noise; a shorter one of Latin letters is an abbreviation. */
const longestWord = 20;
const shortestWord = 3;

const asciiWord = /^[a-z0-9]+$/;
const latinWord = /^[\p{Script=Latin}\p{N}]+$/u;
/** No script writes three marks above each other. */
const heapedMarks = /\p{M}{3}/u;

const plainInNames: ReadonlySet<string> = new Set(wordsOf([actions, stopwords]));
const plainInDescriptions: ReadonlySet<string> = new Set([...plainInNames, ...wordsOf([fillers])]);

const none: readonly string[] = Object.freeze([]);
/** A server's list of tools is one object for as long as it stays the same, for all principals. */
const known = new WeakMap<readonly ToolEntry[], readonly string[]>();

/**
 * What a server's tools are about, most telling word first: the nouns of their names, by the number of tools that have
 * them, then by the number of descriptions; after them those of descriptions alone. Not the words of the server's own
 * name. Single words of letters and digits in lower case: nothing else of a server's texts gets through. The same for
 * the same tools in any order. Linear in the number of tools.
 */
export function subjectsOf(tools: readonly ToolEntry[]): readonly string[] {
  if (tools.length === 0) return none;
  let subjects = known.get(tools);
  if (subjects === undefined) known.set(tools, (subjects = Object.freeze(readSubjects(tools))));
  return subjects;
}

function readSubjects(tools: readonly ToolEntry[]): string[] {
  // The words of its name are said anyway.
  const own = new Set(toWholeWords(tools[0]?.server ?? "").map(singular));
  const inNames = createCounts(plainInNames);
  const inDescriptions = createCounts(plainInDescriptions);
  for (const { definition } of tools.slice(0, nameLimit)) inNames.add(definition.name.slice(0, nameLength));
  // Descriptions are a hundred times as long, and are read only where names leave it open.
  const open = inNames.several() < subjectLimit ? tools.slice(0, descriptionLimit) : [];
  for (const { definition } of open) inDescriptions.add((definition.description ?? "").slice(0, descriptionLength));
  const rank = (word: string): readonly [number, number] => [inNames.of(word), inDescriptions.of(word)];
  return [...new Set([...inNames.words(), ...inDescriptions.words()])]
    .filter((word) => !own.has(word))
    .map((word) => ({ word, rank: rank(word) }))
    .filter(({ rank: [names, texts] }) => names > 0 || texts > 1 || tools.length < fewTools)
    .toSorted(
      (one, two) =>
        // Words not by locale: the same on every machine.
        two.rank[0] - one.rank[0] || two.rank[1] - one.rank[1] || (one.word < two.word ? -1 : 1),
    )
    .slice(0, subjectLimit)
    .map(({ word }) => word);
}

/** Of each telling word, the number of texts that have it. */
function createCounts(plain: ReadonlySet<string>) {
  /** Of each word as it is written; undefined for one that tells nothing. */
  const forms = new Map<string, string | undefined>();
  const counts = new Map<string, number>();
  return {
    add(text: string): void {
      const found = new Set<string>();
      for (const word of toWholeWords(text)) {
        if (!forms.has(word)) forms.set(word, isTelling(word, plain) ? singular(word) : undefined);
        const form = forms.get(word);
        if (form !== undefined) found.add(form);
      }
      for (const form of found) counts.set(form, (counts.get(form) ?? 0) + 1);
    },
    of: (word: string): number => counts.get(word) ?? 0,
    words: () => counts.keys(),
    /** Words of several texts. */
    several: () => [...counts.values()].filter((count) => count > 1).length,
  };
}

function isTelling(word: string, plain: ReadonlySet<string>): boolean {
  if (word.length > longestWord || plain.has(word)) return false;
  // Nearly no word needs a class of Unicode, which is compiled when it is first used.
  const isAscii = asciiWord.test(word);
  if (word.length < shortestWord && (isAscii || latinWord.test(word))) return false;
  if (!isAscii && heapedMarks.test(word)) return false;
  return !plain.has(singular(word)) && !baseForms(word).some((form) => plain.has(form));
}

const notPlural = ["as", "is", "us", "ss", "news", "series"];
const pluralInEs = ["ches", "shes", "sses", "xes", "zzes"];

/** Good enough to count `issues` with `issue`: a word that is no plural may lose its end, but never becomes another. */
function singular(word: string): string {
  if (word.length < 4 || !word.endsWith("s") || notPlural.some((end) => word.endsWith(end))) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return pluralInEs.some((end) => word.endsWith(end)) ? word.slice(0, -2) : word.slice(0, -1);
}

const verbEndings = ["ing", "ed", "es"];

/** What a verb with an ending may be a form of: `creating` and `created` of `create`. */
function baseForms(word: string): readonly string[] {
  const ending = verbEndings.find((end) => word.endsWith(end));
  if (ending === undefined || word.length < ending.length + 2) return [];
  const stem = word.slice(0, -ending.length);
  // `created`, `listed`, `planned`.
  return [`${stem}e`, stem, stem.slice(0, -1)];
}

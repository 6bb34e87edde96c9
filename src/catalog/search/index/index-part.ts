import type { InstanceCatalog, ToolEntry } from "../../model/snapshot.ts";
import { field, serverTexts } from "../language/fields.ts";
import type { Language } from "../language.ts";
import { phrasesFrom, type PhrasesOf } from "../language/phrase-book.ts";
import type { Postings } from "./postings.ts";
import type { StemList } from "../language/stem-table.ts";

/**
 * The index of one instance's tools. Immutable and independent of every other instance: what depends on the whole
 * catalog (document frequencies, average lengths) is added up when parts are merged.
 */
export interface IndexPart extends Postings {
  readonly tools: readonly ToolEntry[];
  /** Whether the part before it, in every index, is of the same server: a large one is indexed in pieces. */
  readonly isContinued: boolean;
}

/** The indexed properties of a server, beside its tools. */
export type IndexedServer = Pick<InstanceCatalog, "server" | "serverTitle" | "serverInfo" | "instructions">;

/**
 * Tools in one piece: half a millisecond, so that a server of any size is indexed between other work, and few enough
 * that what the best of them could score says something of the others (`promising-parts.ts`).
 */
const pieceSize = 16;

/** Indexes one instance, about 0.02 ms and 2 KB per tool, piece by piece. */
export function* buildIndexParts(
  source: InstanceCatalog,
  language: Language,
  phrasesOf?: PhrasesOf,
): Generator<IndexPart> {
  for (let from = 0; from === 0 || from < source.tools.length; from += pieceSize)
    yield buildIndexPart(source, language, { phrasesOf, from, to: from + pieceSize });
}

export interface IndexPartOptions {
  /** What people say for a tool; what a definition itself has of that when left out. */
  readonly phrasesOf?: PhrasesOf | undefined;
  /** The tools from here up to, and without, `to`: all of them when left out. */
  readonly from?: number;
  readonly to?: number;
}

/** Indexes the tools of one instance, or some of them. Pure but for the language's memory of stems. */
export function buildIndexPart(
  source: IndexedServer & Pick<InstanceCatalog, "tools">,
  language: Language,
  { phrasesOf = phrasesFrom(undefined), from = 0, to = source.tools.length }: IndexPartOptions = {},
): IndexPart {
  // A copy: an index must not keep the list itself, whose end tells that the index is of no more use.
  const part = { ...source, tools: source.tools.slice(from, to) };
  const postings = language.postings();
  postings.begin(part.tools.length);
  const texts = serverTexts(part);
  const read = (use: string, text: string): StemList => {
    const list = postings.list(use);
    postings.stems.telling(text, list);
    return list;
  };
  const server = read("server", texts.server);
  const about = read("about", texts.about);
  for (const [tool, entry] of part.tools.entries()) {
    const words = language.readTool(entry);
    postings.add(tool, field.name, words.name);
    postings.add(tool, field.title, words.title);
    postings.add(tool, field.description, words.description);
    postings.add(tool, field.parameters, words.parameters);
    postings.add(tool, field.parameterTexts, words.parameterTexts);
    postings.add(tool, field.enums, words.enums);
    postings.add(tool, field.joined, words.joined);
    postings.add(tool, field.server, server);
    postings.add(tool, field.about, about);
    // Last of a tool: a word that it has nowhere else does not count in the word's frequency.
    const phrases = postings.list("phrases");
    for (const phrase of phrasesOf(entry)) postings.stems.telling(phrase, phrases);
    postings.add(tool, field.phrases, phrases);
    postings.follow(words.name);
    postings.follow(words.description);
  }
  postings.follow(server);
  return { ...postings.finish(), tools: part.tools, isContinued: from > 0 };
}

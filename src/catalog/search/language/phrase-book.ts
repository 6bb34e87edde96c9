import { hash } from "node:crypto";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { phrasesIn } from "../../../kernel/call/tool-phrases.ts";
import type { ToolEntry } from "../../model/snapshot.ts";

/** What people say when they need a tool; empty when none are written. */
export type PhrasesOf = (tool: ToolEntry) => readonly string[];

/** Phrases for the tools of servers in wide use, each for one definition of one tool. */
export interface PhraseBook {
  /** Undefined when the book has none for a tool of that name whose texts are these. */
  find(tool: ToolEntry): readonly string[] | undefined;
  readonly size: number;
}

/** One line of a book. `phrases/README.md` explains the notation. */
export interface BookLine {
  /** Of the definitions that the phrases fit: releases of a server say the same in other words. */
  readonly keys: readonly string[];
  readonly name: string;
  readonly phrases: readonly string[];
}

const line = /^([0-9a-f]{12}(?:,[0-9a-f]{12})*|-) (\S+): (.+)$/;

/**
 * The lines of a book that say something. Throws on one that is in no notation.
 *
 * @internal for tests and benchmarks
 */
export function readBook(text: string): BookLine[] {
  return text.split("\n").flatMap((written) => (isSilent(written) ? [] : [readLine(written)]));
}

function isSilent(written: string): boolean {
  return written === "" || written.startsWith("#");
}

function readLine(written: string): BookLine {
  const [, keys, name, phrases] = line.exec(written) ?? [];
  if (keys === undefined || name === undefined || phrases === undefined)
    throw new Error(`no line of a phrase book: ${written}`);
  return { keys: keys.split(","), name, phrases: phrases.split(" | ") };
}

/** Kept as the text that it is, 0.1 KB per tool: a catalog has few of its tools. Throws like {@link readBook}. */
export function createPhraseBook(texts: readonly string[]): PhraseBook {
  const byName = new Map<string, string>();
  let size = 0;
  for (const text of texts) {
    for (const written of text.split("\n")) {
      if (isSilent(written)) continue;
      const name = readLine(written).name;
      const others = byName.get(name);
      byName.set(name, others === undefined ? written : `${others}\n${written}`);
      size += 1;
    }
  }
  return {
    size,
    find(tool) {
      // Most tools of most catalogs are in no book: only a name that is costs a hash.
      const lines = byName.get(tool.upstreamName);
      if (lines === undefined) return undefined;
      const key = phraseKey(tool);
      const fitting = lines.split("\n").filter((written) => written.includes(key));
      return fitting.map(readLine).find(({ keys }) => keys.includes(key))?.phrases;
    },
  };
}

/**
 * What phrases are written from, as 12 hexadecimal digits: the server's own name of the tool, its title (or
 * the one in its annotations, where older servers have it) and description, and the names of its parameters. Another
 * wording may mean something else; another order of parameters, or a new limit of one of them, does not.
 */
export function phraseKey({ upstreamName, definition }: Pick<ToolEntry, "upstreamName" | "definition">): string {
  const { annotations, description = "", inputSchema } = definition;
  const title = definition.title ?? annotations?.title ?? "";
  const properties = inputSchema["properties"];
  const parameters = isJsonObject(properties) ? Object.keys(properties).sort() : [];
  const texts = JSON.stringify([upstreamName, title, description, parameters]);
  return hash("sha256", texts, "hex").slice(0, 12);
}

/** Who wrote the phrases of a tool that count: its definition, the book, or a model here. */
export type PhraseSource = "definition" | "book" | "enrich";

/** Whose phrases {@link phrasesFrom} finds for a tool; undefined when there are none. */
export function phraseSourceFrom(book: PhraseBook, written?: PhrasesOf): (tool: ToolEntry) => PhraseSource | undefined {
  return (tool) => {
    const own = phrasesIn(tool.definition);
    if (own !== undefined) return own.length > 0 ? "definition" : undefined;
    if (book.find(tool) !== undefined) return "book";
    return (written?.(tool).length ?? 0) > 0 ? "enrich" : undefined;
  };
}

/**
 * The first source that has phrases: the configuration or the server, whose authors know best and may want none,
 * then the book, then what a model wrote here.
 */
export function phrasesFrom(book: PhraseBook | undefined, written?: PhrasesOf): PhrasesOf {
  return (tool) => phrasesIn(tool.definition) ?? book?.find(tool) ?? written?.(tool) ?? [];
}

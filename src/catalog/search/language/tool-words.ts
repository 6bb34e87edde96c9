import type { ToolEntry } from "../../model/snapshot.ts";
import { schemaTexts, toolTexts } from "./fields.ts";
import { grown, createStemList, pushStem, type StemList, type StemTable } from "./stem-table.ts";
import { joinNeighbours, toWords } from "./words.ts";

/** The stems of what a tool's definition says, field by field and in order. Valid until the next tool is read. */
export interface ToolWords {
  readonly name: StemList;
  readonly title: StemList;
  readonly description: StemList;
  readonly parameters: StemList;
  readonly parameterTexts: StemList;
  readonly enums: StemList;
  readonly joined: StemList;
}

/** Called between two `begin` of the postings that the stems are for: they may forget all stems there. */
export type ReadTool = (tool: Pick<ToolEntry, "definition" | "hash">) => ToolWords;

/** Numbers of stems that are remembered: of five thousand usual tools, in 2 MB; with 2 MB more for their hashes. */
const usualLimit = 2 ** 19 - 2 ** 13;
/** What remembering one tool takes beside its numbers, counted in these: its hash, and its entry in a map. */
const numbersOfHash = 32;

/**
 * Reads each definition once, by its hash: a server that teams have under many names, each with an account of its own,
 * says the same under each; and where one tool of a server has changed, the others have not.
 */
export function createToolReader(stems: StemTable, limit = usualLimit): ReadTool {
  const words = {
    name: createStemList(),
    title: createStemList(),
    description: createStemList(),
    parameters: createStemList(),
    parameterTexts: createStemList(),
    enums: createStemList(),
    joined: createStemList(),
  };
  const lists = Object.values(words);
  const known = new Map<string, number>();
  /** Of one tool after the other: the length of each list, and its numbers. */
  let memory = new Int32Array(1_024);
  let used = 0;
  /** Whose numbers they are. */
  let numbered = stems.stems;

  function forget(): void {
    known.clear();
    // The memory is kept: where all tools differ it is filled again and again.
    used = 0;
    numbered = stems.stems;
  }

  function remember(hash: string): void {
    known.set(hash, used);
    for (const { numbers, length } of lists) {
      while (used + length >= memory.length) memory = grown(memory);
      memory[used] = length;
      for (let at = 0; at < length; at += 1) memory[used + 1 + at] = numbers[at] as number;
      used += length + 1;
    }
  }

  function recall(from: number): void {
    let place = from;
    for (const list of lists) {
      list.length = 0;
      const end = place + 1 + (memory[place] as number);
      for (place += 1; place < end; place += 1) pushStem(list, memory[place] as number);
    }
  }

  function read(definition: ToolEntry["definition"]): void {
    for (const list of lists) list.length = 0;
    const { name, title, description } = toolTexts(definition);
    const schema = schemaTexts(definition.inputSchema);
    const named = toWords(name);
    for (const word of named) stems.word(word, words.name);
    for (const word of joinNeighbours(named)) stems.word(word, words.joined);
    stems.telling(title, words.title);
    stems.telling(description, words.description);
    stems.telling(schema.names, words.parameters);
    stems.telling(schema.descriptions, words.parameterTexts);
    stems.telling(schema.enums, words.enums);
  }

  return ({ definition, hash }) => {
    if (numbered !== stems.stems || used > limit || known.size * numbersOfHash > limit) forget();
    const place = known.get(hash);
    if (place === undefined) {
      read(definition);
      remember(hash);
    } else recall(place);
    return words;
  };
}

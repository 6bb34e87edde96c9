import { shells } from "./completion-scripts.ts";

/** A word that may come next. */
export interface CompletionChoice {
  readonly value: string;
  readonly about: string;
}

/** Facts about the servers that are known without asking any of them. */
export interface KnownTool {
  readonly path: string;
  readonly about: string;
  /** Names of its arguments. */
  readonly parameters: readonly string[];
}

/** Looked up only where names of servers or tools can come next. */
export interface KnownNames {
  readonly servers: () => Promise<readonly CompletionChoice[]>;
  readonly tools: () => Promise<readonly KnownTool[]>;
}

/** The words to complete, as they are in the table of commands: that one loads this. */
export type CommandTable = Readonly<
  Record<string, { readonly about: string; readonly options: Readonly<Record<string, TableOption>> }>
>;

interface TableOption {
  readonly short?: string | undefined;
  /** Absent where the option takes no value. */
  readonly word?: string | undefined;
  readonly about: string;
}

/** The words that may be at the cursor: those that begin with the typed text. */
export async function completionChoices(
  typed: TypedWords,
  known: KnownNames,
  commands: CommandTable,
): Promise<readonly CompletionChoice[]> {
  const found = await choicesFor(typed, known, commands);
  return found.filter(({ value }) => value.startsWith(typed.current) && value !== typed.current);
}

async function choicesFor(
  { before, current }: TypedWords,
  known: KnownNames,
  commands: CommandTable,
): Promise<readonly CompletionChoice[]> {
  const [first = ""] = before;
  const name = Object.hasOwn(commands, first) ? first : "serve";
  const options = optionsOf(commands[name]?.options ?? {});
  const last = options.find((option) => option.names.includes(before.at(-1) ?? ""));
  if (last?.takesValue === true) return last.names.includes("--server") ? await known.servers() : [];
  if (current.startsWith("-")) return options.map(({ names, about }) => ({ value: names[0] as string, about }));
  if (name !== first)
    return before.length > 0 ? [] : Object.entries(commands).map(([value, { about }]) => ({ value, about }));
  const words = positionals(before.slice(1), options);
  return await choicesOfWord(name, words, known);
}

type WordSource = (known: KnownNames) => Promise<readonly CompletionChoice[]>;

const serverNames: WordSource = async ({ servers }) => await servers();
const toolPaths: WordSource = async ({ tools }) => (await tools()).map(({ path, about }) => ({ value: path, about }));
const fixed =
  (values: readonly string[]): WordSource =>
  async () =>
    values.map((value) => ({ value, about: "" }));

/** The first word of commands that take one. */
const firstWords: Readonly<Record<string, WordSource>> = {
  call: toolPaths,
  show: toolPaths,
  tools: serverNames,
  resources: serverNames,
  prompts: serverNames,
  logs: serverNames,
  restart: serverNames,
  login: serverNames,
  logout: serverNames,
  completion: fixed(shells),
  audit: fixed(["verify", "export"]),
  token: fixed(["new"]),
};

async function choicesOfWord(
  command: string,
  words: readonly string[],
  known: KnownNames,
): Promise<readonly CompletionChoice[]> {
  const [path, ...given] = words;
  if (path === undefined) return (await firstWords[command]?.(known)) ?? [];
  if (command !== "call") return [];
  const tool = (await known.tools()).find((one) => one.path === path);
  const isGiven = (name: string): boolean =>
    given.some((word) => word.startsWith(`${name}=`) || word.startsWith(`${name}:=`));
  return (tool?.parameters ?? []).filter((name) => !isGiven(name)).map((name) => ({ value: `${name}=`, about: "" }));
}

interface KnownOption {
  /** The long one first. */
  readonly names: readonly string[];
  readonly takesValue: boolean;
  readonly about: string;
}

function optionsOf(options: Readonly<Record<string, TableOption>>): readonly KnownOption[] {
  return Object.entries(options).map(([long, { short, word, about }]) => ({
    names: [`--${long}`, ...(short === undefined ? [] : [`-${short}`])],
    takesValue: word !== undefined,
    about,
  }));
}

/** Words that are neither options nor their values. */
function positionals(words: readonly string[], options: readonly KnownOption[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    if (!word.startsWith("-") || word === "-") found.push(word);
    else if (options.some(({ names, takesValue }) => takesValue && names.includes(word))) at += 1;
  }
  return found;
}

/** A line of a shell that is still being typed. */
export interface TypedWords {
  readonly before: readonly string[];
  /** The word at the cursor; empty after a space. */
  readonly current: string;
}

/**
 * Splits a line as a shell does, as far as quotes and backslashes go: nothing is expanded and nothing run, unlike in
 * scripts that hand the line to `eval`.
 */
export function splitTyped(line: string): TypedWords {
  const words: string[] = [];
  let word = "";
  let isOpen = false;
  let quoted: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] as string;
    if (quoted !== undefined) {
      if (character === quoted) quoted = undefined;
      else if (character === "\\" && quoted === '"' && at + 1 < line.length) word += line[(at += 1)];
      else word += character;
    } else if (character === "'" || character === '"') {
      quoted = character;
      isOpen = true;
    } else if (character === "\\" && at + 1 < line.length) word += line[(at += 1)];
    else if (/\s/.test(character)) {
      if (word !== "" || isOpen) words.push(word);
      word = "";
      isOpen = false;
    } else word += character;
  }
  return { before: words, current: word };
}

/** What of a word a shell replaces that splits words at these characters: what follows the last of them. */
export function afterBreak(word: string, breaks: string): number {
  let last = 0;
  for (let at = 0; at < word.length; at += 1) if (breaks.includes(word[at] as string)) last = at + 1;
  return last;
}

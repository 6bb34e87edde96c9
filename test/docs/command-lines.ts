import { codeBlocks, codeSpans } from "../../scripts/site/markdown.mjs";
import type { Command } from "../../src/cli/command/command-row.ts";

/** A command as a page shows it. */
export interface ShownCommand {
  readonly words: readonly string[];
  readonly line: number;
}

/** Languages of blocks in which lines are commands; in transcripts only those behind a `$` are. */
const shells = new Set(["sh", "bash", "shell"]);
const transcripts = new Set(["", "text", "console"]);

/** Every command of a page: the lines of its shell blocks, what was typed in its transcripts, and code in sentences. */
export function shownCommands(page: string): readonly ShownCommand[] {
  const inBlocks = codeBlocks(page).flatMap(({ language, content, line }) => {
    const [name = ""] = language.split(" ");
    if (!shells.has(name) && !transcripts.has(name)) return [];
    return logicalLines(content).flatMap(({ text, offset }) => {
      const typed = shells.has(name) ? text : /^(?:\$ |(?= *toolyard ))(.*)$/.exec(text)?.[1];
      return typed === undefined ? [] : commandsOf(typed, line + 1 + offset);
    });
  });
  const inSentences = codeSpans(page).flatMap(({ content, line }) => commandsOf(content, line));
  return [...inBlocks, ...inSentences];
}

/** Lines whose ends are not escaped. */
function logicalLines(content: string): readonly { readonly text: string; readonly offset: number }[] {
  const lines: { text: string; offset: number }[] = [];
  let isOpen = false;
  for (const [offset, text] of content.split("\n").entries()) {
    const last = lines.at(-1);
    if (isOpen && last !== undefined) last.text = `${last.text.slice(0, -1)} ${text.trim()}`;
    else lines.push({ text, offset });
    isOpen = text.endsWith("\\");
  }
  return lines;
}

/** The commands of a line, which `&&`, `|` and `;` divide, without comments and without what redirects. */
function commandsOf(text: string, line: number): readonly ShownCommand[] {
  const commands: string[][] = [[]];
  for (const [, word = "", quoted = ""] of text.matchAll(
    /((?:\[[^\]\s]*\]|<[^>\s]*>|[^\s'"|&;#]|(?<=\S)#|"(?:[^"\\]|\\.)*"|'[^']*')+|[|&;]+)|(\s#.*|^#.*)/g,
  )) {
    if (quoted !== "") break;
    if (/^[|&;]+$/.test(word)) commands.push([]);
    else if (word !== "") commands.at(-1)?.push(word.replaceAll(/^(['"])([^]*)\1$/g, "$2"));
  }
  return commands.flatMap((words) => {
    const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
    // What stands in parentheses behind a command explains it.
    const end = words.findIndex((word) => word.startsWith("("));
    return start < 0 ? [] : [{ words: words.slice(start, end < 0 ? undefined : end), line }];
  });
}

/** The words behind our own command, however it is called; undefined for other commands. */
export function ownArguments(words: readonly string[]): readonly string[] | undefined {
  if (words[0] === "toolyard") return words.slice(1);
  if (words[0] === "node" && words[1]?.endsWith("dist/cli/main.js") === true) return words.slice(2);
  return undefined;
}

/** What is wrong with our command's arguments, by the table that parses them; undefined when nothing is. */
export function problemOfCommand(
  commands: Readonly<Record<string, Command>>,
  args: readonly string[],
): string | undefined {
  const [first = "", ...rest] = args;
  const isNamed = first !== "" && !first.startsWith("-");
  if (isNamed && isPlaceholder(first)) return undefined;
  const name = isNamed ? first : "serve";
  const command = commands[name];
  if (command === undefined) return `there is no command ${name}`;
  const given = (isNamed ? rest : args).slice(0, positionOfEnd(isNamed ? rest : args));
  const wrongOption = given.find((word) => word.startsWith("-") && word !== "-" && !isOption(command, word));
  if (wrongOption !== undefined) return `${name} has no option ${wrongOption}`;
  return problemOfAction(command, name, given);
}

/** A name in brackets or in capitals stands for any. */
function isPlaceholder(word: string): boolean {
  return /^<.*>$|^\[.*\]$|^[A-Z]+$|^…$/.test(word);
}

/** What stands behind `--` is another program's. */
function positionOfEnd(words: readonly string[]): number {
  const end = words.indexOf("--");
  return end < 0 ? words.length : end;
}

function isOption({ options }: Command, word: string): boolean {
  const [name = ""] = word.replace(/^-+/, "").split("=");
  if (["help", "h", "version", "v"].includes(name)) return true;
  if (word.startsWith("--")) return options[name] !== undefined;
  return Object.values(options).some(({ short }) => short === name);
}

/** Commands whose usage lists actions, such as `[verify|export]`, take one of these first. */
function problemOfAction({ usage, options }: Command, name: string, given: readonly string[]): string | undefined {
  const listed = [...usage.matchAll(/^ *toolyard \S+ \[?([a-z]+(?:\|[a-z]+)+)\]?(?: |$)/gm)].flatMap(([, words = ""]) =>
    words.split("|"),
  );
  // Some usages list what the word may name instead.
  if (listed.length === 0 || listed.includes("server")) return undefined;
  const takesValue = (word: string): boolean => word.startsWith("--") && options[word.slice(2)]?.word !== undefined;
  const action = given.find((word, at) => !word.startsWith("-") && !takesValue(given[at - 1] ?? ""));
  if (action === undefined || isPlaceholder(action) || action.split("|").every((one) => listed.includes(one)))
    return undefined;
  return `${name} cannot ${action}`;
}

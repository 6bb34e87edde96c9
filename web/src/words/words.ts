/** The words of a command line: quotes keep spaces, a backslash keeps the next character, as in a shell. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] as string;
    if (character === "\\" && quote !== "'" && at + 1 < line.length) word = (word ?? "") + (line[(at += 1)] as string);
    else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? "") + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  return word === undefined ? words : [...words, word];
}

/**
 * A text as one word of a shell's line, which the shell takes as it is. Servers write names and addresses: quotes and
 * `$(…)` in them must not end the word, and a line break must not run what was pasted so far.
 */
export function shellWord(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const visible = text.replaceAll(/[\u0000-\u001F\u007F-\u009F]/g, "");
  return `'${visible.replaceAll("'", String.raw`'\''`)}'`;
}

/** Options that stay empty are left out; those that are `true` stand alone. */
type Options = Readonly<Record<string, string | boolean | undefined>>;

/**
 * A command of ours, as somebody would type it: what servers and people named stays one word, and none of it becomes an
 * option, also where it begins with a hyphen.
 */
export function toCommand(name: string, given: readonly string[] = [], options: Options = {}): string {
  const named = given.filter((word) => word !== "");
  const end = named.some((word) => word.startsWith("-")) ? ["--"] : [];
  const chosen = Object.entries(options).flatMap(([option, value]) => {
    if (value === undefined || value === "" || value === false) return [];
    return value === true ? [`--${option}`] : [`--${option}=${shellWord(value)}`];
  });
  return ["toolyard", name, ...chosen, ...end, ...named.map(shellWord)].join(" ");
}

/** A set with one more or one less in it. */
export function withOr<One>(set: ReadonlySet<One>, one: One, isIn: boolean): ReadonlySet<One> {
  const next = new Set(set);
  if (isIn) next.add(one);
  else next.delete(one);
  return next;
}

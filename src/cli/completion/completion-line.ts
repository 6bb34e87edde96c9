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

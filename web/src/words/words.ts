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

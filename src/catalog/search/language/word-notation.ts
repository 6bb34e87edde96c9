/** The lines of lists that say something, in order. */
export function linesOf(lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#")));
}

/** The words of lists in the notation `words`. */
export function wordsOf(lists: readonly string[]): string[] {
  return linesOf(lists).flatMap((line) => line.split(" "));
}

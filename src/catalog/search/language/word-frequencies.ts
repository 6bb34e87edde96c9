import { wordLists } from "./word-lists.ts";
import { linesOf } from "./word-notation.ts";

/**
 * Share of all the world's tools that mention a stem, for the stems that are common. A small catalog knows too little
 * of which words are rare, and borrows it from here.
 */
export function commonWordShares(): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  let share = 0;
  for (const entry of linesOf(wordLists.frequencies).flatMap((line) => line.split(" "))) {
    const [before = "", after] = entry.split(":");
    if (after !== undefined) share = Number(before) / 1000;
    shares.set(after ?? before, share);
  }
  return shares;
}

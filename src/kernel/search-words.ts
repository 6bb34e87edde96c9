/** Of a kept search that was made again. */
export interface Placed {
  /** From 1; null where the tool was not among those that were looked through. */
  readonly rank: number | null;
  readonly rankNow: number | null;
  readonly toolExists: boolean;
}

export type Verdict = "as before" | "higher" | "lower" | "found again" | "not found any more" | "no such tool now";

/** Whether a search finds its tool where it found it when it was kept. */
export function verdictOf({ rank, rankNow, toolExists }: Placed): Verdict {
  if (!toolExists) return "no such tool now";
  if (rank === rankNow) return "as before";
  if (rankNow === null) return "not found any more";
  if (rank === null) return "found again";
  return rankNow < rank ? "higher" : "lower";
}

/** Whether somebody should look at it. */
export function isWorse(placed: Placed): boolean {
  return ["lower", "not found any more", "no such tool now"].includes(verdictOf(placed));
}

/** `number 3`. */
export function placeText(rank: number | null): string {
  return rank === null ? "not among the first 50" : `number ${rank}`;
}

/** Why it is unknown whether a tool exists. */
export const unseenText = "its server has not told what it offers";

/** What a search could not use this time, in words that the terminal and pages share: how its answer came about. */
export function degradedText(what: string): string {
  if (what === "embeddings") return "without embeddings, because they did not answer in time";
  return what === "indexing" ? "while some tools are still being indexed" : `without ${what}`;
}

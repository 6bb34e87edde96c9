/** What a search could not use this time, in words that the terminal and pages share: how its answer came about. */
export function degradedText(what: string): string {
  if (what === "embeddings") return "without embeddings, because they did not answer in time";
  return what === "indexing" ? "while some tools are still being indexed" : `without ${what}`;
}

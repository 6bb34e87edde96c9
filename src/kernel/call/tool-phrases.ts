import { isJsonObject, type JsonObject } from "../text/json-bytes.ts";

/** Where a tool's definition has what people say when they need it: an array of short texts. */
export const phrasesKey = "toolyard/phrases";

/** Phrases of one tool that count: three are usual, and no description needs more than a few. */
export const phraseLimit = 6;
/** Characters of a phrase that count: a short sentence. Longer text belongs in the description. */
export const phraseLengthLimit = 100;

/**
 * The phrases that a definition has in its `_meta`, cut to what counts; undefined when it says nothing about them. An
 * empty list says that there shall be none.
 */
export function phrasesIn(definition: JsonObject): readonly string[] | undefined {
  const meta = definition["_meta"];
  const given = isJsonObject(meta) ? meta[phrasesKey] : undefined;
  return Array.isArray(given) ? cutPhrases(given) : undefined;
}

/** The texts that are not blank, up to the limits of number and length. */
export function cutPhrases(given: readonly unknown[]): string[] {
  const phrases: string[] = [];
  for (const one of given) {
    if (phrases.length === phraseLimit) break;
    const phrase = typeof one === "string" ? one.trim().slice(0, phraseLengthLimit) : "";
    if (phrase !== "") phrases.push(phrase);
  }
  return phrases;
}

/** The same `_meta` without phrases, which are for the search alone. */
export function withoutPhrases(meta: JsonObject): JsonObject {
  if (!Object.hasOwn(meta, phrasesKey)) return meta;
  const { [phrasesKey]: _phrases, ...rest } = meta;
  return rest;
}

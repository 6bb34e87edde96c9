import { isJson } from "../../kernel/text/json-bytes.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { cutTexts } from "./peer-text.ts";

/** In a shorter one there is no text that has to be cut. */
const longestText = 16_384;

/**
 * The JSON text of a value without secrets. A secret may look like a number or a piece of JSON: when removing it from
 * the whole text leaves no JSON, it is removed from every text inside, one by one. Long texts in it are cut.
 */
export function toRedactedJson(value: object, redact: (text: string) => string): string {
  let text = stringifyExact(value);
  if (text.length > longestText) text = stringifyExact(cutTexts(value, redact));
  const clean = redact(text);
  if (clean === text || isJson(clean)) return clean;
  return stringifyExact(redactTexts(value, redact));
}

function redactTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), redactTexts(member, redact)]));
}

import { isJsonObject, isJson } from "../../kernel/text/json-bytes.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { cutTexts } from "./peer-text.ts";

/** The value with `redact` applied to every text in it, keys excepted. */
export function redactTexts<Value>(value: Value, redact: (text: string) => string): Value {
  return redacted(value, redact) as Value;
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  // In quotes it does not look like a line that was cut, whose end might be the beginning of a secret.
  if (typeof value === "string") return redact(`"${value}"`).slice(1, -1);
  if (Array.isArray(value)) return value.map((item: unknown) => redacted(item, redact));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, redacted(member, redact)]));
}

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
  return stringifyExact(redactNamesToo(value, redact));
}

function redactNamesToo(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactNamesToo(item, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact(name), redactNamesToo(member, redact)]),
  );
}

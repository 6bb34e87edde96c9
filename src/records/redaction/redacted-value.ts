import { isJsonObject } from "../../kernel/text/json-bytes.ts";

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

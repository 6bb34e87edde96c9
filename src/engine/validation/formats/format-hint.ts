import { fastFormats } from "ajv-formats/dist/formats.js";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { toDotted, quoted, shown } from "../wording.ts";

/** What each format asks for, with an example. */
const formats: Readonly<Record<string, string>> = Object.freeze({
  date: "a date such as 2026-01-01",
  time: "a time such as 10:00:00Z",
  "date-time": "a date-time such as 2026-01-01T10:00:00Z",
  duration: "a duration such as P1DT2H",
  uri: "a uri such as https://example.com/page",
  email: "an email such as jo@example.com",
  hostname: "a hostname such as example.com",
  ipv4: "an ipv4 such as 192.0.2.1",
  ipv6: "an ipv6 such as 2001:db8::1",
  uuid: "a uuid such as 550e8400-e29b-41d4-a716-446655440000",
  "json-pointer": "a json-pointer such as /items/0",
});

/** Only these are quoted: what else has a format may be a secret, such as a token. */
const quotable: readonly string[] = ["date", "time", "date-time", "duration"];

/** Longer texts count as well-formed, which keeps what little backtracking the expressions have small. */
const checkedLengthLimit = 4_096;
const problemLimit = 3;
/** Pairs of a schema and a value that are looked at; a refusal costs no more than this. */
const stepLimit = 2_000;
const depthLimit = 32;

/**
 * Which texts of a value do not have the format that its schema names, in words: at most three of them, one sentence
 * each. Undefined where there is none. `format` is an annotation, which servers read in different ways, so that this
 * explains a refusal and is no reason for one. Follows properties, items, combinations and references within the
 * schema. Never throws.
 */
export function formatHint(schema: JsonObject, value: unknown): string | undefined {
  const said: string[] = [];
  let steps = 0;

  function look(part: unknown, given: unknown, path: string, depth: number): void {
    steps += 1;
    if (!isJsonObject(part) || steps > stepLimit || depth > depthLimit || said.length >= problemLimit) return;
    const below = (inner: unknown, member: unknown, name: string | number): void =>
      look(inner, member, `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1);
    if (typeof given === "string") {
      const format = misfit(part, given, depth);
      if (format !== undefined) said.push(word(toDotted(path), format, given));
      return;
    }
    for (const inner of [resolve(part["$ref"]), ...partsOf(part)]) look(inner, given, path, depth + 1);
    if (Array.isArray(given)) {
      for (const [index, item] of given.slice(0, stepLimit).entries()) below(part["items"], item, index);
    } else if (isJsonObject(given)) {
      const { properties } = part;
      for (const [name, member] of Object.entries(given)) {
        const isNamed = isJsonObject(properties) && Object.hasOwn(properties, name);
        below(isNamed ? properties[name] : part["additionalProperties"], member, name);
      }
    }
  }

  /** The format that a text lacks. Among alternatives, one that takes the text is enough. */
  function misfit(part: unknown, text: string, depth: number): string | undefined {
    steps += 1;
    if (!isJsonObject(part) || steps > stepLimit || depth > depthLimit) return undefined;
    const { format, allOf } = part;
    if (typeof format === "string" && !hasFormat(format, text)) return format;
    const all = [resolve(part["$ref"]), ...(Array.isArray(allOf) ? (allOf as readonly unknown[]) : [])];
    for (const inner of all) {
      const lacking = misfit(inner, text, depth + 1);
      if (lacking !== undefined) return lacking;
    }
    for (const choices of [part["anyOf"], part["oneOf"]]) {
      if (!Array.isArray(choices)) continue;
      const lacking = choices.filter(mayBeText).map((choice) => misfit(choice, text, depth + 1));
      if (lacking.length > 0 && lacking.every((name) => name !== undefined)) return lacking[0];
    }
    return undefined;
  }

  function resolve(reference: unknown): unknown {
    if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
    let found: unknown = schema;
    for (const name of reference.slice(2).split("/"))
      found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    return found;
  }

  look(schema, value, "", 0);
  return said.length === 0 ? undefined : said.join(" ");
}

function partsOf(part: JsonObject): readonly unknown[] {
  return [part["allOf"], part["anyOf"], part["oneOf"]].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
}

function mayBeText(choice: unknown): boolean {
  if (!isJsonObject(choice)) return true;
  const { type } = choice;
  return type === undefined || type === "string" || (Array.isArray(type) && type.includes("string"));
}

/** The `fast` set takes linear time, and works without Ajv. */
function hasFormat(name: string, text: string): boolean {
  if (!Object.hasOwn(formats, name) || text.length > checkedLengthLimit) return true;
  const raw: unknown = fastFormats[name as keyof typeof fastFormats];
  const check: unknown = raw instanceof RegExp || !isJsonObject(raw) ? raw : raw["validate"];
  if (check instanceof RegExp) return check.test(text);
  return typeof check === "function" ? (check as (value: string) => boolean)(text) : true;
}

function word(path: string, format: string, text: string): string {
  const got = quotable.includes(format) ? `; got ${shown(text)}` : "";
  return `${path === "" ? "The value" : quoted(path)} should be ${formats[format] ?? format}${got}.`;
}

import { fastFormats } from "ajv-formats/dist/formats.js";

/**
 * The formats that are checked, with the type they apply to. All others are only annotations. Left out are `url` (its
 * expression takes polynomial time), `regex` (it compiles the value), and those that say nothing about the value.
 */
export const checkedFormats: Readonly<Record<string, "string" | "number">> = Object.freeze({
  date: "string",
  time: "string",
  "date-time": "string",
  "iso-time": "string",
  "iso-date-time": "string",
  duration: "string",
  uri: "string",
  "uri-reference": "string",
  email: "string",
  hostname: "string",
  ipv4: "string",
  ipv6: "string",
  uuid: "string",
  "json-pointer": "string",
  "relative-json-pointer": "string",
  int32: "number",
  int64: "number",
});

/**
 * Longer texts count as well-formed. No real value is that long, and the limit keeps what little backtracking there
 * is small.
 */
const checkedLengthLimit = 4_096;

export interface Format {
  validate(value: string | number): boolean;
}

/**
 * The expressions of ajv-formats, which work without Ajv. The `fast` set is used: it takes linear time, and is
 * lenient where servers are.
 */
export function loadFormats(): Readonly<Record<string, Format>> {
  const raws = fastFormats as Readonly<Record<string, RawFormat | undefined>>;
  const formats: Record<string, Format> = {};
  for (const name of Object.keys(checkedFormats)) {
    const raw = raws[name];
    if (raw !== undefined) formats[name] = { validate: withLengthLimit(toCheck(raw)) };
  }
  return formats;
}

type Check = (value: string | number) => boolean;
type RawFormat = RegExp | Check | { readonly validate: RegExp | Check };

function toCheck(raw: RawFormat): Check {
  if (typeof raw === "function") return raw;
  if (raw instanceof RegExp) return (value) => raw.test(String(value));
  return toCheck(raw.validate);
}

function withLengthLimit(check: Check): Check {
  return (value) => (typeof value === "string" && value.length > checkedLengthLimit) || check(value);
}

import { type JsonObject, isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { readSchema, type Shape } from "./signature-schema.ts";
import { printNames, printShape, styles, type Style } from "./signature-text.ts";
import { estimateTokens } from "./token-estimate.ts";
import { cutAtWord, plainDescription } from "./discover-description.ts";

export interface SignatureOptions {
  /**
   * Upper limit of the signature, in estimated o200k tokens. Default: 64. Required fields are kept even when they
   * exceed it, up to the bare minimum.
   */
  readonly maxTokens?: number;
}

export interface Signature {
  readonly text: string;
  /**
   * Whether the schema says more about the shape of the arguments than the text does: values, fields or nested
   * objects were left out.
   */
  readonly cut: boolean;
}

/**
 * A tool's inputSchema as a compact TypeScript-like type, e.g.
 * `{ owner: string; repo: string; labels?: string[]; state?: "open" | "closed" }`.
 *
 * Required fields stand before optional ones. Nested objects are opened one level deep, further down where every
 * field on the way is required. What does not fit is left out in this order: long lists of values and deep optional
 * objects, types of optional fields (`page?`), optional fields (`...`), required nested objects. Besides TypeScript's
 * words: `integer`, `string<date-time>` and other telling formats, and a comment `needs a or b` where a schema
 * requires one of several fields.
 *
 * Never throws, and takes bounded time on any schema (a budget of 2,000 nodes).
 */
export function toSignature(inputSchema: JsonObject, options: SignatureOptions = {}): Signature {
  return printWithin(readArguments(inputSchema), options.maxTokens ?? defaultTokens);
}

/** Arguments are always an object. A schema without any keyword allows every key. */
export function readArguments(inputSchema: JsonObject): Shape {
  let shape: Shape;
  try {
    shape = readSchema(inputSchema);
  } catch {
    // Values from JSON.parse never get here, but a caller's getter or proxy can throw. Then this tool goes
    // unexplained and the rest of the answer is kept.
    return { kind: "unread", text: "object" };
  }
  return shape.kind === "word" && shape.text === "unknown" ? anyArguments : shape;
}

const anyArguments: Shape = {
  kind: "object",
  fields: [],
  rest: { kind: "word", text: "unknown" },
  needs: [],
  partial: false,
};

const defaultTokens = 64;

/** No token is longer than this. Cuts the text of the last style where even the required fields are too long. */
const charactersPerToken = 12;

/**
 * What a tool's structured results hold, as it is written behind the signature of its arguments: ` -> { id, url }`, the
 * names of the fields alone, because types and nesting cost as much again and `detail: "schema"` has them. A kind of
 * value that is no object is one word or type. What does not fit into `maxTokens` is `...`. Empty without a schema.
 * Never throws.
 */
export function toOutputNote(outputSchema: JsonObject | undefined, maxTokens: number): string {
  if (outputSchema === undefined) return "";
  const shape = readArguments(outputSchema);
  const texts =
    shape.kind === "object"
      ? [8, 4, 2].map((count) => printNames(shape, count))
      : [printShape(shape, styles.at(-1) as Style).text];
  const text = texts.find((one) => estimateTokens(one) <= maxTokens) ?? "{ ... }";
  return ` -> ${text}`;
}

/** Prints a shape that was read before, in at most `maxTokens`. */
export function printWithin(shape: Shape, maxTokens: number): Signature {
  let smallest: Signature | undefined;
  for (const style of styles) {
    const signature = printShape(shape, style);
    if (estimateTokens(signature.text) <= maxTokens) return signature;
    if (smallest === undefined || signature.text.length < smallest.text.length) smallest = signature;
  }
  const limit = Math.max(maxTokens, defaultTokens) * charactersPerToken;
  if (smallest !== undefined && smallest.text.length <= limit) return smallest;
  return { text: "{ ... }", cut: true };
}

/** Parameters that are examined, and tokens that the note on one of them may cost. */
const parameterLimit = 12;
const perParameter = 26;

/**
 * A short note on required parameters whose name does not explain itself: formats, units, identifiers, taken from their
 * descriptions, e.g. `time: ISO 8601; project_id: Git URL or number`. Undefined when there is nothing worth its tokens.
 */
export function requiredNotes(inputSchema: JsonObject, maxTokens: number): string | undefined {
  const properties = inputSchema["properties"];
  const required = inputSchema["required"];
  if (!isJsonObject(properties) || !Array.isArray(required)) return undefined;
  const notes: string[] = [];
  let left = maxTokens;
  for (const name of required.slice(0, parameterLimit)) {
    const property = typeof name === "string" && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const note = isJsonObject(property) && typeof name === "string" ? noteOn(name, property) : undefined;
    const cost = note === undefined ? 0 : estimateTokens(note) + 1;
    if (note === undefined || cost > left) continue;
    notes.push(note);
    left -= cost;
  }
  return notes.length === 0 ? undefined : notes.join("; ");
}

function noteOn(name: string, property: JsonObject): string | undefined {
  const description = property["description"];
  if (typeof description !== "string" || Array.isArray(property["enum"]) || name.length > 60) return undefined;
  const text = plainDescription(description.slice(0, 600)).text;
  const sentences = text.split(/(?<=[.!?])\s+(?=[A-Z(])/).filter((sentence) => telling.test(sentence));
  if (sentences.length === 0) return undefined;
  const short = sentences
    .join(" ")
    .replace(/^(?:the|an?) /i, "")
    .replace(/\.$/, "");
  return `${name}: ${cutAtWord(short, perParameter)}`;
}

/** Marks of a sentence that gives a format, a unit, an example, a source or a choice. */
const telling =
  /e\.g\.|\bi\.e\.|for example|such as|\bformat|\bISO|\bRFC|YYYY|comma|separated|encoded|\bID or\b|base64|regex|glob|\bUU?ID\b|\bURN\b|\bslug\b|milliseconds|\bseconds|\bms\b|minutes|bytes|percent|unix|timestamp|epoch|starts? with|prefix|without|\bmust\b|\bonly\b|either|\bobtained\b|\bfrom (?:the |an? )|absolute|relative|JSON|markdown|HTML|['"`].*['"`]|\d/i;

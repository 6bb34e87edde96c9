import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { readSchema, type Shape } from "./signature-schema.ts";
import { printNames, printShape, styles, type Style } from "./signature-text.ts";
import { estimateTokens } from "./token-estimate.ts";

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

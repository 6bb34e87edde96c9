import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { parseExact, stringifyExact } from "../../wire/json/exact-json.ts";

/** A part of a result, as a person gets it. */
export type ResultPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly what: string; readonly mimeType: string; readonly bytes: Buffer }
  | { readonly kind: "link"; readonly uri: string; readonly about: string };

export interface ReadResult {
  readonly pieces: readonly ResultPiece[];
  /** Whether the tool failed. */
  readonly isError: boolean;
}

/**
 * What a result of tools/call or resources/read has for people: its blocks, or its structured content where none of
 * them is text. Never throws on valid JSON: unknown blocks are shown as JSON.
 */
export function readPieces(json: string): ReadResult {
  const parsed = parseExact(json);
  const result: JsonObject = isJsonObject(parsed) ? parsed : {};
  const { content, contents, structuredContent } = result;
  const blocks = [...listOf(content), ...listOf(contents).map((resource) => ({ type: "resource", resource }))];
  const pieces = blocks.map(toPiece);
  const isStructured = structuredContent !== undefined && pieces.every(({ kind }) => kind !== "text");
  return {
    pieces: isStructured ? [...pieces, { kind: "text", text: toPretty(structuredContent) }] : pieces,
    isError: result["isError"] === true,
  };
}

function toPiece(block: unknown): ResultPiece {
  if (!isJsonObject(block)) return { kind: "text", text: toPretty(block) };
  const { type, text, data, uri, resource } = block;
  if (type === "text" && typeof text === "string") return { kind: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string") return toBinary(type, block, data);
  if (type === "resource_link" && typeof uri === "string") return { kind: "link", uri, about: aboutOf(block) };
  if (type === "resource" && isJsonObject(resource)) {
    if (typeof resource["text"] === "string") return { kind: "text", text: resource["text"] };
    const { uri: name, blob } = resource;
    if (typeof blob === "string") return toBinary(typeof name === "string" ? name : "resource", resource, blob);
  }
  return { kind: "text", text: toPretty(block) };
}

function toBinary(what: string, { mimeType }: JsonObject, base64: string): ResultPiece {
  return {
    kind: "binary",
    what,
    mimeType: typeof mimeType === "string" ? mimeType : "application/octet-stream",
    bytes: Buffer.from(base64, "base64"),
  };
}

function aboutOf({ title, name, mimeType, description }: JsonObject): string {
  return [title ?? name, mimeType, description].filter((text) => typeof text === "string" && text !== "").join(", ");
}

function toPretty(value: unknown): string {
  return indentJson(stringifyExact(value));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * A JSON text with line breaks and indents, for people. Nothing but the space between its values is touched, so that
 * every digit of a number and every escape stays as it is. The text must be valid JSON.
 */
export function indentJson(text: string): string {
  let depth = 0;
  let result = "";
  const newLine = (): string => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(tokens)) {
    if (token === "}" || token === "]") {
      depth -= 1;
      result += newLine() + token;
    } else if (token === "{" || token === "[") {
      depth += 1;
      result += token + newLine();
    } else if (token === ",") result += token + newLine();
    else result += token === ":" ? ": " : token;
  }
  return result;
}

/** Empty ones in one piece. White space between them is no token. */
const tokens = /\{\s*\}|\[\s*\]|"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

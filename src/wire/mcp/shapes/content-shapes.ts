import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { stringifyExact } from "../../json/exact-json.ts";
import { resourceShape } from "./definition-shapes.ts";
import { annotations, isObject, objectOf, role, serverMeta, text, wrongKind, type Notes, type Shape } from "./shape.ts";

/** What blocks of content, contents of resources and messages of prompts have besides what they are about. */
const aside: Shape = objectOf({ annotations, _meta: serverMeta });

/**
 * A content block that every client of its revision can read (2026-07-28, schema, ContentBlock). Any other value
 * becomes a block of text, which holds all that can be shown of it: a block is never left out.
 */
export function contentBlock(value: unknown, notes: Notes): unknown {
  if (!isObject(value)) {
    if (typeof value !== "string") wrongKind(value, notes);
    else notes.odd("is a text without a block");
    return toTextBlock(value);
  }
  switch (value["type"]) {
    case "text":
      return textBlock(value, notes);
    case "image":
      return mediaBlock(value, notes);
    case "audio":
      notes.needing(blockRevisions["audio"] as string);
      return mediaBlock(value, notes);
    case "resource":
      return orText(embedded(value, notes), value);
    case "resource_link":
      notes.needing(blockRevisions["resource_link"] as string);
      return orText(resourceShape(value, notes), value);
    default:
      notes.odd(value["type"] === undefined ? "has no type" : "is of a type that the protocol does not have");
      return toTextBlock(value);
  }
}

/** Since when there are the types of blocks that were not there from the beginning. */
export const blockRevisions: Readonly<Record<string, string | undefined>> = Object.freeze({
  audio: "2025-03-26",
  resource_link: "2025-06-18",
});

function orText(block: unknown, given: JsonObject): unknown {
  return block ?? toTextBlock(given);
}

function textBlock(block: JsonObject, notes: Notes): unknown {
  const rest = aside(block, notes);
  if (typeof block["text"] === "string") return rest;
  notes.at("text", text, block["text"]);
  const says = block["text"] === undefined || (block["text"] === null && hasMore(block));
  return { ...(rest as JsonObject), text: says ? toJson(block) : toJson(block["text"]) };
}

const plainMembers: ReadonlySet<string> = new Set(["type", "text", "annotations", "_meta"]);

function hasMore(block: JsonObject): boolean {
  return Object.keys(block).some((key) => !plainMembers.has(key));
}

/** A text block of something that is none. Base64 tells a model nothing and would fill its context. */
export function toTextBlock(value: unknown): JsonObject {
  if (typeof value === "string") return { type: "text", text: value };
  if (!isObject(value)) return { type: "text", text: toJson(value) };
  if (typeof value["text"] === "string" && !hasMore(value)) return { type: "text", text: value["text"] };
  const { type, data } = value;
  const isMedia = (type === "image" || type === "audio") && typeof data === "string";
  return { type: "text", text: toJson(isMedia ? { ...value, data: `${data.length} characters` } : value) };
}

/** JSON text, with its numbers as they are. Throws RangeError for what nests thousands of levels deep. */
export function toJson(value: unknown): string {
  return stringifyExact(value) ?? "null";
}

function mediaBlock(block: JsonObject, notes: Notes): unknown {
  const { type, data, mimeType } = block;
  if (typeof data !== "string") {
    notes.at("data", text, data);
    return toTextBlock(block);
  }
  const [, named, inUrl] = dataUrl.exec(data) ?? [];
  if (inUrl !== undefined) notes.at("data", isUrl, data);
  const base64 = toBase64(inUrl ?? data);
  if (base64 === undefined) {
    notes.at("data", noBase64, data);
    return toTextBlock(block);
  }
  let kind = typeof mimeType === "string" && mimeType !== "" ? mimeType : undefined;
  if (kind === undefined) {
    notes.at("mimeType", noMimeType, mimeType);
    kind =
      named ?? beginnings.find(([of, begins]) => of.startsWith(`${String(type)}/`) && base64.startsWith(begins))?.[0];
  }
  if (kind === undefined) return toTextBlock(block);
  const rest = aside(block, notes) as JsonObject;
  return base64 === data && kind === mimeType ? rest : { ...rest, data: base64, mimeType: kind };
}

const isUrl: Shape = (_value, notes) => notes.odd("is a data: URL");
const noBase64: Shape = (_value, notes) => notes.odd("is no base64");
const noMimeType: Shape = (value, notes) => (value === "" ? notes.odd("is empty") : wrongKind(value, notes));

/** A URL of this kind has the type of its data, and the data itself after the comma. */
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[^;,]{0,200})*,([^]*)$/i;

/** How the base64 of files begins whose kind can be told by that. */
const beginnings: readonly (readonly [mimeType: string, begins: string])[] = [
  ["image/png", "iVBORw0KGgo"],
  ["image/jpeg", "/9j/"],
  ["image/gif", "R0lGOD"],
  ["image/webp", "UklGR"],
  ["audio/wav", "UklGR"],
  ["audio/mpeg", "SUQz"],
  ["audio/ogg", "T2dnUw"],
];

const plainBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The text if clients take it for base64, which may contain white space and lack its padding; that of base64url in the
 * letters of base64; otherwise undefined.
 */
function toBase64(given: string): string | undefined {
  if (isBase64(given)) return given;
  if (isBase64(given.replace(/[\t\n\f\r ]+/g, ""))) return given;
  const letters = given.replaceAll("-", "+").replaceAll("_", "/");
  return isBase64(letters) ? letters : undefined;
}

function isBase64(given: string): boolean {
  if (!plainBase64.test(given)) return false;
  return given.endsWith("=") ? given.length % 4 === 0 : given.length % 4 !== 1;
}

const resourceMembers: Shape = objectOf({ uri: text, mimeType: text, _meta: serverMeta }, "uri");

/** Contents of a resource (2026-07-28, schema, TextResourceContents and BlobResourceContents). */
export const resourceContents: Shape = (value, notes) => {
  const rest = resourceMembers(value, notes);
  if (!isObject(rest)) return undefined;
  const { text: given, blob, ...others } = rest;
  if (typeof given === "string") {
    if (blob === undefined || typeof blob === "string") return rest;
    notes.at("blob", wrongKind, blob);
    return { ...others, text: given };
  }
  if (given !== undefined || typeof blob !== "string") notes.at("text", wrongKind, given);
  if (typeof blob !== "string")
    return {
      ...others,
      text: toJson(given === undefined || given === null ? (blob ?? "") : given).replace(/^""$/, ""),
    };
  const [, mimeType, inUrl] = dataUrl.exec(blob) ?? [];
  if (inUrl !== undefined) notes.at("blob", isUrl, blob);
  const base64 = toBase64(inUrl ?? blob);
  if (base64 === undefined) {
    notes.at("blob", noBase64, blob);
    return { ...others, text: blob };
  }
  if (base64 === blob && given === undefined) return rest;
  return { ...(mimeType === undefined ? {} : { mimeType }), ...others, blob: base64 };
};

/** The same in an answer to `resources/read`, where the address is known: it was asked for. */
export function contentsOf(uri: string): Shape {
  return (value, notes) => {
    if (typeof value === "string") {
      notes.odd("is a text without its resource");
      return { uri, text: value };
    }
    if (!isObject(value)) {
      wrongKind(value, notes);
      return { uri, text: toJson(value) };
    }
    if (typeof value["uri"] === "string") return resourceContents(value, notes);
    notes.at("uri", text, value["uri"]);
    return resourceContents({ ...value, uri }, notes);
  };
}

const embedded: Shape = (value, notes) =>
  objectOf({ resource: resourceContents }, "resource")(aside(value, notes), notes);

/** Messages of a prompt: one for each block, because only one fits (2026-07-28, schema, PromptMessage). */
export function promptMessages(value: unknown, notes: Notes): unknown {
  if (!Array.isArray(value)) {
    wrongKind(value, notes);
    return value === undefined || value === null ? [] : promptMessage(value, notes);
  }
  let mended: unknown[] | undefined;
  for (const [index, given] of (value as readonly unknown[]).entries()) {
    const made = notes.at(index, promptMessage, given) as readonly unknown[];
    const isSame = made.length === 1 && made[0] === given;
    if (!isSame) mended ??= value.slice(0, index);
    mended?.push(...made);
  }
  return mended ?? value;
}

function promptMessage(value: unknown, notes: Notes): readonly unknown[] {
  if (!isObject(value)) return [{ role: "user", content: contentBlock(value, notes) }];
  const { role: given, content } = value;
  // Any other role becomes the user: a prompt is what the user says to the model.
  const by = notes.at("role", role, given) ?? "user";
  if (Array.isArray(content)) {
    notes.at("content", wrongKind, content);
    const blocks = content.map((block, index) => notes.at(`content[${index}]`, contentBlock, block));
    return blocks.map((block) => ({ ...value, role: by, content: block }));
  }
  const block = content === undefined ? contentBlock(value, notes) : notes.at("content", contentBlock, content);
  return by === given && block === content ? [value] : [{ ...value, role: by, content: block }];
}

import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { InstanceCatalog, ToolEntry } from "../../model/snapshot.ts";

/** The fields of a tool that are searched, in the order of their numbers in the index. */
export const fieldNames = [
  "name",
  "title",
  "server",
  "description",
  "about",
  "parameters",
  "parameterTexts",
  "enums",
  "joined",
  "phrases",
] as const;
export type FieldName = (typeof fieldNames)[number];
export const fieldCount = fieldNames.length;

/** Index of each field in {@link fieldNames}. */
export const field = Object.freeze({
  name: 0,
  title: 1,
  server: 2,
  description: 3,
  /** What the server says of itself: instructions and description. */
  about: 4,
  parameters: 5,
  parameterTexts: 6,
  enums: 7,
  /** Neighbours in the name written as one word: screen, shot: screenshot. */
  joined: 8,
  /** What people say when they need the tool. Says nothing about how rare a word is. */
  phrases: 9,
});

/** Most characters of one field that are indexed: a description of 40 KB must not outweigh a server. */
const fieldLengthLimit = 6_000;
/** What a schema may hold at most before the rest is left out: depth and number of nodes (fault 61). */
const schemaDepthLimit = 6;
const schemaNodeLimit = 600;

export interface SchemaTexts {
  readonly names: string;
  readonly descriptions: string;
  readonly enums: string;
}

export function serverTexts(part: Pick<InstanceCatalog, "server" | "serverTitle" | "serverInfo" | "instructions">): {
  readonly server: string;
  readonly about: string;
} {
  const info = part.serverInfo;
  const server = [part.server, part.serverTitle, textOf(info["title"])].join(" ");
  const about = [textOf(info["description"]), part.instructions ?? ""].join(" ");
  return { server: cut(server), about: cut(about) };
}

export function toolTexts(definition: ToolEntry["definition"]): {
  readonly name: string;
  readonly title: string;
  readonly description: string;
} {
  const { name, title, description, annotations } = definition;
  return {
    name: cut(textOf(name)),
    title: cut(textOf(title ?? annotations?.title)),
    description: cut(textOf(description)),
  };
}

/** Names, descriptions and enum values of all parameters, nested ones too. Never follows `$ref`; never fails. */
export function schemaTexts(schema: unknown): SchemaTexts {
  const found = { names: [] as string[], descriptions: [] as string[], enums: [] as string[], nodes: 0 };
  if (isJsonObject(schema)) visit(schema, 0, found);
  return {
    names: cut(found.names.join(" ")),
    descriptions: cut(found.descriptions.join(" ")),
    enums: cut(found.enums.join(" ")),
  };
}

interface Found {
  readonly names: string[];
  readonly descriptions: string[];
  readonly enums: string[];
  nodes: number;
}

/** Looks at the keys that are there, which are two or three, in place of asking for each that may be. */
function visit(schema: JsonObject, depth: number, found: Found): void {
  found.nodes += 1;
  if (depth > schemaDepthLimit || found.nodes > schemaNodeLimit) return;
  let properties: unknown;
  let values: unknown;
  let hasChildren = false;
  for (const key of Object.keys(schema)) {
    if (key === "description") {
      const description = schema[key];
      if (depth > 0 && typeof description === "string") found.descriptions.push(description);
    } else if (key === "enum") values = schema[key];
    else if (key === "properties") properties = schema[key];
    else if (key === "items" || key === "anyOf" || key === "oneOf" || key === "allOf") hasChildren = true;
  }
  if (Array.isArray(values))
    for (const value of values.slice(0, 50)) if (typeof value === "string") found.enums.push(value);
  if (isJsonObject(properties)) {
    for (const name of Object.keys(properties)) {
      found.names.push(name);
      const child = properties[name];
      if (isJsonObject(child)) visit(child, depth + 1, found);
    }
  }
  if (hasChildren) visitChildren(schema, depth, found);
}

function visitChildren(schema: JsonObject, depth: number, found: Found): void {
  if (isJsonObject(schema["items"])) visit(schema["items"], depth + 1, found);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const branches = schema[key];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) if (isJsonObject(branch)) visit(branch, depth + 1, found);
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function cut(text: string): string {
  return text.length > fieldLengthLimit ? text.slice(0, fieldLengthLimit) : text;
}

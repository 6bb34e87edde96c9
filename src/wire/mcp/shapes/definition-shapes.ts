import { schemaFault } from "../../json/schema-fault.ts";
import {
  annotations,
  anyNumber,
  describing,
  flag,
  isObject,
  listOf,
  metaOf,
  objectOf,
  oneOf,
  text,
  wrongKind,
  type Notes,
  type Shape,
} from "./shape.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { phrasesKey } from "../../../kernel/call/tool-phrases.ts";

/** A longer name is no mistake but an attack on its readers. */
const longestName = 1_024;

const name: Shape = (value, notes) => {
  if (typeof value !== "string") return notes.odd(value === undefined ? "is missing" : "is no text");
  if (value === "") return notes.odd("is empty");
  return value.length > longestName ? notes.odd(`is longer than ${longestName} characters`) : value;
};

const address: Shape = (value, notes) => (value === "" ? notes.odd("is empty") : text(value, notes));

/** A schema within `properties`: older clients take objects only, and `true` and `false` have equals among these. */
function propertySchema(value: unknown, notes: Notes): unknown {
  if (typeof value === "object" && value !== null) return value;
  // Not told: both are JSON Schema.
  if (typeof value === "boolean") return value ? {} : { not: {} };
  wrongKind(value, notes);
  return {};
}

function properties(value: unknown, notes: Notes): unknown {
  if (!isObject(value)) return wrongKind(value, notes);
  let isSame = true;
  const entries = Object.entries(value).map(([key, given]) => {
    const kept = notes.at(key.slice(0, 60), propertySchema, given);
    if (kept !== given) isSame = false;
    return [key, kept] as const;
  });
  return isSame ? value : Object.fromEntries(entries);
}

const schemaMembers: Shape = objectOf({ $schema: text, properties, required: listOf(text) });

/** What a tool takes is an object in every revision. One that says something else, or nothing, takes any object. */
function inputSchema(value: unknown, notes: Notes): unknown {
  if (!isObject(value)) {
    wrongKind(value, notes);
    return { type: "object" };
  }
  const { type } = value;
  if (type === "object") return schemaMembers(value, notes);
  notes.odd(type === undefined ? "has no type" : "is not of the type object");
  const mayBeObject = type === undefined || type === null || (Array.isArray(type) && type.includes("object"));
  return mayBeObject ? schemaMembers({ ...value, type: "object" }, notes) : { type: "object" };
}

/**
 * Clients compile what a tool returns, and refuse a whole list for one schema that they cannot compile. The kind of its
 * value is free since 2026-07-28; see {@link legacyTool}.
 */
function outputSchema(value: unknown, notes: Notes): unknown {
  const mended = schemaMembers(value, notes);
  if (!isObject(mended)) return undefined;
  const fault = schemaFault(mended);
  return fault === undefined ? mended : notes.odd(`cannot be used: ${fault}`);
}

/** A tool as `tools/list` may have it (2026-07-28, schema, Tool). */
export const toolShape: Shape = objectOf(
  {
    name,
    ...describing,
    // What people say when they need the tool is the server's to write.
    _meta: metaOf(phrasesKey),
    inputSchema,
    outputSchema,
    annotations: objectOf({
      title: text,
      readOnlyHint: flag,
      destructiveHint: flag,
      idempotentHint: flag,
      openWorldHint: flag,
    }),
    execution: objectOf({ taskSupport: oneOf("required", "optional", "forbidden") }),
  },
  "name",
  "inputSchema",
);

/** The name of a resource is required, but older servers leave it out: its address says as much. */
function named(members: Shape, addressName: string): Shape {
  return (value, notes) => {
    const mended = members(value, notes);
    if (!isObject(mended) || typeof mended["name"] === "string") return mended;
    notes.at("name", text, mended["name"]);
    return { ...mended, name: mended[addressName] };
  };
}

/** A resource as `resources/list` may have it, and as a link to one (2026-07-28, schema, Resource). */
export const resourceShape: Shape = named(
  objectOf({ uri: address, ...describing, mimeType: text, size: anyNumber, annotations }, "uri"),
  "uri",
);

/** A template as `resources/templates/list` may have it (2026-07-28, schema, ResourceTemplate). */
export const templateShape: Shape = named(
  objectOf({ uriTemplate: address, ...describing, mimeType: text, annotations }, "uriTemplate"),
  "uriTemplate",
);

/** A prompt as `prompts/list` may have it (2026-07-28, schema, Prompt). */
export const promptShape: Shape = objectOf(
  {
    name,
    ...describing,
    arguments: listOf(objectOf({ name: text, title: text, description: text, required: flag }, "name")),
  },
  "name",
);

/**
 * A tool as clients of revisions before 2026-07-28 can read it: what it returns is an object there, and said to be one.
 */
export function legacyTool<T extends JsonObject>(definition: T): T {
  if (!hasModernOutput(definition)) return definition;
  const { outputSchema: _modern, ...rest } = definition;
  return rest as unknown as T;
}

/** Whether it returns what only 2026-07-28 can say. */
export function hasModernOutput({ outputSchema: schema }: JsonObject): boolean {
  return isObject(schema) && schema["type"] !== "object";
}

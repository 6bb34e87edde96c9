import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { shortDescription } from "../text/discover-description.ts";

const nodeBudget = 5000;
const depthLimit = 40;
/** Tokens that a parameter's description keeps. */
const descriptionTokens = 14;

/** Keywords that a caller does not need to get the arguments right. */
const spare = new Set([
  "$schema",
  "$id",
  "$comment",
  "title",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "markdownDescription",
]);

/**
 * A schema that allows the same values, with descriptions shortened and decoration left out: what `detail: "schema"`
 * gives when the whole schema would not fit. Work is bounded: whatever lies beyond 5,000 nodes or 40 levels becomes
 * `true` (anything).
 */
export function leanSchema(schema: JsonObject): JsonObject {
  const work = { nodesLeft: nodeBudget };
  return leanNode(schema, work, 0) as JsonObject;
}

type Work = { nodesLeft: number };

function leanNode(schema: unknown, work: Work, depth: number): unknown {
  if (!isJsonObject(schema)) return schema;
  work.nodesLeft -= 1;
  if (work.nodesLeft < 0 || depth > depthLimit) return true;
  const lean = emptyRecord();
  for (const [key, value] of Object.entries(schema)) {
    if (spare.has(key)) continue;
    lean[key] = leanKeyword(key, value, work, depth + 1);
  }
  return lean;
}

function leanKeyword(key: string, value: unknown, work: Work, depth: number): unknown {
  switch (key) {
    case "description":
      return typeof value === "string" ? shortDescription(value, descriptionTokens).text : value;
    case "properties":
    case "patternProperties":
    case "$defs":
    case "definitions":
    case "dependentSchemas":
      return isJsonObject(value) ? leanNamed(value, work, depth) : value;
    case "enum":
    case "const":
    case "default":
    case "required":
      return isWithin(value, depthLimit) ? value : undefined;
    default:
      return Array.isArray(value)
        ? value.map((part: unknown) => leanNode(part, work, depth))
        : leanNode(value, work, depth);
  }
}

/** The keys of these objects are names of properties or definitions, not keywords. */
function leanNamed(named: JsonObject, work: Work, depth: number): JsonObject {
  const lean = emptyRecord();
  for (const [name, value] of Object.entries(named)) lean[name] = leanNode(value, work, depth);
  return lean;
}

/** Whether a value nests at most `depth` levels and holds at most 20,000 values, so that it can safely be written. */
export function isWithin(value: unknown, depth: number): boolean {
  const open: (readonly [value: unknown, level: number])[] = [[value, 0]];
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, level] = next;
    seen += 1;
    if (level > depth || seen > valueLimit) return false;
    if (typeof at === "object" && at !== null) for (const inner of Object.values(at)) open.push([inner, level + 1]);
  }
  return true;
}

const valueLimit = 20_000;

/** Has no prototype, so that a property called `__proto__` is an ordinary one. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

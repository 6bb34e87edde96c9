import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { unitsPerLook } from "../budget.ts";
import type { Runtime } from "../runtime.ts";
import { readArrayKeyword } from "./schema-arrays.ts";
import { readChoice } from "./schema-choices.ts";
import {
  choices,
  comparisons,
  dialectOf,
  groups,
  isOfType,
  Malformed,
  numeric,
  readTypes,
  inOrderOf,
  keywordsOf,
  type Group,
} from "./schema-keywords.ts";
import { readObjectKeyword } from "./schema-objects.ts";
import { fault, fits, inOrder, patternTest, startReading, untold, type Reading, type Test } from "./schema-reading.ts";
import { createReferences, hasIdentifier } from "./schema-references.ts";

/** Levels of schemas within each other, counting references. */
const depthLimit = 200;

/** A schema as a check, and what of it is not checked: keywords, in the order in which they were met. */
export interface ReadSchema {
  readonly test: Test;
  readonly skipped: ReadonlySet<string>;
}

/**
 * Makes a check of a schema, once, which then is nothing but calls of functions. A keyword that is not known here, or
 * has the wrong form, is left out, and the rest is checked: whatever fits the schema fits the check. Undefined when
 * `$schema` names an unknown dialect. A test compares the check with Ajv's.
 */
export function readSchema(schema: JsonObject, runtime: Runtime): ReadSchema | undefined {
  const dialect = dialectOf(schema);
  if (dialect === undefined) return undefined;
  const skipped = new Set<string>();
  const reading = startReading({ runtime, dialect, read, follow: createReferences(schema), skipped });
  return { test: read(reading, schema), skipped };
}

function read(outer: Reading, schema: unknown): Test {
  const depth = outer.depth + 1;
  if (schema === true) return fits;
  if (schema === false) return refuse;
  if (!isJsonObject(schema)) return outer.skip("what is no schema");
  if (depth > depthLimit) return outer.skip("what nests too deeply");
  if (!outer.count(1)) return outer.skip("what is beyond the limit of parts");
  const isForeign = outer.isForeign || (depth > 0 && hasIdentifier(schema));
  return inOrder(readSteps({ ...outer, depth, isForeign }, schema));
}

const refused = [fault("false schema", {})];
const refuse: Test = () => refused;

/** In Ajv's order: the type, then choices, numbers, texts, arrays, objects. */
function readSteps(reading: Reading, schema: JsonObject): Test[] {
  const { dialect } = reading;
  if (dialect.areReferencesAlone && schema["$ref"] !== undefined) return [attempt(reading, "$ref", schema, readChoice)];
  const steps: Test[] = [];
  const types = typesOf(reading, schema, steps);
  const all = keywordsOf(schema, dialect);
  const given = groupNames.map((group) => [group, inOrderOf(groups[group], all)] as const);
  // A type that has keywords of its own is looked at when their turn comes.
  const late = types.length === 1 && given.some(([group, own]) => group === types[0] && own.length > 0);
  const wrongType = [fault("type", { type: schema["type"] })];
  const chosen = inOrder(inOrderOf(choices, all).map((keyword) => attempt(reading, keyword, schema, readChoice)));
  if (types.length > 0 && !late) {
    const tests = types.map((type) => isOfType[type] as (value: unknown) => boolean);
    const isIt = (value: unknown): boolean => tests.some((test) => test(value));
    const more = reading.isBranch ? chosen : fits;
    steps.push((value) => (isIt(value) ? undefined : [...wrongType, ...(more(value) ?? [])]));
  }
  steps.push(chosen);
  for (const [group, own] of given) {
    if (own.length === 0) continue;
    const test = inOrder(own.map((keyword) => attempt(reading, keyword, schema, readers[group])));
    const isIt = isOfType[group] as (value: unknown) => boolean;
    const otherwise = late && group === types[0] ? wrongType : undefined;
    if (test !== fits || otherwise !== undefined) steps.push((value) => (isIt(value) ? test(value) : otherwise));
  }
  return steps;
}

const groupNames = ["number", "string", "array", "object"] as const;

function typesOf(reading: Reading, schema: JsonObject, steps: Test[]): readonly string[] {
  try {
    return readTypes(schema);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    steps.push(reading.skip("type"));
    return [];
  }
}

type ReadKeyword = (reading: Reading, keyword: string, schema: JsonObject) => Test;

/** The check of one keyword, where it has the form that it must have. */
function attempt(reading: Reading, keyword: string, schema: JsonObject, readKeyword: ReadKeyword): Test {
  try {
    return readKeyword(reading, keyword, schema);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return reading.skip(keyword);
  }
}

function withBounds(group: Group, readKeyword: ReadKeyword): ReadKeyword {
  return (reading, keyword, schema) =>
    bounds.has(keyword)
      ? bound(reading, { group, keyword }, numeric(schema[keyword]))
      : readKeyword(reading, keyword, schema);
}

const bounds = new Set(
  Object.keys(comparisons).concat(...["Length", "Items", "Properties"].map((what) => [`max${what}`, `min${what}`])),
);

const readers: Readonly<Record<Group, ReadKeyword>> = {
  number: withBounds("number", readPrimitiveKeyword),
  string: withBounds("string", readPrimitiveKeyword),
  array: withBounds("array", readArrayKeyword),
  object: withBounds("object", readObjectKeyword),
};

function readPrimitiveKeyword(reading: Reading, keyword: string, schema: JsonObject): Test {
  const given = schema[keyword];
  if (keyword === "multipleOf") return multipleOf(numeric(given));
  if (typeof given !== "string") throw new Malformed();
  // An annotation (JSON Schema 2020-12, validation, 7.2.1): whether the value has it, the server decides.
  if (keyword === "format") return reading.isExact ? () => untold : fits;
  return pattern(reading, given);
}

function bound(reading: Reading, at: { readonly group: Group; readonly keyword: string }, limit: number): Test {
  const { group, keyword } = at;
  const [comparison, holds] = comparisons[keyword] ?? ["", undefined];
  if (holds !== undefined) {
    const wrong = [fault(keyword, { comparison, limit })];
    return (value) => (holds(value as number, limit) ? undefined : wrong);
  }
  const wrong = [fault(keyword, { limit })];
  const { codePoints } = reading.runtime;
  const sizes: Readonly<Record<Group, (value: unknown) => number>> = {
    number: Number,
    string: (value) => codePoints(value as string),
    array: (value) => (value as readonly unknown[]).length,
    object(value) {
      // They cannot be counted without visiting them.
      reading.pay(unitsPerLook);
      return Object.keys(value as object).length;
    },
  };
  const size = sizes[group];
  if (keyword.startsWith("max")) return (value) => (size(value) <= limit ? undefined : wrong);
  return (value) => (size(value) >= limit ? undefined : wrong);
}

/** Whether RE2 can run it is found out when it is first needed: loading RE2 takes longer than most calls. */
function pattern(reading: Reading, given: string): Test {
  const wrong = [fault("pattern", { pattern: given })];
  const matches = patternTest(reading, given);
  return (value) => {
    const isIn = matches(value as string);
    if (isIn === undefined) return untold;
    return isIn ? undefined : wrong;
  };
}

function multipleOf(divisor: number): Test {
  const wrong = [fault("multipleOf", { multipleOf: divisor })];
  return (value) => {
    const times = (value as number) / divisor;
    // As Ajv has it: a quotient that is written with an exponent does not count as whole.
    return divisor !== 0 && times === Number.parseInt(String(times), 10) ? undefined : wrong;
  };
}

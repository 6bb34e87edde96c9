import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { createFormatSearch } from "../formats/format-search.ts";
import { unitsPerLook } from "../budget.ts";
import { estimateProgram, mayRun } from "../formats/pattern-limits.ts";
import { anyOf, not, oneOf } from "./plain-combinations.ts";
import { below, fault, inOrder, startReading, type PlainTest, type Reading } from "./plain-reading.ts";
import { createReferences, saysMore } from "./plain-references.ts";
import { uniqueItems } from "./plain-unique.ts";
import type { Runtime } from "../runtime.ts";
import { namedFieldLimit } from "../wording.ts";
import {
  annotations,
  comparisons,
  definitionLists,
  filled,
  groups,
  isOfType,
  keywords,
  named,
  NotPlain,
  primitive,
  readTypes,
  says,
  type Group,
  type Primitive,
} from "./plain-keywords.ts";

/** The same depth as schemas may have that are compiled. */
const depthLimit = 64;

/**
 * A check of a schema that says only what real tools say: types, fields, items, choices, ranges, patterns, and
 * combinations and definitions of these. Such a schema means the same in every dialect, and needs no compiler: neither
 * the first call after a start waits for one, nor does its thread take 11 MB. Undefined when the schema says anything
 * else, or not in the right form. A test holds the two ways of checking against each other.
 */
export function toPlainTest(schema: JsonObject, runtime: Runtime): PlainTest | undefined {
  const { $schema: dialect = sharedDialects[0], ...rest } = schema;
  const name = String(dialect).replace(/^https?:\/\/|#$/g, "");
  if (!sharedDialects.includes(name)) return undefined;
  try {
    const areReferencesAlone = name.includes("draft-0");
    const follow = createReferences(rest, read);
    const reading = startReading({ runtime, areReferencesAlone, follow, namesFormat: createFormatSearch(rest) });
    return read(reading, rest, 0);
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

const sharedDialects: readonly string[] = [
  "json-schema.org/draft/2020-12/schema",
  "json-schema.org/draft/2019-09/schema",
  "json-schema.org/draft-07/schema",
  "json-schema.org/draft-06/schema",
];

function read(reading: Reading, schema: unknown, depth: number): PlainTest {
  reading.count(1);
  if (schema === true) return () => undefined;
  if (!isJsonObject(schema) || depth > depthLimit) throw new NotPlain();
  for (const key of Object.keys(schema))
    if (!keywords.has(key) && !annotations.has(key) && !definitionLists.includes(key) && !key.startsWith("x-"))
      throw new NotPlain();
  if (reading.areReferencesAlone && schema["$ref"] !== undefined && saysMore(schema)) throw new NotPlain();
  // Nothing may stand in there that changes what references mean.
  for (const list of definitionLists)
    for (const definition of Object.values(named(schema[list] ?? {}))) read(reading, definition, depth + 1);
  return inOrder(readSteps(reading, schema, depth));
}

/** In Ajv's order: the type, then choices, numbers, texts, arrays, objects. */
function readSteps(reading: Reading, schema: JsonObject, depth: number): PlainTest[] {
  const types = readTypes(schema["type"]);
  const [only] = types;
  // A type that has keywords of its own is looked at when their turn comes.
  const late =
    types.length === 1 && Object.hasOwn(groups, only ?? "") && says(schema, only as Group) ? only : undefined;
  const wrongType = [fault("type", { type: schema["type"] })];
  const choices = inOrder(readChoices(reading, schema, depth));
  const steps: PlainTest[] = [];
  if (types.length > 0 && late === undefined) {
    const tests = types.map((type) => isOfType[type] as (value: unknown) => boolean);
    const isIt = (value: unknown): boolean => tests.some((test) => test(value));
    const more = reading.isBranch ? choices : () => undefined;
    steps.push((value) => (isIt(value) ? undefined : [...wrongType, ...(more(value) ?? [])]));
  }
  const add = (group: Group): void => {
    if (!says(schema, group)) return;
    const read = (keyword: string) => readKeyword(reading, { group, keyword, schema, depth }) ?? [];
    const test = inOrder(groups[group].flatMap(read));
    const isIt = isOfType[group] as (value: unknown) => boolean;
    const otherwise = late === group ? wrongType : undefined;
    steps.push((value) => (isIt(value) ? test(value) : otherwise));
  };
  steps.push(choices);
  add("number");
  add("string");
  add("array");
  add("object");
  return steps;
}

function readChoices(reading: Reading, schema: JsonObject, depth: number): PlainTest[] {
  const steps: PlainTest[] = [];
  if (schema["$ref"] !== undefined) steps.push(reading.follow(reading, schema["$ref"], depth));
  if (schema["const"] !== undefined) {
    const allowedValue = primitive(schema["const"]);
    const wrong = [fault("const", { allowedValue })];
    steps.push((value) => (value === allowedValue ? undefined : wrong));
  }
  if (schema["enum"] !== undefined) {
    const allowedValues = filled(schema["enum"]).map(primitive);
    reading.count(allowedValues.length);
    const allowed = new Set(allowedValues);
    const wrong = [fault("enum", { allowedValues })];
    steps.push((value) => (allowed.has(value as Primitive) ? undefined : wrong));
  }
  return [...steps, ...readCombinations(reading, schema, depth)];
}

function readCombinations(reading: Reading, schema: JsonObject, depth: number): PlainTest[] {
  const branch = { ...reading, isBranch: true };
  const branchesOf = (keyword: string, as: Reading): readonly PlainTest[] =>
    filled(schema[keyword]).map((each) => read(as, each, depth + 1));
  const steps: PlainTest[] = [];
  if (schema["not"] !== undefined) {
    const inner = read(branch, schema["not"], depth + 1);
    if (!reading.namesFormat(schema["not"])) steps.push(not(inner));
  }
  if (schema["anyOf"] !== undefined) steps.push(anyOf(reading, branchesOf("anyOf", branch)));
  if (schema["oneOf"] !== undefined)
    steps.push(oneOf(reading, branchesOf("oneOf", branch), reading.namesFormat(schema["oneOf"])));
  if (schema["allOf"] !== undefined) steps.push(inOrder(branchesOf("allOf", reading)));
  return steps;
}

interface Place {
  readonly group: Group;
  readonly keyword: string;
  readonly schema: JsonObject;
  readonly depth: number;
}

function readKeyword(reading: Reading, { group, keyword, schema, depth }: Place): PlainTest | undefined {
  const given = schema[keyword];
  if (given === undefined) return undefined;
  switch (keyword) {
    case "format":
      if (typeof given !== "string") throw new NotPlain();
      return undefined;
    case "pattern":
      return readPattern(reading, given);
    case "multipleOf":
      return multipleOf(given);
    case "uniqueItems":
      return uniqueItems(reading, schema);
    case "items":
      return items(reading, read(reading, given, depth + 1));
    case "required":
      return required(reading, given);
    case "propertyNames":
      return propertyNames(reading, given, depth);
    case "additionalProperties": {
      const other = given === false ? undefined : read(reading, given, depth + 1);
      return additional(reading, Object.keys(named(schema["properties"] ?? {})), other);
    }
    case "properties": {
      const members = Object.entries(named(given));
      return properties(
        reading,
        members.map(([name, inner]) => [name, read(reading, inner, depth + 1)]),
      );
    }
    default:
      return bound(reading, { group, keyword }, given);
  }
}

function bound(reading: Reading, at: Pick<Place, "group" | "keyword">, limit: unknown): PlainTest {
  const { group, keyword } = at;
  if (typeof limit !== "number") throw new NotPlain();
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
function readPattern(reading: Reading, pattern: unknown): PlainTest {
  if (typeof pattern !== "string") throw new NotPlain();
  const wrong = [fault("pattern", { pattern })];
  if (!mayRun(pattern)) return () => undefined;
  reading.count(estimateProgram(pattern) / instructionsPerPart);
  const matches = reading.runtime.pattern(pattern);
  return (value) => (matches(value as string) ? undefined : wrong);
}

/** All patterns of a plain schema have fewer than the instructions that the compiler allows. */
const instructionsPerPart = 4;

function multipleOf(divisor: unknown): PlainTest {
  if (typeof divisor !== "number") throw new NotPlain();
  const wrong = [fault("multipleOf", { multipleOf: divisor })];
  return (value) => {
    const times = (value as number) / divisor;
    // As Ajv has it: what is written with an exponent is not found to be whole.
    return divisor !== 0 && times === Number.parseInt(String(times), 10) ? undefined : wrong;
  };
}

function items(reading: Reading, item: PlainTest): PlainTest {
  return (value) => {
    let index = 0;
    for (const each of value as readonly unknown[]) {
      reading.pay(1);
      const wrong = item(each);
      if (wrong !== undefined) return below(String(index), wrong);
      index += 1;
    }
    return undefined;
  };
}

function required(reading: Reading, names: unknown): PlainTest {
  // Ajv never misses the empty name.
  if (!Array.isArray(names) || !names.every((name): name is string => typeof name === "string" && name !== ""))
    throw new NotPlain();
  reading.count(names.length);
  return (value) => {
    reading.pay(names.length);
    const missingProperty = names.find((name) => memberOf(value, name) === undefined);
    return missingProperty === undefined ? undefined : [fault("required", { missingProperty })];
  };
}

function propertyNames(reading: Reading, given: unknown, depth: number): PlainTest | undefined {
  const { type = "string", ...rest } = named(given);
  // Ajv, which knows that names are strings, leaves out what it can.
  if (type !== "string") throw new NotPlain();
  // What zod writes for a record.
  if (Object.keys(rest).every((key) => annotations.has(key))) return undefined;
  const test = read({ ...reading, isBranch: true }, rest, depth + 1);
  return (value) => {
    for (const name of Object.keys(value as object)) {
      reading.pay(1);
      const wrong = test(name);
      if (wrong !== undefined) return [...wrong, fault("propertyNames", { propertyName: name })];
    }
    return undefined;
  };
}

/** Members that `properties` does not name: fit for a schema of their own, or unknown. */
function additional(reading: Reading, known: readonly string[], other: PlainTest | undefined): PlainTest {
  const names = new Set(known);
  const allowed = known.slice(0, namedFieldLimit);
  return (value) => {
    for (const name of Object.keys(value as object)) {
      reading.pay(1);
      if (names.has(name)) continue;
      if (other === undefined) return [fault("additionalProperties", { additionalProperty: name, allowed })];
      const wrong = other((value as JsonObject)[name]);
      if (wrong !== undefined) return below(name, wrong);
    }
    return undefined;
  };
}

function properties(reading: Reading, tests: readonly (readonly [string, PlainTest])[]): PlainTest {
  return (value) => {
    reading.pay(tests.length);
    for (const [name, test] of tests) {
      const member = memberOf(value, name);
      const wrong = member === undefined ? undefined : test(member);
      if (wrong !== undefined) return below(name, wrong);
    }
    return undefined;
  };
}

/** Inherited names are no members. */
function memberOf(value: unknown, name: string): unknown {
  return Object.hasOwn(value as object, name) ? (value as JsonObject)[name] : undefined;
}

import * as v from "valibot";
import type { Document, Path } from "./document.ts";
import { suggestion } from "./near-miss.ts";
import { InvalidConfig } from "./problems.ts";

/** Where a value came from, so that a message can point at it. */
export interface Origin {
  readonly document: Document;
  readonly path: Path;
}

/**
 * Parses `value` with `schema`. Throws InvalidConfig with every problem: its place, its path and what was expected,
 * but never a value.
 */
export function check<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  origin: Origin,
): v.InferOutput<Schema> {
  const arrays = misplacedArrays(schema, value, origin.path);
  const parsed = v.safeParse(schema, value, { abortPipeEarly: true });
  if (parsed.success && arrays.length === 0) return parsed.output;
  const { document } = origin;
  const problems = arrays.map((path) => problemAt({ document, path }, "expected an object, found an array"));
  for (const issue of parsed.issues ?? []) {
    const path = [...origin.path, ...(issue.path ?? []).map((step) => step.key as string | number)];
    if (!arrays.some((array) => array.every((step, index) => path[index] === step)))
      problems.push(problemAt({ document, path }, explain(issue)));
  }
  throw new InvalidConfig(problems);
}

/** Throws InvalidConfig with a single problem. */
export function refuse(origin: Origin, why: string): never {
  throw new InvalidConfig([problemAt(origin, why)]);
}

/** A problem in the form of all messages about a configuration: `file:line:column: path: why`. */
export function problemAt({ document, path }: Origin, why: string): string {
  return `${document.place(path)}: ${pathText(path)}: ${why}`;
}

/** `mcpServers.github.args[0]`. A key that is no plain word is quoted. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/**
 * The schema library takes an array for an object without any of the members, so that everything in it would be lost
 * without a message.
 */
function misplacedArrays(schema: v.GenericSchema, value: unknown, path: Path): Path[] {
  const memberSchema = membersOf(schema);
  if (!memberSchema || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, member]) => {
    const known = memberSchema(key);
    return known ? misplacedArrays(known, member, [...path, key]) : [];
  });
}

/** The library's own messages quote the value they received, which may be a secret. These messages do not. */
function explain(issue: v.BaseIssue<unknown>): string {
  if (issue.kind !== "schema") return issue.message;
  if (issue.type === "strict_object" && issue.expected === "never") return "unknown field";
  const expected = plain(issue.expected ?? "something else");
  return issue.input === undefined
    ? `missing; expected ${expected}`
    : `expected ${expected}, found ${kindOf(issue.input)}`;
}

function plain(expected: string): string {
  if (expected === "Array") return "an array";
  if (expected === "Object") return "an object";
  if (expected === "string" || expected === "number" || expected === "boolean") return `a ${expected}`;
  return expected.replace(/^\((.*)\)$/, "$1").replaceAll(" | ", " or ");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  switch (typeof value) {
    case "object":
      return "an object";
    case "string":
      return value === "" ? "an empty string" : "a string";
    default:
      return `a ${typeof value}`;
  }
}

/** An object with more unknown fields than this is in another format, and fifty warnings help no one. */
const mostUnknown = 20;

/** One warning per field that nothing reads. Most are typing mistakes, some are another client's own settings. */
export function unknownFields(
  schema: v.GenericSchema,
  value: unknown,
  origin: Origin,
  meaningless: readonly string[] = [],
): string[] {
  const memberSchema = membersOf(schema);
  if (!memberSchema || typeof value !== "object" || value === null) return [];
  const warnings: string[] = [];
  let unknown = 0;
  for (const [key, member] of Object.entries(value)) {
    const path = [...origin.path, key];
    const known = memberSchema(key);
    if (known)
      for (const warning of unknownFields(known, member, { document: origin.document, path })) warnings.push(warning);
    else if (!meaningless.includes(key) && ++unknown <= mostUnknown) {
      const meant = suggestion(key, fieldsOf(schema));
      warnings.push(problemAt({ document: origin.document, path }, `unknown field, ignored${meant}`));
    }
  }
  return warnings;
}

/** Whether the user chooses the names of its members. */
export function isRecord(schema: v.GenericSchema): boolean {
  return innerOf(schema).type === "record";
}

function innerOf(schema: v.GenericSchema): v.GenericSchema {
  return "wrapped" in schema ? (schema.wrapped as v.GenericSchema) : schema;
}

function fieldsOf(schema: v.GenericSchema): readonly string[] {
  const inner = innerOf(schema);
  return "entries" in inner ? Object.keys(inner.entries as object) : [];
}

/** Finds the schema of a member by its key. Undefined when the schema's values have no members of their own. */
export function membersOf(schema: v.GenericSchema): ((key: string) => v.GenericSchema | undefined) | undefined {
  const inner = innerOf(schema);
  if (isRecord(inner) && "value" in inner) return () => inner.value as v.GenericSchema;
  if (!("entries" in inner)) return undefined;
  const entries = inner.entries as Readonly<Record<string, v.GenericSchema>>;
  return (key) => (Object.hasOwn(entries, key) ? entries[key] : undefined);
}

/** A whole number in a range. */
export function numberOf(row: { readonly min: number; readonly max: number }): v.GenericSchema<number> {
  const range = `expected a whole number from ${row.min} to ${row.max}`;
  return v.pipe(v.number(), v.integer(range), v.minValue(row.min, range), v.maxValue(row.max, range));
}

/** A string that can be passed to a process or sent in a header. */
export const text = v.pipe(
  v.string(),
  v.check((value) => !value.includes("\0"), "expected a string without NUL characters"),
);

export const filledText = v.pipe(text, v.nonEmpty("expected a string that is not empty"));

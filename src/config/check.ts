import * as v from "valibot";
import { GatewayError } from "../shared/gateway-error.ts";
import type { NumberRow } from "./defaults.ts";
import type { Document, Path } from "./document.ts";

/** Where a value came from, so that what is wrong with it can be pointed at. */
export interface Origin {
  readonly document: Document;
  readonly path: Path;
}

/** Parses `value` with `schema`. Throws GatewayError CONFIG_INVALID naming place, path and what was expected; never the value. */
export function check<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  origin: Origin,
): v.InferOutput<Schema> {
  refuseArrays(schema, value, origin);
  const parsed = v.safeParse(schema, value, { abortPipeEarly: true });
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const within = (issue.path ?? []).map((step) => step.key as string | number);
  return refuse({ document: origin.document, path: [...origin.path, ...within] }, explain(issue));
}

export function refuse(origin: Origin, why: string): never {
  throw new GatewayError("CONFIG_INVALID", `${origin.document.place(origin.path)}: ${pathText(origin.path)}: ${why}`);
}

/** `mcpServers.github.args[0]`; a key that is no plain word is quoted. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** To the library an array is an object without any of the members: what stands in it would be lost without a word. */
function refuseArrays(schema: v.GenericSchema, value: unknown, origin: Origin): void {
  const memberSchema = membersOf(schema);
  if (!memberSchema || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) refuse(origin, "expected an object, found an array");
  for (const [key, member] of Object.entries(value)) {
    const known = memberSchema(key);
    if (known) refuseArrays(known, member, { document: origin.document, path: [...origin.path, key] });
  }
}

/** The library's own sentences quote what they received, which may be a secret: these do not. */
function explain(issue: v.BaseIssue<unknown>): string {
  if (issue.kind !== "schema") return issue.message;
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

/** More unknown fields than this in one object are another format, and nobody reads fifty warnings. */
const mostUnknown = 20;

/** One warning per field that nothing reads: often a typing mistake, sometimes another client's own setting. */
export function unknownFields(schema: v.GenericSchema, value: unknown, origin: Origin): string[] {
  const memberSchema = membersOf(schema);
  if (!memberSchema || typeof value !== "object" || value === null) return [];
  const warnings: string[] = [];
  let unknown = 0;
  for (const [key, member] of Object.entries(value)) {
    const path = [...origin.path, key];
    const known = memberSchema(key);
    if (known) warnings.push(...unknownFields(known, member, { document: origin.document, path }));
    else if (++unknown <= mostUnknown) {
      warnings.push(`${origin.document.place(path)}: ${pathText(path)}: unknown field, ignored`);
    }
  }
  return warnings;
}

/** How to find the schema of a member; undefined when the schema's values have no members of their own. */
function membersOf(schema: v.GenericSchema): ((key: string) => v.GenericSchema | undefined) | undefined {
  const inner = "wrapped" in schema ? (schema.wrapped as v.GenericSchema) : schema;
  if (inner.type === "record" && "value" in inner) return () => inner.value as v.GenericSchema;
  if (!("entries" in inner)) return undefined;
  const entries = inner.entries as Readonly<Record<string, v.GenericSchema>>;
  return (key) => (Object.hasOwn(entries, key) ? entries[key] : undefined);
}

/** A whole number in the range of its row. */
export function numberOf(row: Pick<NumberRow, "min" | "max">): v.GenericSchema<number> {
  const range = `expected a whole number from ${row.min} to ${row.max}`;
  return v.pipe(v.number(), v.integer(range), v.minValue(row.min, range), v.maxValue(row.max, range));
}

/** A string that a process or a header can carry. */
export const text = v.pipe(
  v.string(),
  v.check((value) => !value.includes("\0"), "expected a string without NUL characters"),
);

export const filledText = v.pipe(text, v.nonEmpty("expected a string that is not empty"));

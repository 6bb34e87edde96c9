import { countText } from "../../kernel/text/number-text.ts";
import * as v from "valibot";
import { filledText, numberOf } from "../file/check.ts";

/**
 * Everything about one setting, or one field of a server's entry: which values are valid, its default, how else it
 * can be given, and its documentation. Types, checks, flags, variables, help, docs/configuration.md and
 * docs/toolyard.schema.json are made from rows, so that they cannot contradict each other.
 */
export interface Row<Value, Fallback = Value | undefined> extends RowText {
  readonly kind: "row";
  readonly form: Form;
  /** The type and its limits, in words. */
  readonly type: string;
  readonly schema: v.GenericSchema<unknown, Value>;
  /** The same as JSON Schema. */
  readonly json: JsonSchema;
  readonly isRequired: boolean;
  readonly fallback: Fallback;
  /** Used instead of `fallback` where the default depends on where the gateway runs and for whom. */
  readonly compute?: ((facts: Facts) => Fallback) | undefined;
  readonly example: unknown;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How the text of a flag or variable becomes a value. */
export type Form =
  | { readonly kind: "number"; readonly min: number; readonly max: number }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "boolean" | "text" | "list" | "other" };

export interface RowText {
  /** What it decides: a phrase that begins with a small letter and has no full stop. */
  readonly about: string;
  /** Why the default or the limit is what it is. */
  readonly reason?: string | undefined;
  /** The default in words, where it is not a plain value. */
  readonly fallbackText?: string | undefined;
  readonly flag?: Flag | undefined;
  /** The variable of a setting that has no flag. A flag has its own: `--data-dir` is TOOLYARD_DATA_DIR. */
  readonly variable?: string | undefined;
  /** Whether the variable counts in seconds, while the setting is in milliseconds. */
  readonly isVariableInSeconds?: boolean | undefined;
  /** A part that is made once reads it: a change in the file takes effect at the next start. */
  readonly isReadAtStart?: boolean | undefined;
}

export interface Flag {
  readonly name: string;
  /** The placeholder for its value in the help. Absent for a flag without a value. */
  readonly word?: string | undefined;
  /** Whether every command that reads the configuration has it, not `serve` alone. */
  readonly isCommon?: boolean | undefined;
}

/** Facts that a default may depend on. */
export interface Facts {
  readonly cores: number;
  /** Whether several people use this gateway. */
  readonly isShared: boolean;
}

/** Settings that are grouped in an object. */
export interface Group<Members extends Rows> {
  readonly kind: "group";
  readonly about: string;
  readonly rows: Members;
  /** Whether its defaults apply only when the object is written. */
  readonly isOptional: boolean;
  /** What must be true of its members beside what each row says. */
  readonly rule?: GroupRule | undefined;
}

/** A rule about several members of an object. */
export interface GroupRule {
  readonly holds: (written: Readonly<Record<string, unknown>>) => boolean;
  readonly message: string;
  /** The same as keywords of JSON Schema. */
  readonly json: JsonSchema;
}

/** Members that must be written together or not at all. */
export function together(names: readonly string[], message: string): GroupRule {
  return {
    holds: (written) => new Set(names.map((name) => written[name] === undefined)).size < 2,
    message,
    json: {
      dependencies: Object.fromEntries(names.map((name) => [name, names.filter((other) => other !== name)])),
    },
  };
}

/** An object whose members have names that the user chooses. */
export interface Keyed<Members extends Rows> {
  readonly kind: "keyed";
  readonly about: string;
  /** The placeholder for the name in documentation. */
  readonly key: string;
  readonly keySchema: v.GenericSchema<string>;
  readonly rows: Members;
}

export type Member = Row<unknown, unknown> | Group<Rows> | Keyed<Rows>;
/** Rows by name. An interface, because it refers to itself. */
export interface Rows {
  readonly [name: string]: Member;
}

/** What a file may contain: every member may be left out. */
export type Written<Members> = {
  readonly [Name in keyof Members]?: WrittenMember<Members[Name]> | undefined;
};
type WrittenMember<Of> = Of extends { readonly kind: "row" } & Row<infer Value, unknown>
  ? Value
  : Of extends Group<infer Members>
    ? Written<Members>
    : Of extends Keyed<infer Members>
      ? Readonly<Record<string, Written<Members>>>
      : never;

/** The values in force, with defaults applied. */
export type Resolved<Members> = { readonly [Name in keyof Members]: ResolvedMember<Members[Name]> };
type ResolvedMember<Of> = Of extends { readonly kind: "row" } & Row<infer Value, infer Fallback>
  ? undefined extends Fallback
    ? Value | undefined
    : Value
  : Of extends Group<infer Members>
    ? Of extends { readonly isOptional: true }
      ? Resolved<Members> | undefined
      : Resolved<Members>
    : Of extends Keyed<infer Members>
      ? Readonly<Record<string, Written<Members>>>
      : never;

interface Spec<Fallback> extends RowText {
  readonly fallback: Fallback;
  readonly compute?: (facts: Facts) => Fallback;
  /** When absent, an example is made from type and default. */
  readonly example?: unknown;
}

/** A setting that is a whole number from `min` to `max`. */
export function number<Fallback extends number | undefined>(
  spec: Spec<Fallback> & { readonly min: number; readonly max: number },
): Row<number, Fallback> {
  const { min, max, fallback } = spec;
  return toRow(spec, {
    form: { kind: "number", min, max },
    type: `whole number, ${countText(min)} to ${countText(max)}`,
    schema: numberOf({ min, max }),
    json: { type: "integer", minimum: min, maximum: max },
    example: Math.min(max, Math.max(min, (fallback ?? min) * 2)),
  });
}

/** A setting that is on or off. */
export function boolean<Fallback extends boolean | undefined>(spec: Spec<Fallback>): Row<boolean, Fallback> {
  return toRow(spec, {
    form: { kind: "boolean" },
    type: "true or false",
    schema: v.boolean(),
    json: { type: "boolean" },
    example: spec.fallback !== true,
  });
}

/** A setting that is one of a few words. */
export function choice<const Choice extends string, Fallback extends NoInfer<Choice> | undefined>(
  spec: Spec<Fallback> & { readonly choices: readonly Choice[] },
): Row<Choice, Fallback> {
  const { choices } = spec;
  return toRow(spec, {
    form: { kind: "choice", choices },
    type: `one of ${choices.map((name) => `\`${name}\``).join(", ")}`,
    schema: v.picklist(choices),
    json: { anyOf: [{ enum: choices }, variableText] },
    example: choices.find((name) => name !== (spec.fallback as string | undefined)),
  });
}

/** A setting that is a text: any text but an empty one, or what `schema` accepts. */
export function text<Fallback extends string | undefined>(
  spec: Spec<Fallback> & {
    readonly schema?: v.GenericSchema<string>;
    /** What a value must look like. JSON Schema and so editors are told of it, too. */
    readonly pattern?: RegExp;
    readonly type?: string;
    readonly example: string;
  },
): Row<string, Fallback> {
  const { schema = filledText, pattern, type = "text" } = spec;
  return toRow(spec, {
    form: { kind: "text" },
    type,
    schema,
    json: textJson(pattern),
    example: spec.example,
  });
}

/** A setting that is a list of texts: any texts but empty ones, or what `item` accepts. */
export function list<Fallback extends readonly string[] | undefined>(
  spec: Spec<Fallback> & {
    readonly item?: v.GenericSchema<string>;
    readonly pattern?: RegExp;
    readonly type?: string;
    readonly most?: { readonly items: number; readonly message: string };
    /** Whether numbers and booleans are accepted as texts, spelled as they were written. */
    readonly isLoose?: boolean;
    readonly example: readonly string[];
  },
): Row<readonly string[], Fallback> {
  const { item = filledText, pattern, type = "list of texts", most, isLoose = false } = spec;
  const array = v.array(item);
  return toRow(spec, {
    form: { kind: "list" },
    type: most === undefined ? type : `${type}, at most ${most.items}`,
    schema: most === undefined ? array : v.pipe(array, v.maxLength(most.items, most.message)),
    json: {
      type: "array",
      items: isLoose ? looseText : textJson(pattern),
      ...(most === undefined ? {} : { maxItems: most.items }),
    },
    example: spec.example,
  });
}

/** A setting of any other type. Its schema, JSON Schema and description of the type are given. */
export function other<Value, Fallback extends NoInfer<Value> | undefined>(
  spec: Spec<Fallback> & {
    readonly schema: v.GenericSchema<unknown, Value>;
    readonly json: JsonSchema;
    readonly type: string;
    readonly example: unknown;
  },
): Row<Value, Fallback> {
  const { type, schema, json, example } = spec;
  return toRow(spec, { form: { kind: "other" }, type, schema, json, example });
}

/** A row without which the object that contains it is invalid. */
export function needed<Value>(row: Row<Value, undefined>): Row<Value, Value> {
  // The object is refused when the value is missing, so that the fallback is never used.
  return { ...(row as unknown as Row<Value, Value>), isRequired: true };
}

/** The row of a setting as a server's entry has it. Its default is the setting's value. */
export function inherited<Value, Fallback>(row: Row<Value, Fallback>, setting: string): Row<Value, undefined> {
  return {
    ...row,
    fallback: undefined,
    compute: undefined,
    fallbackText: `that of \`${setting}\``,
    flag: undefined,
    variable: undefined,
  };
}

/** An object of settings whose defaults apply even when the object is not written. */
export function group<const Members extends Rows>(
  about: string,
  rows: Members,
): Group<Members> & { readonly isOptional: false } {
  return { kind: "group", about, rows, isOptional: false };
}

/** An object of settings that is absent unless it is written. */
export function optionalGroup<const Members extends Rows>(
  about: string,
  rows: Members,
  rule?: GroupRule,
): Group<Members> & { readonly isOptional: true } {
  return { kind: "group", about, rows, isOptional: true, rule };
}

/** An object whose keys the user chooses, with the same settings under each. */
export function keyed<const Members extends Rows>(
  { about, key, keySchema = v.string() }: { about: string; key: string; keySchema?: v.GenericSchema<string> },
  rows: Members,
): Keyed<Members> {
  return { kind: "keyed", about, key, keySchema, rows };
}

/** A text that refers to a variable is unknown before the file is read, so that no pattern can be checked. */
const variableText: JsonSchema = { type: "string", pattern: "\\$\\{" };

/** JSON Schema of a text where people also write numbers and `true`. */
export const looseText: JsonSchema = { type: ["string", "number", "boolean"] };

function textJson(pattern: RegExp | undefined): JsonSchema {
  return pattern === undefined
    ? { type: "string" }
    : { anyOf: [{ type: "string", pattern: pattern.source }, variableText] };
}

function toRow<Value, Fallback>(
  spec: Spec<Fallback>,
  made: Pick<Row<Value>, "form" | "type" | "schema" | "json" | "example">,
): Row<Value, Fallback> {
  const { about, reason, fallbackText, flag, variable, isVariableInSeconds, isReadAtStart, fallback, compute } = spec;
  const example = spec.example ?? made.example;
  const words = { about, reason, fallbackText, flag, variable, isVariableInSeconds, isReadAtStart };
  return { kind: "row", ...words, ...made, example, isRequired: false, fallback, compute };
}

import { stringifyExact } from "../../../wire/json/exact-json.ts";
import type { Field, ObjectShape, Shape } from "./signature-schema.ts";
import { escapeHidden } from "./visible-text.ts";

/** How much of a shape is printed. Each further style of {@link styles} prints less. */
export interface Style {
  /** Most values in a list, and most characters of one value. */
  readonly values: number;
  readonly members: number;
  /**
   * Levels of nested objects that are opened below an optional field, and where every field on the way is required.
   */
  readonly optionalDepth: number;
  readonly requiredDepth: number;
  /** Number of optional fields with types, and number of those after them by name only. */
  readonly typed: number;
  readonly named: number;
}

/** From all that a signature can hold down to the required fields alone. */
export const styles: readonly Style[] = [
  { values: 16, members: 8, optionalDepth: 1, requiredDepth: 4, typed: 40, named: 0 },
  { values: 8, members: 6, optionalDepth: 1, requiredDepth: 4, typed: 20, named: 20 },
  { values: 6, members: 4, optionalDepth: 0, requiredDepth: 4, typed: 12, named: 20 },
  { values: 5, members: 4, optionalDepth: 0, requiredDepth: 3, typed: 8, named: 20 },
  { values: 4, members: 3, optionalDepth: 0, requiredDepth: 2, typed: 4, named: 16 },
  { values: 4, members: 3, optionalDepth: 0, requiredDepth: 2, typed: 2, named: 10 },
  { values: 3, members: 2, optionalDepth: 0, requiredDepth: 1, typed: 0, named: 6 },
  { values: 3, members: 2, optionalDepth: 0, requiredDepth: 1, typed: 0, named: 0 },
  { values: 2, members: 2, optionalDepth: 0, requiredDepth: 0, typed: 0, named: 0 },
];

/** Most required fields that even the longest signature lists. A schema with more of them is hostile. */
const requiredLimit = 60;
const nameLimit = 100;
const valueLimit = 60;

interface Printing {
  readonly style: Style;
  cut: boolean;
}

/** The whole signature in one style. `cut` says whether the schema holds more than the text. */
export function printShape(shape: Shape, style: Style): { text: string; cut: boolean } {
  const printing: Printing = { style, cut: false };
  const text = print(shape, printing, { depth: 0, required: true });
  return { text, cut: printing.cut };
}

/** The names of an object's fields, required ones first; where there are more than `count`, `...` in their place. */
export function printNames({ fields, rest }: ObjectShape, count: number): string {
  const ordered = [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
  const printing: Printing = { style: styles[0] as Style, cut: false };
  const names = ordered
    .slice(0, count)
    .map(({ name, required }) => `${fieldName(name, printing)}${required ? "" : "?"}`);
  if (ordered.length > count || (rest !== undefined && !saysNothing(rest))) names.push("...");
  return names.length === 0 ? "object" : `{ ${names.join(", ")} }`;
}

/** The position of a shape in the arguments: how many objects enclose it, and whether it is required. */
interface Place {
  readonly depth: number;
  readonly required: boolean;
}

function print(shape: Shape, printing: Printing, place: Place): string {
  switch (shape.kind) {
    case "word":
      return shape.text;
    case "literals":
      return printLiterals(shape.values, printing);
    case "array":
      return printArray(shape.item, printing, place);
    case "tuple": {
      const items = shape.items.map((item) => print(item, printing, place));
      if (shape.rest !== undefined) items.push(`...${printArray(shape.rest, printing, place)}`);
      return `[${items.join(", ")}]`;
    }
    case "object":
      return printObject(shape, printing, place);
    case "union":
      return printUnion(shape.members, printing, place);
    case "both":
      return shape.members.map((member) => grouped(print(member, printing, place))).join(" & ");
    case "unread":
      printing.cut = true;
      return shape.text;
  }
}

function printArray(item: Shape, printing: Printing, place: Place): string {
  return `${grouped(print(item, printing, place))}[]`;
}

/** Puts brackets around a union, so that a following `[]` or `&` applies to all of it. */
function grouped(text: string): string {
  return text.includes(" | ") && !isEnclosed(text) ? `(${text})` : text;
}

function isEnclosed(text: string): boolean {
  if (!text.startsWith("{")) return false;
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "{") open += 1;
    if (character === "}") open -= 1;
    if (open === 0) return at === text.length - 1;
  }
  return false;
}

function printLiterals(values: readonly unknown[], printing: Printing): string {
  // When there is only one value more than the limit, all are shown: "..." would cost as much as the last one.
  const shown = values.length <= printing.style.values + 1 ? values : values.slice(0, printing.style.values);
  const texts = shown.map((value) => literal(value, printing));
  if (shown.length < values.length) {
    printing.cut = true;
    texts.push("...");
  }
  return unique(texts).join(" | ");
}

function literal(value: unknown, printing: Printing): string {
  if (typeof value === "object" && value !== null) {
    printing.cut = true;
    return "object";
  }
  if (typeof value === "string" && value.length > valueLimit) {
    printing.cut = true;
    return `\`${escapeHidden(JSON.stringify(value.slice(0, valueLimit)).slice(1, -1))}\${...}\``;
  }
  return escapeHidden(stringifyExact(value) ?? "unknown");
}

function printUnion(members: readonly Shape[], printing: Printing, place: Place): string {
  const flat = merged(members);
  const shown = flat.slice(0, printing.style.members);
  const texts = shown.map((member) => print(member, printing, place));
  const distinct = unique(texts);
  if (shown.length < flat.length) {
    printing.cut = true;
    distinct.push("...");
  }
  return distinct.length === 0 ? "unknown" : distinct.join(" | ");
}

/** Flattens nested unions, and joins an `anyOf` of single constants into one list of values. */
function merged(members: readonly Shape[]): Shape[] {
  const values: unknown[] = [];
  const others: Shape[] = [];
  for (const member of members) {
    if (member.kind === "literals") values.push(...member.values.slice(0, 1000));
    else if (member.kind === "union") others.push(...merged(member.members));
    else others.push(member);
  }
  return values.length === 0 ? others : [{ kind: "literals", values }, ...others];
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function printObject(shape: ObjectShape, printing: Printing, place: Place): string {
  if (shape.partial) printing.cut = true;
  if (place.depth > 0 && shape.fields.length === 0 && (shape.rest === undefined || saysNothing(shape.rest)))
    return "object";
  const { requiredDepth, optionalDepth } = printing.style;
  if (place.depth > (place.required ? requiredDepth : optionalDepth)) {
    printing.cut = true;
    return "object";
  }
  const parts = printFields(shape, printing, place);
  if (shape.rest !== undefined)
    parts.push(`[key: string]: ${print(shape.rest, printing, { depth: place.depth + 1, required: false })}`);
  const text = parts.length === 0 ? "{}" : `{ ${parts.join("; ")} }`;
  return shape.needs.length === 0 ? text : `${text} /* needs ${printNeeds(shape.needs)} */`;
}

function saysNothing(shape: Shape): boolean {
  return shape.kind === "word" && shape.text === "unknown";
}

function printFields(shape: ObjectShape, printing: Printing, place: Place): string[] {
  const required = shape.fields.filter((field) => field.required);
  const optional = byUse(shape.fields.filter((field) => !field.required));
  const { typed, named } = printing.style;
  // Optional fields of nested objects matter less.
  const typedHere = place.depth === 0 ? typed : Math.min(typed, 8);
  const parts = required.slice(0, requiredLimit).map((field) => printField(field, printing, place));
  parts.push(...optional.slice(0, typedHere).map((field) => printField(field, printing, place)));
  const byName = optional.slice(typedHere, typedHere + named);
  parts.push(...byName.map((field) => `${fieldName(field.name, printing)}?`));
  if (byName.length > 0) printing.cut = true;
  if (required.length > requiredLimit || optional.length > typedHere + byName.length) {
    printing.cut = true;
    parts.push("...");
  }
  return parts;
}

/**
 * Puts fields that concern the connection rather than the task last: some servers put the same ten of them first in
 * every tool.
 */
function byUse(fields: readonly Field[]): Field[] {
  return [
    ...fields.filter((field) => !plumbing.test(field.name)),
    ...fields.filter((field) => plumbing.test(field.name)),
  ];
}

const plumbing =
  /^(?:retry|auth)[-_A-Z]|^(?:tenant|verbose|debug|timeout|correlation[-_]?id|request[-_]?id|user[-_]?agent)$/i;

function printField(field: Field, printing: Printing, place: Place): string {
  const required = place.required && field.required;
  const type = print(field.shape, printing, { depth: place.depth + 1, required });
  return `${fieldName(field.name, printing)}${field.required ? "" : "?"}: ${type}`;
}

function fieldName(name: string, printing: Printing): string {
  if (/^[A-Za-z_$][\w$]{0,99}$/.test(name)) return name;
  if (name.length <= nameLimit) return escapeHidden(JSON.stringify(name));
  printing.cut = true;
  return `"${escapeHidden(JSON.stringify(name.slice(0, nameLimit)).slice(1, -1))}..."`;
}

function printNeeds(needs: readonly (readonly string[])[]): string {
  const sets = needs.map((names) => names.slice(0, 6).map(plain).join(" and ")).filter((text) => text !== "");
  return unique(sets).slice(0, 8).join(" or ");
}

/** A name as it may stand inside a comment, without ending it. */
function plain(name: string): string {
  return escapeHidden(name.slice(0, nameLimit)).replaceAll("*/", "");
}

import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { ExactNumber } from "../../json/exact-json.ts";
import { withoutOwnNames } from "./own-names.ts";

/**
 * Checks one value of a definition or result. Returns the value itself where nothing is odd, a mended copy where
 * something was, and undefined where it cannot be mended. Oddities are added to the notes. Parts that did not change
 * are the same objects in the copy.
 */
export type Shape = (value: unknown, notes: Notes) => unknown;

const mostNotes = 3;

/** The oddities of one definition or result, described without the values themselves. */
export class Notes {
  readonly #found: string[] = [];
  readonly #path: (string | number)[] = [];
  /** The oldest revision that can hold it, where that is not the oldest of all. */
  needs = "";

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  /** `annotations.title is null, icons[2].src is a number`; names three at most. */
  get text(): string {
    return this.#found.length > mostNotes ? `${this.#found.slice(0, mostNotes).join(", ")}, …` : this.#found.join(", ");
  }

  /** Notes a mistake at the current place, as the end of a sentence: `is null`. */
  odd(what: string): undefined {
    if (this.#found.length > mostNotes) return undefined;
    let place = "";
    for (const step of this.#path)
      place += typeof step === "number" ? `[${step}]` : `${place === "" ? "" : "."}${step}`;
    this.#found.push(place === "" ? what : `${place} ${what}`);
    return undefined;
  }

  /** The value as the shape makes it, with this step on the way to it. */
  at(step: string | number, shape: Shape, value: unknown): unknown {
    this.#path.push(step);
    const mended = shape(value, this);
    this.#path.pop();
    return mended;
  }

  needing(revision: string): void {
    if (this.needs < revision) this.needs = revision;
  }
}

/** Whether a parsed value is an object: numbers that were kept exactly are none. */
export function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && !(value instanceof ExactNumber);
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  if (typeof value === "boolean") return String(value);
  return isObject(value) ? "an object" : "a number";
}

/** A value that passes the test as it is, or cannot be used. `not` says what a value of the right kind is then. */
export function leaf(fits: (value: unknown) => boolean): Shape {
  return (value, notes) => (fits(value) ? value : wrongKind(value, notes));
}

/** Notes the kind of a value that is of the wrong one. */
export function wrongKind(value: unknown, notes: Notes): undefined {
  return notes.odd(`is ${kindOf(value)}`);
}

export const text: Shape = leaf((value) => typeof value === "string");
export const flag: Shape = leaf((value) => typeof value === "boolean");
/** `_meta` of a server, which cannot have names that are the gateway's own, but those that `kept` names. */
export const metaOf =
  (kept?: string): Shape =>
  (value, notes) => {
    if (!isObject(value)) return wrongKind(value, notes);
    const others = withoutOwnNames(value, kept);
    if (others !== value) notes.odd("has names that are the gateway's own");
    return others;
  };
export const serverMeta: Shape = metaOf();
export const anyNumber: Shape = leaf((value) => typeof value === "number" || value instanceof ExactNumber);

/** A number from `least` to `most`. */
export function numberWithin(least: number, most: number, isWhole = false): Shape {
  return (value, notes) => {
    if (anyNumber(value, notes) === undefined) return undefined;
    const number = Number(value instanceof ExactNumber ? value.source : value);
    const fits = number >= least && number <= most && (!isWhole || Number.isSafeInteger(number));
    return fits ? value : notes.odd("is a number out of its range");
  };
}

export function oneOf(...words: readonly string[]): Shape {
  return (value, notes) => {
    if (text(value, notes) === undefined) return undefined;
    return words.includes(value as string) ? value : notes.odd(`is none of ${words.join(", ")}`);
  };
}

/** A list without the items of which nothing can be made. */
export function listOf(item: Shape): Shape {
  return (value, notes) => {
    if (!Array.isArray(value)) return wrongKind(value, notes);
    let mended: unknown[] | undefined;
    for (const [index, given] of (value as readonly unknown[]).entries()) {
      const kept = notes.at(index, item, given);
      if (kept !== given) mended ??= value.slice(0, index);
      if (kept !== undefined) mended?.push(kept);
    }
    return mended ?? value;
  };
}

/**
 * An object with these members. One that is odd is dropped, unless it is required: then nothing can be made of the
 * whole. Members that are not named here stay as they are.
 */
export function objectOf(members: Readonly<Record<string, Shape>>, ...required: readonly string[]): Shape {
  const known = Object.entries(members);
  return (value, notes) => {
    if (!isObject(value)) return wrongKind(value, notes);
    let mended: Record<string, unknown> | undefined;
    for (const [name, member] of known) {
      const given = value[name];
      if (given === undefined && !required.includes(name)) continue;
      const kept = notes.at(name, member, given);
      if (kept === given && kept !== undefined) continue;
      if (kept === undefined && required.includes(name)) return undefined;
      mended ??= { ...value };
      if (kept === undefined) delete mended[name];
      else mended[name] = kept;
    }
    return mended ?? value;
  };
}

const isoTime =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** A time with its zone, as ISO 8601 and RFC 3339 write it. */
const time: Shape = (value, notes) => {
  if (text(value, notes) === undefined) return undefined;
  const [, year, month, day] = isoTime.exec(value as string) ?? [];
  const isReal = Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return isReal ? value : notes.odd("is no time with a zone");
};

export const role: Shape = oneOf("user", "assistant");

/** Of resources and content blocks (2025-11-25, schema, Annotations). */
export const annotations: Shape = objectOf({
  audience: listOf(role),
  priority: numberWithin(0, 1),
  lastModified: time,
});

const icon: Shape = objectOf({ src: text, mimeType: text, sizes: listOf(text), theme: oneOf("light", "dark") }, "src");

/** What every definition may have. */
export const describing = {
  title: text,
  description: text,
  icons: listOf(icon),
  _meta: serverMeta,
} as const satisfies Record<string, Shape>;

import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { pathText, problemAt, type Origin } from "../file/check.ts";
import { hiddenValue } from "./config-listing.ts";
import { toCommandWords } from "../words/command-words.ts";
import type { Path } from "../file/document.ts";
import type { EntryChange } from "../entry/entry-change.ts";
import { InvalidConfig } from "../file/problems.ts";
import { parseServerEntry } from "../entry/server-entry.ts";
import { redacted } from "../words/spans.ts";

/**
 * The changes of the file that a merge patch (RFC 7396) of an entry means: null takes a member out, an object is merged
 * with the present one, anything else takes its place. Members that were not sent stay, with their comments. `shown` is
 * the entry as it is shown, without secrets: a value that comes back as it was shown leaves the secret alone. Throws
 * PARAMS_INVALID for a mark of a secret anywhere else, and CONFIG_INVALID for an entry that is no object.
 */
export function entryPatchChanges(entry: Origin, patch: JsonObject, shown: unknown): readonly EntryChange[] {
  const before = entry.document.value(entry.path);
  if (!isJsonObject(before))
    throw new GatewayError("CONFIG_INVALID", problemAt(entry, "is no object, so that nothing in it can be changed"));
  return mergeChanges(patch, { before, shown }, []).map(({ path, value }) => ({
    path: [...entry.path, ...path],
    value,
  }));
}

/** A value of the entry, and how it is shown. */
interface Known {
  readonly before: unknown;
  readonly shown: unknown;
}

function mergeChanges(patch: JsonObject, known: Known, path: Path): readonly EntryChange[] {
  return Object.entries(patch).flatMap(([key, value]): readonly EntryChange[] => {
    const place = [...path, key];
    const found = { before: memberOf(known.before, key), shown: memberOf(known.shown, key) };
    const { before } = found;
    if (value === null) return before === undefined ? [] : [{ path: place, value: undefined }];
    if (isJsonObject(value) && isJsonObject(before)) return mergeChanges(value, found, place);
    const next = unmask(isJsonObject(value) ? withoutNulls(value) : value, found, place);
    return JSON.stringify(next) === JSON.stringify(before) ? [] : [{ path: place, value: next }];
  });
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A merge patch of nothing: its nulls mean nothing. */
function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, isJsonObject(member) ? withoutNulls(member) : member]),
  );
}

const unknown: Known = { before: undefined, shown: undefined };

/** The value with the secrets that its marks stand for. Those of a list may have moved in it. */
function unmask(value: unknown, { before, shown }: Known, place: Path): unknown {
  if (Array.isArray(value)) {
    const places: readonly unknown[] = Array.isArray(shown) ? shown : [];
    const secrets: readonly unknown[] = Array.isArray(before) ? before : [];
    return value.map((item: unknown, index) => {
      const at = places.indexOf(item);
      return unmask(item, at === -1 ? unknown : { before: secrets[at], shown: item }, [...place, index]);
    });
  }
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, unmask(member, unknown, [...place, key])]),
    );
  if (typeof value !== "string" || !(value === hiddenValue || value.includes(redacted))) return value;
  if (value === shown) return before;
  const field = `body.${pathText(place)}`;
  throw new GatewayError("PARAMS_INVALID", `${field}: ${value === hiddenValue ? value : redacted} is no value`, {
    data: { field },
    hint: "It replaces a secret that is not shown: leave out members that do not change, or send the whole value.",
  });
}

/** The mistakes and oddities of an entry as it is written, whatever its variables have for values. */
export function lookAtEntry(entry: Origin): {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
} {
  const warnings: string[] = [];
  try {
    const written = entry.document.value(entry.path);
    // A text that is a whole line is looked at where its program can be looked for: as text, nothing is wrong with it.
    const words = toCommandWords(written, { isProgram: () => true, platform: process.platform });
    parseServerEntry(words?.entry ?? written, entry, warnings);
    return { problems: [], warnings };
  } catch (error) {
    if (error instanceof InvalidConfig) return { problems: error.problems, warnings };
    throw error;
  }
}

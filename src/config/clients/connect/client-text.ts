import { isDeepStrictEqual } from "node:util";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Document } from "../../file/document.ts";
import type { ClientFormat } from "../table/client-row.ts";
import type { EntryChange } from "../../entry/entry-change.ts";
import { changeJson } from "../../edit/json-change.ts";
import { parseSettings } from "./settings-document.ts";

/** The text of a client's file. */
export interface ClientText {
  readonly text: string;
  readonly format: ClientFormat;
  /** Begins messages. */
  readonly fileName: string;
}

const byteOrderMark = "\uFEFF";

/**
 * The text with these values set or removed, one after the other; all else as it was: comments, order, indentation,
 * line breaks, a byte-order mark. What the text means is compared before and after, so that an edit that would touch
 * anything else is refused. Loads the code for TOML or YAML where it is needed.
 *
 * Rejects with GatewayError CLIENT_FILE_UNUSABLE, with the place, when the text is broken or what should be changed is
 * written in a way that cannot be edited.
 */
export async function changeClientText(file: ClientText, changes: readonly EntryChange[]): Promise<string> {
  const mark = file.text.startsWith(byteOrderMark) ? byteOrderMark : "";
  let text = file.text.slice(mark.length);
  const isJson = file.format === "json" || file.format === "jsonc";
  if (isJson && text.trim() === "") text = `{}${text === "" ? "\n" : text}`;
  for (const change of changes) text = await changeOnce({ ...file, text }, change);
  return mark + text;
}

/** What the text means, as plain data. Rejects with CLIENT_FILE_UNUSABLE and the place of the mistake. */
export async function readClientText(file: ClientText): Promise<ClientValues> {
  return toPlain((await parse(file)).value([]));
}

async function parse({ text, format, fileName }: ClientText): Promise<Document> {
  try {
    return await parseSettings(text, fileName, format);
  } catch (error) {
    throw unusable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The contents of a file. */
export type ClientValues = Readonly<Record<string, unknown>>;

/** Through JSON, because the parsers give objects of different kinds, and dates, that could not be compared. */
function toPlain(value: unknown): ClientValues {
  return JSON.parse(JSON.stringify(value)) as ClientValues;
}

async function changeOnce(file: ClientText, change: EntryChange): Promise<string> {
  const { text, format, fileName } = file;
  const document = await parse(file);
  refuseTwice(document, change);
  const before = toPlain(document.value([]));
  const isGone = change.value === undefined && valueAt(before, change.path) === undefined;
  const changed = isGone ? text : await edit(file, change);
  const after =
    changed === undefined ? undefined : await readClientText({ ...file, text: changed }).catch(() => undefined);
  if (changed === undefined || !isDeepStrictEqual(meant(after, format), meant(withChange(before, change), format)))
    throw unusable(`${fileName}: ${change.path.join(".")} is written in a way that cannot be changed safely`, {
      hint: "Change it by hand, or write it in the usual way first. Nothing was changed.",
    });
  return changed;
}

/** In TOML a table without values of its own is there only while something is in it. */
function meant(root: unknown, format: ClientFormat): unknown {
  if (format !== "toml" || typeof root !== "object" || root === null || Array.isArray(root)) return root;
  const members = Object.entries(root).map(([key, value]) => [key, meant(value, format)] as const);
  return Object.fromEntries(members.filter(([, value]) => !isDeepStrictEqual(value, {})));
}

/** Undefined where it cannot be done. */
async function edit({ text, format }: ClientText, change: EntryChange): Promise<string | undefined> {
  if (format === "toml") return (await import("./toml-change.ts")).changeToml(text, change);
  return format === "yaml" ? (await import("./yaml-change.ts")).changeYaml(text, change) : changeJson(text, change);
}

/** A key that is there twice on the way: which of the two the client reads is not known. */
function refuseTwice({ wrongKeys }: Document, { path }: EntryChange): void {
  const wrong = wrongKeys.find(({ path: keys }) => keys.every((key, at) => key === path[at]));
  if (wrong !== undefined) throw unusable(wrong.problem);
}

/** The value at a path, or undefined. */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    root,
  );
}

/** A copy with one value set or removed: what the changed text has to mean. */
function withChange(
  root: unknown,
  { path, value }: Pick<EntryChange, "value"> & { readonly path: readonly (string | number)[] },
): unknown {
  const [key, ...inner] = path;
  if (key === undefined) return value;
  if (typeof key === "number") {
    const list = Array.isArray(root) ? [...(root as unknown[])] : [];
    if (value === undefined && inner.length === 0) return list.toSpliced(key, 1);
    list[key] = withChange(list[key], { path: inner, value });
    return list;
  }
  const { [key]: old, ...others } = (root ?? {}) as Readonly<Record<string, unknown>>;
  if (value === undefined && inner.length === 0) return others;
  return { ...others, [key]: withChange(old, { path: inner, value }) };
}

function unusable(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}): GatewayError {
  return new GatewayError("CLIENT_FILE_UNUSABLE", message, {
    hint: options.hint ?? "Repair the file at that place. Nothing was changed.",
    cause: options.cause,
  });
}

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { hashOf, readClientFile, replaceClientFile, textOf, type ClientFile } from "../table/client-file.ts";
import type { ClientFormat } from "../table/client-row.ts";
import { changeClientText, readClientText, valueAt, type ClientText, type ClientValues } from "./client-text.ts";
import type { EntryChange } from "../../entry/entry-change.ts";
import { keepChange, readKeptChanges, type KeptEntry } from "./kept-changes.ts";

/** A client's file, read and understood. */
export interface OpenedFile {
  readonly file: ClientFile;
  readonly text: string;
  readonly format: ClientFormat;
  readonly values: ClientValues;
}

/** What a file will be, before anything is written. */
export interface PlannedEdit {
  readonly opened: OpenedFile;
  readonly after: string;
  readonly changes: readonly EntryChange[];
  readonly reverse: readonly EntryChange[];
}

/** Where changes are kept, and what gives their time. */
export interface EditPlace {
  readonly dataDir: string;
  readonly clock: Pick<Clock, "now">;
}

/** Reads a file that need not exist. Rejects with CLIENT_FILE_UNUSABLE. */
export async function openClientFile(path: string, format: ClientFormat): Promise<OpenedFile> {
  const file = await readClientFile(path);
  const text = textOf(file);
  return { file, text, format, values: await readClientText(toClientText({ file, text, format })) };
}

/** Works out the text after these changes. Rejects with CLIENT_FILE_UNUSABLE; writes nothing. */
export async function planEdit(opened: OpenedFile, changes: readonly EntryChange[]): Promise<PlannedEdit> {
  const reverse: EntryChange[] = [];
  let { values } = opened;
  let after = opened.text;
  for (const change of changes) {
    reverse.unshift(reverseOf(values, change));
    after = await changeClientText(toClientText({ ...opened, text: after }), [change]);
    values = await readClientText(toClientText({ ...opened, text: after }));
  }
  return { opened, after, changes, reverse };
}

/**
 * Writes what was planned, with a backup before it. A crash at any moment leaves the old file or the new one. Rejects
 * with CLIENT_FILE_UNUSABLE or DATA_DIR_UNWRITABLE, and then has changed nothing.
 */
export async function applyEdit({ opened, after, changes, reverse }: PlannedEdit, place: EditPlace): Promise<void> {
  const { file, format } = opened;
  const bytes = Buffer.from(after, "utf8");
  const kept = {
    realPath: file.realPath,
    format,
    changedAtMs: place.clock.now(),
    beforeHash: hashOf(file.bytes),
    afterHash: hashOf(bytes),
    mode: file.mode,
    changes,
    reverse,
  };
  await keepChange(place.dataDir, kept, file.bytes);
  try {
    await replaceClientFile(file, bytes);
  } catch (error) {
    const [newest] = await readKeptChanges(place.dataDir, file.realPath);
    if (newest?.afterHash === kept.afterHash) await newest.forget();
    throw error;
  }
}

/** What undoing will do. */
export type PlannedUndo =
  /** Nothing of ours is kept for this file. */
  | { readonly kind: "nothing" }
  /** The file is as it was before already: the change was never written, or somebody else took it back. */
  | { readonly kind: "done"; readonly kept: KeptEntry }
  /** The file becomes, byte for byte, what it was. Undefined bytes: there was none. */
  | {
      readonly kind: "restore";
      readonly opened: ClientFile;
      readonly bytes: Buffer | undefined;
      readonly kept: KeptEntry;
    }
  /** The file was written again since, with the same meaning but for what we changed: that alone is taken back. */
  | { readonly kind: "take-back"; readonly edit: PlannedEdit; readonly kept: KeptEntry };

/**
 * Works out how the last change of this file is undone. Rejects with CLIENT_FILE_UNUSABLE when somebody has changed
 * more than what we wrote; writes nothing.
 */
export async function planUndo(path: string, { dataDir }: Pick<EditPlace, "dataDir">): Promise<PlannedUndo> {
  const file = await readClientFile(path);
  const [kept] = await readKeptChanges(dataDir, file.realPath);
  if (kept === undefined) return { kind: "nothing" };
  const now = hashOf(file.bytes);
  if (now === kept.beforeHash) return { kind: "done", kept };
  const bytes = await kept.before();
  if (now === kept.afterHash)
    return {
      kind: "restore",
      opened: { ...file, mode: file.bytes === undefined ? kept.mode : file.mode },
      bytes,
      kept,
    };
  const edit = await planTakeBack(file, kept, bytes).catch(() => undefined);
  if (edit !== undefined) return { kind: "take-back", edit, kept };
  throw new GatewayError(
    "CLIENT_FILE_UNUSABLE",
    `${path} was changed by somebody else since, so that it cannot become what it was`,
    {
      hint: "`toolyard disconnect` removes our entries, and leaves the rest as it is now.",
    },
  );
}

/**
 * Whether a change of ours is kept that is not taken back yet. Whether it can be, `planUndo` says when it is asked:
 * comparing files of several megabytes takes a second, and lists ask for all of them.
 */
export async function canUndo(path: string, { dataDir }: Pick<EditPlace, "dataDir">): Promise<boolean> {
  try {
    const file = await readClientFile(path);
    const [kept] = await readKeptChanges(dataDir, file.realPath);
    return kept !== undefined && hashOf(file.bytes) !== kept.beforeHash;
  } catch {
    return false;
  }
}

/** Carries out what `planUndo` found. Rejects as `applyEdit` does. */
export async function applyUndo(undo: PlannedUndo): Promise<void> {
  if (undo.kind === "nothing") return;
  if (undo.kind === "restore") await replaceClientFile(undo.opened, undo.bytes);
  if (undo.kind === "take-back") await replaceClientFile(undo.edit.opened.file, Buffer.from(undo.edit.after, "utf8"));
  await undo.kept.forget();
}

/** Undefined where the file would mean something else than it did before our change. */
async function planTakeBack(
  file: ClientFile,
  kept: KeptEntry,
  bytes: Buffer | undefined,
): Promise<PlannedEdit | undefined> {
  const text = textOf(file);
  const asBefore = { file, text, format: kept.format };
  const opened = { ...asBefore, values: await readClientText(toClientText(asBefore)) };
  const edit = await planEdit(opened, kept.reverse);
  const before = await readClientText(toClientText({ ...asBefore, text: bytes?.toString("utf8") ?? "" }));
  const after = await readClientText(toClientText({ ...asBefore, text: edit.after }));
  return isDeepStrictEqual(withoutEmpty(after), withoutEmpty(before)) ? edit : undefined;
}

/** Without the objects and lists that hold nothing: the containers of an entry mean nothing once it is removed. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutEmpty);
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(
    members.filter(([, member]) => !isDeepStrictEqual(member, {}) && !isDeepStrictEqual(member, [])),
  );
}

/** What brings back what stood there. A member that was taken out of a list comes back with the whole list. */
function reverseOf(values: ClientValues, { path, value }: EntryChange): EntryChange {
  if (value === undefined && typeof path.at(-1) === "number") {
    const list = path.slice(0, -1);
    return { path: list, value: valueAt(values, list) };
  }
  return { path, value: valueAt(values, path) };
}

function toClientText({ file, text, format }: Pick<OpenedFile, "file" | "text" | "format">): ClientText {
  return { text, format, fileName: file.path };
}

import { constants } from "node:fs";
import { chown, copyFile, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { parseDocument } from "../file/document.ts";
import { follow, readConfigText } from "../file/file.ts";
import type { EntryChange } from "../entry/entry-change.ts";
import { editJson } from "./json-change.ts";

/** A configuration file as it was when it was read, to be changed. */
export interface EditableConfig {
  /** As it was named; links may lead elsewhere. */
  readonly file: string;
  /** The file that is written, with links followed. */
  readonly realFile: string;
  /** With its byte-order mark. Empty when there is no such file yet. */
  readonly text: string;
  /** The file's permissions; undefined when there is no such file yet. */
  readonly mode: number | undefined;
}

export interface SavedConfig {
  /** A copy of the file as it was; undefined when there was none. */
  readonly backup: string | undefined;
}

/** Reads the file to change it. Throws CONFIG_INVALID for one that cannot be read. A missing one is an empty one. */
export async function openConfigFile(file: string): Promise<EditableConfig> {
  const realFile = await follow(file);
  const found = await stat(realFile).catch(() => undefined);
  if (found === undefined) return { file, realFile, text: "", mode: undefined };
  return { file, realFile, text: await readConfigText(realFile, true), mode: found.mode & 0o777 };
}

/**
 * The file's text with these changes; comments, order, indentation, byte-order mark and line breaks are kept. Throws
 * CONFIG_INVALID for a file that is no JSON object, or that has a key twice: it cannot be known which one is meant.
 */
export function editConfig(
  { file, text }: Pick<EditableConfig, "file" | "text">,
  edits: readonly EntryChange[],
): string {
  if (text.replace(/^\uFEFF/, "").trim() !== "") {
    const [wrong] = parseDocument(text, file).wrongKeys;
    if (wrong !== undefined) throw new GatewayError("CONFIG_INVALID", wrong.problem);
  }
  return editJson(text, edits);
}

/** Writing takes milliseconds: whatever is older was left by a process that was killed. */
const staleMs = 10_000;
const newFileMode = 0o600;

/**
 * Replaces the file atomically: a reader sees the old text or the new one, also after a crash. Its permissions stay,
 * links to it stay, and the old text is kept beside it as `<file>.bak`. A new file is readable by its owner only,
 * because secrets may be written to it later. Rejects with CONFIG_CHANGED when the file is not as it was read any more,
 * and with CONFIG_UNWRITABLE when it cannot be written.
 */
export async function saveConfig(before: EditableConfig, text: string): Promise<SavedConfig> {
  const { file, realFile, mode = newFileMode } = before;
  if ((mode & constants.S_IWUSR) === 0) throw unwritable(file, "it is read-only");
  const temporary = join(dirname(realFile), `.${basename(realFile)}.new`);
  // Only one process has this file at a time, so that no other process writes between the comparison and the
  // replacement.
  const output = await claim(temporary, mode).catch((error: unknown) => fail(file, error));
  try {
    await output.chmod(mode);
    await output.writeFile(text);
    await output.sync();
    await refuseChanged(before);
    const backup = before.mode === undefined ? undefined : `${realFile}.bak`;
    if (backup !== undefined) await copyFile(realFile, backup);
    await keepOwner(realFile, temporary);
    await rename(temporary, realFile);
    await syncFolder(dirname(realFile));
    return { backup };
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    return fail(file, error);
  } finally {
    await output.close();
  }
}

/** The copy that the last change left beside the file; undefined when there is none. Throws CONFIG_INVALID. */
export async function readPrevious(file: string): Promise<string | undefined> {
  const backup = `${await follow(file)}.bak`;
  return (await stat(backup).catch(() => undefined)) === undefined ? undefined : await readConfigText(backup, true);
}

async function claim(temporary: string, mode: number): ReturnType<typeof open> {
  try {
    return await open(temporary, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const found = await stat(temporary).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs < staleMs)
      throw new GatewayError("CONFIG_CHANGED", "somebody else is changing the file at this moment", { cause: error });
    await rm(temporary, { force: true });
    return await open(temporary, "wx", mode);
  }
}

async function refuseChanged({ file, realFile, text }: EditableConfig): Promise<void> {
  const now = await readFile(realFile, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  if (now !== text || (await follow(file)) !== realFile)
    throw new GatewayError("CONFIG_CHANGED", `${file} was changed by somebody else in the meantime`);
}

/** Somebody who runs this as root must not take the file away from its owner. */
async function keepOwner(realFile: string, temporary: string): Promise<void> {
  const found = await stat(realFile).catch(() => undefined);
  if (found !== undefined) await chown(temporary, found.uid, found.gid).catch(() => undefined);
}

/** Without this, a crash may undo the renaming. Some systems cannot open folders; there the rename has to do. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function fail(file: string, error: unknown): never {
  if (error instanceof GatewayError) throw error;
  throw unwritable(file, (error as NodeJS.ErrnoException).code ?? String(error), error);
}

function unwritable(file: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("CONFIG_UNWRITABLE", `${file} cannot be written: ${why}`, { cause });
}

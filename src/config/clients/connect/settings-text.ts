import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { readText } from "../../file/file.ts";

/**
 * The largest file that is read. Claude Code keeps the history of every project beside its servers, which makes files
 * of several megabytes; nothing else comes near that.
 */
export const settingsFileBytes = 16 * 1_048_576;

/** The most files that are read of one folder. People have one for each server. */
const mostInFolder = 100;

/** The contents of a client's file, or why it cannot be read. */
export type SettingsText =
  | { readonly text: string; readonly realPath: string; readonly problem?: undefined }
  /** `problem` is a phrase that follows the file's name. */
  | { readonly problem: string; readonly realPath: string; readonly text?: undefined };

/**
 * Reads a client's file, following symbolic links, because many people keep their settings in a folder of dotfiles.
 * Undefined when there is no such file. Never rejects: a pipe, a folder, a file of another encoding or one that is too
 * large is a problem.
 */
export async function readSettingsText(path: string): Promise<SettingsText | undefined> {
  const found = await lstat(path).catch((error: unknown) => codeOf(error));
  if (found === "ENOENT" || found === "ENOTDIR") return undefined;
  const isLink = typeof found === "object" && found.isSymbolicLink();
  const realPath = await realpath(path).catch(() => undefined);
  if (isLink && realPath === undefined) return { problem: "is a symbolic link that leads nowhere", realPath: path };
  try {
    return { text: await readText(path, settingsFileBytes), realPath: realPath ?? path };
  } catch (error) {
    return { problem: (error as Error).message, realPath: realPath ?? path };
  }
}

/** The files that a path of the table means: itself, or with `*` at the end those of the folder, in order of name. */
export async function listSettingsFiles(path: string): Promise<readonly string[]> {
  if (!path.endsWith("*")) return [path];
  const folder = path.slice(0, -2);
  const names = await readdir(folder).catch(() => []);
  const settings = names.filter((name) => [".yaml", ".yml", ".json"].includes(extname(name).toLowerCase()));
  return settings
    .toSorted()
    .slice(0, mostInFolder)
    .map((name) => join(folder, name));
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

/** Whether there is a folder of this name. */
export async function isFolderThere(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { readText } from "../../file/file.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { OffKind } from "../table/client-row.ts";

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

/** What a client says is off, wherever it says it. */
export interface OffFacts {
  readonly kind: OffKind;
  /** The value there; anything but a list or an object is ignored. */
  readonly value: unknown;
}

/** The parts of one server that are switched off. */
interface SwitchedOff {
  readonly isOff: boolean;
  /** Its tools that are off; `*` matches any characters. */
  readonly tools: readonly string[];
}

/** What the client's lists switch off of the server with this name. */
export function switchedOff(name: string, facts: readonly OffFacts[]): SwitchedOff {
  let isOff = false;
  const tools = new Set<string>();
  for (const { kind, value } of facts) {
    const found = readers[kind](name, value);
    isOff ||= found.isOff;
    for (const tool of found.tools) tools.add(tool);
  }
  return { isOff, tools: [...tools] };
}

const nothing: SwitchedOff = { isOff: false, tools: [] };

const readers: Readonly<Record<OffKind, (name: string, value: unknown) => SwitchedOff>> = {
  denied: (name, value) => ({ isOff: Array.isArray(value) && value.includes(name), tools: [] }),
  allowed: (name, value) => ({ isOff: Array.isArray(value) && !value.includes(name), tools: [] }),
  rules(name, value) {
    if (!Array.isArray(value)) return nothing;
    const prefix = `mcp__${plainName(name)}`;
    const own = value.filter((rule) => typeof rule === "string" && (rule === prefix || rule.startsWith(`${prefix}__`)));
    const tools = own
      .map((rule: string) => rule.slice(prefix.length + 2))
      .filter((tool) => tool !== "" && tool !== "*");
    return { isOff: own.some((rule: string) => rule === prefix || rule === `${prefix}__*`), tools };
  },
  switches(name, value) {
    if (!isJsonObject(value)) return nothing;
    const prefix = `${plainName(name)}_`;
    const off = Object.keys(value).filter((key) => value[key] === false || value[key] === "deny");
    const isOff = off.some((key) => key.endsWith("*") && prefix.startsWith(key.slice(0, -1)));
    const tools = off.filter((key) => key.startsWith(prefix) && key !== `${prefix}*`);
    return { isOff, tools: tools.map((key) => key.slice(prefix.length)).filter((tool) => tool !== "") };
  },
};

/** Both clients that name tools so replace all characters but letters, digits, `_` and `-`. */
export function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

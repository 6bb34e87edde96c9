import { constants } from "node:fs";
import { copyFile, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { addServers } from "../config/clients/config-edit.ts";
import { translateEntry } from "../config/clients/client-entry.ts";
import type { ImportedEntry } from "../config/clients/client-entry.ts";
import type { PresentServer } from "../config/clients/import-plan.ts";
import { parseDocument } from "../config/document.ts";
import { readConfigText } from "../config/file.ts";
import { findServers } from "../config/source.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import { replaceFile } from "../store/files/replace-file.ts";
import { givenOption } from "./options.ts";
import type { CommandContext } from "./command-context.ts";

/** The configuration file that servers are added to. */
export interface ImportTarget {
  readonly file: string;
  /** What stands in it; undefined for a file that is not there yet. */
  readonly text: string | undefined;
  readonly present: readonly PresentServer[];
}

/**
 * The file that `--config` names, or toolyard.json here, or the user's. `mcp.json` and `.mcp.json` are left alone:
 * they belong to the project and its other clients. Rejects with CONFIG_INVALID for a file that cannot be used.
 */
export async function readTarget(context: CommandContext): Promise<ImportTarget> {
  const asked = givenOption(context, "config")?.text;
  const here = resolve(context.cwd, "toolyard.json");
  const users = join(context.homeDirectories.config, "toolyard.json");
  const file = asked === undefined ? ((await isThere(here)) ? here : users) : resolve(context.cwd, asked);
  if (!(await isThere(file))) return { file, text: undefined, present: [] };
  const text = await readConfigText(file, true);
  return { file, text, present: text.trim() === "" ? [] : presentIn(text, file) };
}

function presentIn(text: string, file: string): readonly PresentServer[] {
  const document = parseDocument(text, file);
  return findServers(document).map(({ key, path }) => {
    try {
      const how = { entries: "common", dialect: "none", project: undefined } as const;
      return { key, entry: translateEntry(document.value(path), { document, path }, how).entry };
    } catch {
      return { key, entry: undefined };
    }
  });
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

/** The text with these servers added. */
export function withServers(
  { text, file }: ImportTarget,
  servers: readonly (readonly [string, ImportedEntry])[],
): string {
  return addServers(text, servers, file);
}

/**
 * Writes the file as a whole, or not at all: a crash half-way leaves the old one. Returns the path of the backup;
 * undefined for a new file. Rejects with CONFIG_INVALID when the file has changed since it was read, or cannot be
 * written.
 */
export async function writeTarget({ file, text: before }: ImportTarget, text: string): Promise<string | undefined> {
  try {
    if (before === undefined) {
      if (await isThere(file)) throw new Error("was made by another program in the meantime");
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await replaceFile(file, text);
      return undefined;
    }
    // A link stays one: what it leads to is replaced.
    const real = await realpath(file);
    if ((await readConfigText(real, true)) !== before)
      throw new Error("was changed by another program in the meantime");
    const { mode } = await stat(real);
    // Replacing a file needs no permission to write it: somebody made it read-only to keep it as it is.
    if ((mode & 0o222) === 0) throw new Error("is read-only");
    const backup = `${real}.backup-${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`;
    await copyFile(real, backup, constants.COPYFILE_EXCL);
    await replaceFile(real, text, mode & 0o777);
    return backup;
  } catch (error) {
    throw new GatewayError("CONFIG_INVALID", `${file}: ${(error as Error).message}`, {
      cause: error,
      hint: "Nothing was changed. Run the command again, or name another file with --config.",
    });
  }
}

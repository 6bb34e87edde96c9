import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { addServers } from "../../../config/clients/import/added-servers.ts";
import { translateEntry } from "../../../config/clients/connect/client-entry.ts";
import type { ImportedEntry } from "../../../config/clients/connect/client-entry.ts";
import type { PresentServer } from "../../../config/clients/import/import-plan.ts";
import { openConfigFile, saveConfig, type EditableConfig } from "../../../config/edit/config-edit.ts";
import { parseDocument, type Document } from "../../../config/file/document.ts";
import { findServers } from "../../../config/file/source.ts";
import { sandboxModeIn, type SandboxMode } from "../../../config/rows/sandbox-rows.ts";
import { givenOption } from "../../../config/given.ts";
import { carryTrust, type Surroundings } from "../surroundings/surroundings.ts";

/** The configuration file that servers are added to. */
export interface ImportTarget {
  readonly file: string;
  /** As it was read. */
  readonly opened: EditableConfig;
  /** Its contents; undefined for a file that is not there yet. */
  readonly text: string | undefined;
  readonly present: readonly PresentServer[];
  /** What it says of servers that say nothing of a sandbox. */
  readonly sandboxMode: SandboxMode;
}

/**
 * The file that `--config` names, or toolyard.json here, or the user's. `mcp.json` and `.mcp.json` are left alone:
 * they belong to the project and its other clients. Rejects with CONFIG_INVALID for a file that cannot be used.
 */
export async function readTarget(context: Surroundings): Promise<ImportTarget> {
  const asked = givenOption(context, "config")?.text;
  const here = resolve(context.cwd, "toolyard.json");
  const users = join(context.homeDirectories.config, "toolyard.json");
  const file = asked === undefined ? ((await isThere(here)) ? here : users) : resolve(context.cwd, asked);
  const opened = await openConfigFile(file);
  if (opened.mode === undefined) return { file, opened, text: undefined, ...contentsOf("", file, context.env) };
  const { text } = opened;
  return { file, opened, text, ...contentsOf(text.replace(/^\uFEFF/, ""), file, context.env) };
}

function contentsOf(
  text: string,
  file: string,
  env: Surroundings["env"],
): Pick<ImportTarget, "present" | "sandboxMode"> {
  const document = parseDocument(text.trim() === "" ? "{}" : text, file);
  return { present: presentIn(document, env), sandboxMode: sandboxModeIn(document) };
}

function presentIn(document: Document, env: Surroundings["env"]): readonly PresentServer[] {
  return findServers(document).map(({ key, path }) => {
    try {
      const how = { entries: "common", dialect: "none", project: undefined, env } as const;
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
 * undefined for a new file. Rejects as `saveConfig` does, when the file has changed since it was read, or cannot be
 * written.
 */
export async function writeTarget(
  context: Surroundings,
  { opened }: ImportTarget,
  text: string,
): Promise<string | undefined> {
  // The user's own folder may not be there yet. What goes wrong here shows itself when the file is written.
  await mkdir(dirname(opened.realFile), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await carryTrust(context, opened, text);
  return (await saveConfig(opened, text)).backup;
}

import { withKeptValues } from "../surroundings/surroundings.ts";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../../config/config.ts";
import { editConfig, openConfigFile, saveConfig, type EditableConfig } from "../../../config/edit/config-edit.ts";
import { parseDocument, type Document, type Path } from "../../../config/file/document.ts";
import { findFile } from "../../../config/file/file.ts";
import type { EntryChange } from "../../../config/entry/entry-change.ts";
import { describeFound, loadConfigText } from "../../../config/load.ts";
import { findServers, type ServerPlace } from "../../../config/file/source.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { carryTrust, trustedIn, type Surroundings } from "../surroundings/surroundings.ts";
import { textOption } from "../../../config/given.ts";

/** The configuration file of this command, to be changed. */
export interface EditedConfig {
  readonly opened: EditableConfig;
  readonly document: Document;
  readonly servers: readonly ServerPlace[];
  /** The text with these changes. */
  edit(edits: readonly EntryChange[]): string;
  /** What a text would mean, with these variables beside those of the environment. Rejects with CONFIG_INVALID. */
  check(text: string, variables?: Readonly<Record<string, string | undefined>>): Promise<Config>;
  save(text: string): Promise<string | undefined>;
}

/**
 * Opens the file that `--config` names, or that would be found here. When there is none, it is the user's own
 * `toolyard.json`, which is found from everywhere. Rejects with CONFIG_INVALID, and with
 * CONFIG_UNTRUSTED as `readConfig` does.
 */
export async function openEditedConfig(context: Surroundings): Promise<EditedConfig> {
  const { cwd, env, flags, homeDirectories } = context;
  const named = textOption(context, "config");
  const found = await findFile(named, cwd, homeDirectories);
  const opened = await openConfigFile(found ?? join(homeDirectories.config, "toolyard.json"));
  if (named === undefined && found !== undefined && dirname(found) !== join(homeDirectories.config))
    await trustedIn(context).admit(await describeFound(opened, context));
  const { file, realFile, text } = opened;
  // Servers run in the folder of the file, also when they are only tried.
  if (found === undefined) mkdirSync(homeDirectories.config, { recursive: true, mode: 0o700 });
  else if (!existsSync(dirname(realFile)))
    throw new GatewayError("CONFIG_UNWRITABLE", `the folder of ${file} does not exist`, {
      hint: "Make it, or name another file.",
    });
  const document = parseDocument(text.trim() === "" ? "{}" : text, file);
  return {
    opened,
    document,
    servers: findServers(document),
    edit: (edits) => editConfig(opened, edits),
    async check(next, variables = {}) {
      const place = { realFile, directory: dirname(realFile) };
      return await withKeptValues({ ...context, env: { ...env, ...variables } }, async ({ env: all }) => {
        return await loadConfigText({ file, text: next, place }, { cwd, flags, homeDirectories, env: all });
      });
    },
    async save(next) {
      await carryTrust(context, opened, next);
      return (await saveConfig(opened, next)).backup;
    },
  };
}

/** Where a new server goes: to the others, whichever client the file was written for. */
export function pathForNew({ servers, document }: Pick<EditedConfig, "servers" | "document">, name: string): Path {
  const others = servers[0]?.path.slice(0, -1);
  const empty = [["mcpServers"], ["servers"]].find((path) => document.value(path) !== undefined);
  return [...(others ?? empty ?? ["mcpServers"]), name];
}

/** The server that is meant. Throws SERVER_UNKNOWN. */
export function placeOfServer(
  { servers, opened }: Pick<EditedConfig, "servers" | "opened">,
  name: string,
): ServerPlace {
  const place = servers.find(({ key }) => key === name);
  if (place !== undefined) return place;
  throw new GatewayError("SERVER_UNKNOWN", `there is no server ${JSON.stringify(name)} in ${opened.file}`, {
    hint:
      servers.length === 0
        ? "There are none yet: `toolyard servers add` adds one."
        : `There are: ${servers.map(({ key }) => key).join(", ")}.`,
  });
}

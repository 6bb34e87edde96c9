import { switchChanges, type EntryChange } from "../../config/entry/entry-change.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { reportChange } from "./change-report.ts";
import { openEditedConfig, placeOfServer, type EditedConfig } from "../../operations/machine/servers/edited-config.ts";

/** `toolyard servers remove NAME`. */
export async function removeServer(context: CommandContext, name: string): Promise<number> {
  const edited = await openEditedConfig(context);
  const { path } = placeOfServer(edited, name);
  const { file } = edited.opened;
  const backup = await saveChecked(edited, [{ path, value: undefined }]);
  return await reportChange(context, {
    what: `removed ${name} from ${file}; it is still in ${backup ?? ""}`,
    server: { key: name, slug: name, isToRun: false },
    facts: { name, file, backup: backup ?? null },
  });
}

/** `toolyard servers enable|disable NAME`. */
export async function switchServer(context: CommandContext, name: string, isOn: boolean): Promise<number> {
  const edited = await openEditedConfig(context);
  const { file, text } = edited.opened;
  const edits = switchChanges({ document: edited.document, ...placeOfServer(edited, name) }, isOn);
  const backup = edits.length === 0 ? undefined : await saveChecked(edited, edits);
  const config = await edited.check(edits.length === 0 ? text : edited.edit(edits));
  const server = config.servers.find(({ key }) => key === name);
  if (isOn && server?.disabledReason !== undefined)
    process.stderr.write(`${name} is enabled, and still off: ${plainText(server.disabledReason)}\n`);
  const word = isOn ? "enabled" : "disabled";
  return await reportChange(context, {
    what: edits.length === 0 ? `${name} was ${word} already` : `${word} ${name} in ${file}`,
    server: { key: name, slug: server?.slug ?? name, isToRun: isOn },
    facts: { name, file, backup: backup ?? null, enabled: isOn },
  });
}

/** A file that a gateway would refuse afterwards is not written. */
async function saveChecked(edited: EditedConfig, edits: readonly EntryChange[]): Promise<string | undefined> {
  const text = edited.edit(edits);
  await edited.check(text);
  return await edited.save(text);
}

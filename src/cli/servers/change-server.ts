import type { EntryChange } from "../../config/entry/entry-change.ts";
import type { Path } from "../../config/file/document.ts";
import { switchedOffIn } from "../../config/file/source.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../terminal/plain-text.ts";
import { reportChange } from "./change-report.ts";
import { openEditedConfig, placeOfServer, type EditedConfig } from "./edited-config.ts";

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
  const { path } = placeOfServer(edited, name);
  const { file, text } = edited.opened;
  if (isOn && switchedOffIn(edited.document)(name))
    throw new GatewayError(
      "CONFIG_INVALID",
      `${edited.document.place(["mcp"])}: \`mcp.allowed\` or \`mcp.excluded\` switches ${name} off`,
      {
        hint: "Change that list in the file.",
      },
    );
  const edits = isOn ? enabling(edited, path) : disabling(edited, path);
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

/** On is what an entry is that says nothing of it. */
function enabling({ document }: EditedConfig, path: Path): readonly EntryChange[] {
  return [
    ...(document.value([...path, "enabled"]) === false ? [{ path: [...path, "enabled"], value: undefined }] : []),
    ...(document.value([...path, "disabled"]) === true ? [{ path: [...path, "disabled"], value: undefined }] : []),
  ];
}

/** In the spelling that the entry has already. */
function disabling({ document }: EditedConfig, path: Path): readonly EntryChange[] {
  const [enabled, disabled] = [document.value([...path, "enabled"]), document.value([...path, "disabled"])];
  if (enabled === false || disabled === true) return [];
  if (enabled === undefined && disabled !== undefined) return [{ path: [...path, "disabled"], value: true }];
  return [{ path: [...path, "enabled"], value: false }];
}

import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { ownersClient, readStatus } from "../gateway/gateway-client.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { findGateways } from "../gateway/running-gateways.ts";
import { toServerTable } from "../terminal/status-text.ts";
import { toTable } from "../terminal/table.ts";
import { addExamples, addServer } from "./add-server.ts";
import { tryConfigured } from "./try-configured.ts";
import { switchChanges, type EntryChange } from "../../config/entry/entry-change.ts";
import { reportChange } from "./change-report.ts";
import { openEditedConfig, placeOfServer, type EditedConfig } from "../../operations/machine/servers/edited-config.ts";

/** `toolyard servers [add|remove|enable|disable|test]`. */
export async function servers(context: CommandContext): Promise<number> {
  const [action, ...words] = context.positionals;
  switch (action) {
    case undefined:
    case "list":
      return await listServers(context);
    case "add":
      return isOn(context, "examples") ? await addExamples(context, words) : await addServer(context, words);
    case "remove":
      return await removeServer(context, onlyName(words, action));
    case "enable":
    case "disable":
      return await switchServer(context, onlyName(words, action), action === "enable");
    case "test":
      return await tryConfigured(context, words);
    default:
      throw new GatewayError("CONFIG_INVALID", `\`servers\` cannot ${JSON.stringify(plainText(action))}`, {
        hint: "It takes add, remove, enable, disable or test; without one of these it lists the servers.",
      });
  }
}

function onlyName(words: readonly string[], action: string): string {
  const [name, ...more] = words;
  if (name !== undefined && more.length === 0) return name;
  throw new GatewayError("CONFIG_INVALID", `expected the name of one server`, {
    hint: `Write \`toolyard servers ${action} NAME\`; \`toolyard servers\` lists the names.`,
  });
}

/** As the running gateway has them; without one, as the file has them. */
async function listServers(context: CommandContext): Promise<number> {
  const [holder] = await runningGateways(context);
  if (holder === undefined) return await listConfigured(context);
  const { servers: found } = await readStatus(ownersClient(holder));
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ running: true, servers: found })}\n`);
  else if (found.length > 0) process.stdout.write(`${toServerTable(found, Date.now()).join("\n")}\n`);
  else process.stderr.write("There are no servers. `toolyard servers add` adds one.\n");
  return 0;
}

async function runningGateways(context: CommandContext): Promise<readonly GatewayHolder[]> {
  try {
    return await findGateways(context);
  } catch (error) {
    if (toGatewayError(error).code === "GATEWAY_UNREACHABLE") return [];
    throw error;
  }
}

async function listConfigured(context: CommandContext): Promise<number> {
  const { servers: configured, file } = await readConfig(context);
  const rows = configured.map(({ key, slug, disabledReason }) => ({
    server: slug,
    name: key,
    enabled: disabledReason === undefined,
    reason: disabledReason ?? null,
  }));
  if (isOn(context, "json")) {
    process.stdout.write(`${JSON.stringify({ running: false, servers: rows })}\n`);
    return 0;
  }
  const columns = [{ heading: "SERVER" }, { heading: "STATUS" }, { heading: "WHY", fit: "below" }] as const;
  const cells = rows.map(({ name, enabled, reason }) => [
    plainText(name),
    enabled ? "not running" : "off",
    plainText(reason ?? ""),
  ]);
  if (rows.length > 0) process.stdout.write(`${toTable(columns, cells).join("\n")}\n`);
  process.stderr.write(
    rows.length === 0
      ? `There are no servers${file === undefined ? "" : ` in ${file}`}. \`toolyard servers add\` adds one.\n`
      : "No gateway runs with this configuration. `toolyard serve` starts one.\n",
  );
  return 0;
}

/** `toolyard servers remove NAME`. */
async function removeServer(context: CommandContext, name: string): Promise<number> {
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
async function switchServer(context: CommandContext, name: string, isOn: boolean): Promise<number> {
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

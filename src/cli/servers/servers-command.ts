import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { readStatus } from "../gateway/gateway-client.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { findGateways } from "../gateway/running-gateways.ts";
import { toServerTable } from "../terminal/status-text.ts";
import { toTable } from "../terminal/table.ts";
import { addExamples, addServer } from "./add-server.ts";
import { removeServer, switchServer } from "./change-server.ts";
import { tryConfigured } from "./try-configured.ts";

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

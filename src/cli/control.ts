import { resolve } from "node:path";
import type { InstanceLine } from "../app/owner.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import { readGatewayHolder, type GatewayHolder } from "../store/gateway-lock.ts";
import { readStartTime } from "../upstream/process/process-table.ts";
import { dataDirectoryOf, readConfig, type CommandContext } from "./context.ts";
import { textOption } from "./options.ts";
import { control } from "./owner-client.ts";
import { plainText } from "./plain-text.ts";
import { showWaiting } from "./waiting-line.ts";

/** `toolyard status`: one line per instance of the gateway that holds the data directory. */
export async function status(context: CommandContext): Promise<number> {
  const holder = await findHolder(context);
  const answer = await control(holder, { command: "status" });
  process.stdout.write(`gateway ${holder.url ?? ""} (process ${holder.pid})\n`);
  for (const line of answer.instances ?? []) process.stdout.write(toText(line));
  return 0;
}

/** `toolyard restart <server|instance>`: stops it, forgets its crashes, starts it. */
export async function restart(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  if (name === undefined) {
    process.stderr.write("toolyard: which server? `toolyard restart <server|instance>`\n");
    return 2;
  }
  const holder = await findHolder(context);
  const waiting = showWaiting(`waiting for ${plainText(name)} to start`, process.stderr);
  const answer = await control(holder, { command: "restart", name }).finally(waiting.end);
  if (!answer.ok) {
    process.stderr.write(`toolyard: ${answer.message ?? "it could not be restarted"}\n  ${answer.hint ?? ""}\n`);
    return 1;
  }
  for (const line of answer.instances ?? []) process.stdout.write(toText(line));
  return 0;
}

/** `toolyard stop`: ends the gateway that holds the data directory, as SIGTERM does. */
export async function stop(context: CommandContext): Promise<number> {
  await control(await findHolder(context), { command: "stop" });
  return 0;
}

async function findHolder(context: CommandContext): Promise<GatewayHolder> {
  // A broken configuration must not keep anybody from the gateway that runs with the one before.
  const given = textOption(context, "data-dir");
  const dataDir =
    given === undefined ? dataDirectoryOf(await readConfig(context), context) : resolve(context.cwd, given);
  const holder = await readGatewayHolder({ dataDir, startTimeOf: readStartTime });
  if (holder === undefined)
    throw new GatewayError("GATEWAY_UNREACHABLE", `no gateway runs with the data directory ${dataDir}`);
  return holder;
}

function toText({ id, status: state, dormant, tools, pid, reason }: InstanceLine): string {
  const shown = dormant ? "dormant" : state;
  const facts = [
    `${tools} tools`,
    ...(pid === null ? [] : [`process ${pid}`]),
    ...(reason === "" || dormant ? [] : [plainText(reason)]),
  ];
  return `  ${id.padEnd(24)} ${shown.padEnd(20)} ${facts.join(", ")}\n`;
}

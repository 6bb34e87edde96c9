import type { InstanceLine } from "../app/owner-commands.ts";
import type { CommandContext } from "./command-context.ts";
import { control } from "./owner-client.ts";
import { plainText } from "./plain-text.ts";
import { showWaiting } from "./waiting-line.ts";
import { findGateway, findGateways } from "./running-gateways.ts";

/** `toolyard status`: prints one line per instance, of the gateway that is meant or of all that run. */
export async function status(context: CommandContext): Promise<number> {
  const holders = await findGateways(context);
  for (const holder of holders) {
    const { configFile } = holder.serves;
    const which = holders.length > 1 ? ` ${configFile ?? "without a configuration file"}` : "";
    const answer = await control(holder, { command: "status" });
    process.stdout.write(`gateway ${holder.url ?? ""} (process ${holder.pid})${which}\n`);
    if (answer.problem !== undefined) process.stdout.write(`  restart it: ${plainText(answer.problem)}\n`);
    for (const line of answer.instances ?? []) process.stdout.write(toText(line));
  }
  return 0;
}

/** `toolyard restart <server|instance>`: stops it, forgets its crashes, and starts it. */
export async function restart(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  if (name === undefined) {
    process.stderr.write("toolyard: which server? `toolyard restart <server|instance>`\n");
    return 2;
  }
  const holder = await findGateway(context);
  const waiting = showWaiting(`waiting for ${plainText(name)} to start`, process.stderr);
  const answer = await control(holder, { command: "restart", name }).finally(waiting.end);
  if (!answer.ok) {
    process.stderr.write(`toolyard: ${answer.message ?? "it could not be restarted"}\n  ${answer.hint ?? ""}\n`);
    return 1;
  }
  for (const line of answer.instances ?? []) process.stdout.write(toText(line));
  return 0;
}

/** `toolyard stop`: ends the gateway that is meant, as SIGTERM does. */
export async function stop(context: CommandContext): Promise<number> {
  await control(await findGateway(context), { command: "stop" });
  return 0;
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

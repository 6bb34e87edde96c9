import type { InstanceLine } from "../app/owner-commands.ts";
import type { CommandContext } from "./command-context.ts";
import { control } from "./owner-client.ts";
import { plainText } from "./plain-text.ts";
import { showWaiting } from "./waiting-line.ts";
import { findGateway } from "./running-gateways.ts";

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

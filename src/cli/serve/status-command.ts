import { sleep } from "../../kernel/runtime/abort.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { openGatewayClient, openGatewayClients, type GatewayClient } from "../gateway/gateway-client.ts";
import { readStatus, type GatewayStatus, type ServerStatus } from "../gateway/gateway-client.ts";
import { toClockText, toInstanceText } from "../terminal/record-cells.ts";
import { statusText, toStatusLines } from "../terminal/status-text.ts";
import { fitLine } from "../terminal/terminal-screen.ts";

/** `toolyard status`: a row for each instance, of the gateway that is meant or of all that run. */
export async function status(context: CommandContext): Promise<number> {
  const isJson = isOn(context, "json");
  if (isOn(context, "watch")) return await watch(await openGatewayClient(context), isJson);
  const all = await openGatewayClients(context);
  for (const { gateway, holder } of all) {
    const found = await readStatus(gateway);
    const lines = toLines(gateway, found, all.length > 1 ? holder : undefined);
    process.stdout.write(isJson ? `${JSON.stringify(found)}\n` : `${lines.join("\n")}\n`);
  }
  return 0;
}

function toLines(
  { base }: GatewayClient,
  found: GatewayStatus,
  oneOfMany: GatewayHolder | undefined,
): readonly string[] {
  const which = oneOfMany === undefined ? "" : ` ${oneOfMany.serves.configFile ?? "without a configuration file"}`;
  const process = found.pid === null ? "" : ` (process ${found.pid})`;
  return [`gateway ${base}${process}${which}`, ...toStatusLines(found, Date.now())];
}

const lookMs = 1_000;

/** On a terminal the same lines are drawn again; elsewhere every change is a line. Ends when the gateway does. */
async function watch(gateway: GatewayClient, isJson: boolean): Promise<number> {
  const show = !isJson && process.stdout.isTTY ? createRedraw(process.stdout) : undefined;
  const told = new Map<string, string>();
  for (const never = new AbortController(); ; await sleep(lookMs, never.signal)) {
    const found = await readStatus(gateway);
    const changed = found.servers.filter((server) => isNews(told, server));
    const isGone = forget(told, found.servers);
    if (show !== undefined) show(toLines(gateway, found, undefined));
    else if (!isJson) for (const server of changed) process.stdout.write(`${toChange(server)}\n`);
    else if (changed.length > 0 || isGone) process.stdout.write(`${JSON.stringify(found)}\n`);
  }
}

function isNews(told: Map<string, string>, { instance, word, reason }: ServerStatus): boolean {
  const now = `${word}\n${reason}`;
  if (told.get(instance) === now) return false;
  told.set(instance, now);
  return true;
}

function forget(told: Map<string, string>, servers: readonly ServerStatus[]): boolean {
  const there = new Set<string>(servers.map(({ instance }) => instance));
  const gone = [...told.keys()].filter((instance) => !there.has(instance));
  for (const instance of gone) told.delete(instance);
  return gone.length > 0;
}

function toChange(server: ServerStatus): string {
  const now = new Date();
  const what = `${toInstanceText(server).padEnd(16)}  ${statusText(server, now.getTime())}`;
  const why = server.status === "online" || server.next === null ? "" : `  ${server.next.command ?? server.next.text}`;
  return `${toClockText(now.toISOString(), now)}  ${what}${why}`;
}

type Screen = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

/** Draws lines over those of the last time. Lines beyond the screen are cut: they could not be drawn over. */
function createRedraw(screen: Screen): (lines: readonly string[]) => void {
  let drawn = 0;
  return (lines) => {
    const { columns, rows } = screen;
    const fitting = lines.slice(0, rows - 1).map((line) => fitLine(line, columns));
    const back = drawn === 0 ? "" : `\u001b[${drawn}A\r\u001b[J`;
    screen.write(`${back}${fitting.join("\n")}\n`);
    drawn = fitting.length;
  };
}

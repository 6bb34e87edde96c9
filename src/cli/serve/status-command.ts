import { sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayStatus, ServerStatus } from "../../records/gateway-status.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../command/options.ts";
import { control } from "../gateway/owner-client.ts";
import { toClockText, toInstanceText } from "../terminal/record-cells.ts";
import { findGateway, findGateways } from "../gateway/running-gateways.ts";
import { statusText, toStatusLines } from "../terminal/status-text.ts";

/** `toolyard status`: a row for each instance, of the gateway that is meant or of all that run. */
export async function status(context: CommandContext): Promise<number> {
  const isJson = isOn(context, "json");
  if (isOn(context, "watch")) return await watch(await findGateway(context), isJson);
  const holders = await findGateways(context);
  for (const holder of holders) {
    const found = await readStatus(holder);
    process.stdout.write(
      isJson ? `${JSON.stringify(found)}\n` : `${toLines(holder, found, holders.length > 1).join("\n")}\n`,
    );
  }
  return 0;
}

/** Rejects with GATEWAY_UNREACHABLE. */
async function readStatus(holder: GatewayHolder): Promise<GatewayStatus> {
  const { status: found } = await control(holder, { command: "status" });
  if (found === undefined)
    throw new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${holder.pid} is of another version`, {
      hint: "Run `toolyard stop` and start it again.",
    });
  return found;
}

function toLines({ url, pid, serves }: GatewayHolder, found: GatewayStatus, isOneOfMany: boolean): readonly string[] {
  const which = isOneOfMany ? ` ${serves.configFile ?? "without a configuration file"}` : "";
  return [`gateway ${url ?? ""} (process ${pid})${which}`, ...toStatusLines(found, Date.now())];
}

const lookMs = 1_000;

/** On a terminal the same lines are drawn again; elsewhere every change is a line. Ends when the gateway does. */
async function watch(holder: GatewayHolder, isJson: boolean): Promise<number> {
  const show = !isJson && process.stdout.isTTY ? createRedraw(process.stdout) : undefined;
  const told = new Map<string, string>();
  for (const never = new AbortController(); ; await sleep(lookMs, never.signal)) {
    const found = await readStatus(holder);
    const changed = found.servers.filter((server) => isNews(told, server));
    const isGone = forget(told, found.servers);
    if (show !== undefined) show(toLines(holder, found, false));
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
    const fitting = lines.slice(0, rows - 1).map((line) => line.slice(0, columns - 1));
    const back = drawn === 0 ? "" : `\u001b[${drawn}A\r\u001b[J`;
    screen.write(`${back}${fitting.join("\n")}\n`);
    drawn = fitting.length;
  };
}

import { toSlug } from "../../config/words/slug.ts";
import type { giveFiles } from "../../operations/gateway/node-operations.ts";
import type { restartOne } from "../../operations/servers/instance-operations.ts";
import { abortAfter, sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { findDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import {
  openGatewayClient,
  readStatus,
  type ServerStatus,
  ownersClient,
  openGatewayClients,
  type GatewayClient,
  type GatewayStatus,
} from "../gateway/gateway-client.ts";
import { stopByDoor } from "../gateway/owner-client.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { showWaiting } from "../terminal/waiting-line.ts";
import { describeGateway, findGateway } from "../gateway/running-gateways.ts";
import { toLocalOrigin } from "../../kernel/text/host-addresses.ts";
import type { makeDashboardLink } from "../../operations/gateway/database-operations.ts";
import { openBrowser } from "../../operations/machine/surroundings/own-command.ts";
import { isOn, textOption } from "../../config/given.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { toClockText, toInstanceText } from "../terminal/record-cells.ts";
import { statusText, toStatusLines } from "../terminal/status-text.ts";
import { fitLine } from "../terminal/terminal-screen.ts";

/** `toolyard restart <server|instance>`: stops it, forgets its crashes, and starts it. */
export async function restart(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  if (name === undefined) {
    process.stderr.write("toolyard: which server? `toolyard restart <server|instance>`\n");
    return 2;
  }
  const gateway = await openGatewayClient(context);
  const { servers } = await readStatus(gateway);
  const chosen = servers.filter((one) => one.instance === name || one.server === name || one.server === toSlug(name));
  if (chosen.length === 0)
    throw new GatewayError("SERVER_UNKNOWN", `there is no server or instance ${name.slice(0, 200)}`, {
      hint: "`toolyard status` lists them.",
    });
  const waiting = showWaiting(`waiting for ${plainText(name)} to start`, process.stderr);
  const node = textOption(context, "files-at");
  const restartOf = async (id: string): Promise<void> => {
    if (node !== undefined)
      await gateway.ask<typeof giveFiles>("POST /api/instances/{id}/files", { params: { id }, body: { node } });
    await gateway.ask<typeof restartOne>("POST /api/instances/{id}/restart", { params: { id } });
  };
  await Promise.all(chosen.map(async ({ instance }) => await restartOf(instance))).finally(waiting.end);
  const after = await readStatus(gateway);
  const ids = new Set(chosen.map(({ instance }) => instance));
  for (const line of after.servers) if (ids.has(line.instance)) printText(process.stdout, toText(line));
  return 0;
}

/** For what a gateway does after its last server has ended. */
const beyondStopMs = 6_000;
const lookMs = 50;

/**
 * `toolyard stop`: ends the gateway that is meant, as SIGTERM does, and returns when it has given up its folder, so
 * that a script can start another one at once. Rejects with GATEWAY_UNREACHABLE when it is still there 6 s after it
 * should have ended.
 */
export async function stop(context: CommandContext): Promise<number> {
  const holder = await findGateway(context);
  const goneMs = (await stopByDoor(holder)) + beyondStopMs;
  const { dataDir } = await findDataDirectory(context);
  const { lock } = storeIn(dataDir, context);
  const isThere = async () => (await lock.list()).some(({ pid }) => pid === holder.pid);
  const waiting = showWaiting("waiting for running calls and servers to end", process.stderr);
  try {
    const deadline = abortAfter(goneMs);
    while (await isThere()) await sleep(lookMs, deadline);
  } catch {
    throw new GatewayError(
      "GATEWAY_UNREACHABLE",
      `${describeGateway(holder)} did not stop within ${goneMs / 1_000} s`,
      {
        hint: "Look at its log with `toolyard logs`, or end the process.",
      },
    );
  } finally {
    waiting.end();
  }
  return 0;
}

function toText({ instance: id, status: state, dormant, tools, pid, reason }: ServerStatus): string {
  const shown = dormant ? "dormant" : state;
  const facts = [
    `${tools} ${tools === 1 ? "tool" : "tools"}`,
    ...(pid === null ? [] : [`process ${pid}`]),
    ...(reason === "" || dormant ? [] : [plainText(reason)]),
  ];
  return `  ${id.padEnd(24)} ${shown.padEnd(20)} ${facts.join(", ")}`;
}

/** `toolyard open`: opens the dashboard of the running gateway in the browser, logged in. */
export async function open(context: CommandContext): Promise<number> {
  const holder = await findGateway(context);
  const { path } = await ownersClient(holder).ask<typeof makeDashboardLink>("POST /api/dashboard-links", {});
  const url = `${toLocalOrigin(holder.url ?? "")}${path}`;
  process.stdout.write(`${url}\n`);
  if (isOn(context, "print")) return 0;
  process.stderr.write("It logs one browser in, within five minutes.\n");
  openBrowser(url, process.platform);
  return 0;
}

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

const redrawMs = 1_000;

/** On a terminal the same lines are drawn again; elsewhere every change is a line. Ends when the gateway does. */
async function watch(gateway: GatewayClient, isJson: boolean): Promise<number> {
  const show = !isJson && process.stdout.isTTY ? createRedraw(process.stdout) : undefined;
  const told = new Map<string, string>();
  for (const never = new AbortController(); ; await sleep(redrawMs, never.signal)) {
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

import { toSlug } from "../../config/words/slug.ts";
import type { restartOne } from "../../operations/servers/instance-operations.ts";
import { abortAfter, sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { findDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { openGatewayClient, readStatus, type ServerStatus, ownersClient } from "../gateway/gateway-client.ts";
import { stopByDoor } from "../gateway/owner-client.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { showWaiting } from "../terminal/waiting-line.ts";
import { describeGateway, findGateway } from "../gateway/running-gateways.ts";
import { toLocalOrigin } from "../../kernel/text/local-url.ts";
import type { makeDashboardLink } from "../../operations/gateway/owner-operations.ts";
import { openBrowser } from "../../operations/machine/surroundings/browser.ts";
import { isOn } from "../../config/given.ts";

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
  const restartOf = async (id: string): Promise<void> => {
    await gateway.ask<typeof restartOne>("POST /api/instances/{id}/restart", { params: { id } });
  };
  await Promise.all(chosen.map(async ({ instance }) => await restartOf(instance))).finally(waiting.end);
  const after = await readStatus(gateway);
  const ids = new Set(chosen.map(({ instance }) => instance));
  for (const line of after.servers) if (ids.has(line.instance)) printText(process.stdout, toText(line));
  return 0;
}

/** More than a gateway takes that waits for running calls and for its servers (29 s). */
const goneMs = 35_000;
const lookMs = 50;

/**
 * `toolyard stop`: ends the gateway that is meant, as SIGTERM does, and returns when it has given up its folder, so
 * that a script can start another one at once. Rejects with GATEWAY_UNREACHABLE when it is still there after 35 s.
 */
export async function stop(context: CommandContext): Promise<number> {
  const holder = await findGateway(context);
  await stopByDoor(holder);
  const { dataDir } = await findDataDirectory(context);
  const { lock } = storeIn(dataDir, context);
  const isThere = async () => (await lock.list()).some(({ pid }) => pid === holder.pid);
  const waiting = showWaiting("waiting for running calls and servers to end", process.stderr);
  try {
    const deadline = abortAfter(goneMs);
    while (await isThere()) await sleep(lookMs, deadline);
  } catch {
    throw new GatewayError("GATEWAY_UNREACHABLE", `${describeGateway(holder)} was told to stop, and is still there`, {
      hint: "Look at its log with `toolyard logs`, or end the process.",
    });
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

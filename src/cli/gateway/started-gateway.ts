import { sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { toDurationText } from "../../kernel/text/number-text.ts";
import type { listUnlisted } from "../../operations/servers/server-operations.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { findOrStartGateway, idleExitS } from "./background.ts";
import { openDataDirectory } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { givenOption, textOption } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { showWaiting } from "../terminal/waiting-line.ts";
import { openGatewayClient, ownersClient, type GatewayClient } from "./gateway-client.ts";
import { findGateway } from "./running-gateways.ts";

/** A server of which nothing is listed, and why. */
export type UnlistedServer = TypesOf<typeof listUnlisted>["answer"]["servers"][number];

const mostTries = 5;
const retryMs = 100;

/**
 * The gateway that `--gateway URL` names, or the running one of the configuration that is meant; where none runs, it is
 * started in the background as for `toolyard stdio`, which is said once. Rejects with GATEWAY_UNREACHABLE, or with
 * CONFIG_INVALID where there is nothing to start.
 */
export async function openStartedGateway(context: CommandContext): Promise<GatewayClient> {
  if (textOption(context, "gateway") !== undefined) return await openGatewayClient(context);
  for (let tries = 1; ; tries += 1) {
    const gateway = ownersClient(await findOrStart(context));
    try {
      await readUnlisted(gateway, {});
      return gateway;
    } catch (error) {
      // It has just begun to stop: then there is another one soon, or none.
      if (tries === mostTries || toGatewayError(error).code !== "GATEWAY_UNREACHABLE") throw error;
      await sleep(retryMs, new AbortController().signal);
    }
  }
}

async function readUnlisted(
  gateway: GatewayClient,
  query: { readonly wait?: string; readonly server?: string | undefined },
): Promise<readonly UnlistedServer[]> {
  return (await gateway.ask<typeof listUnlisted>("GET /api/unlisted-servers", { query })).servers;
}

/** How long a person waits for servers that have never been up: most start within this. */
const unseenWaitS = 30;
const mostNamed = 5;

/** Waits for servers that have never been up yet, as they are after the first start of a gateway. */
export async function waitForServers(gateway: GatewayClient): Promise<void> {
  const coming = (await readUnlisted(gateway, {})).filter(({ isComing }) => isComing);
  if (coming.length === 0) return;
  const waiting = showWaiting(waitingText(coming.map(({ server }) => server)), process.stderr);
  await readUnlisted(gateway, { wait: String(unseenWaitS) }).finally(waiting.end);
}

function waitingText(servers: readonly string[]): string {
  const others = servers.length - mostNamed;
  const names = servers.slice(0, mostNamed).map(plainText).join(", ");
  return `waiting for ${names}${others > 0 ? ` and ${others} more` : ""} to start`;
}

/** Says on stderr which servers a list has nothing of. */
export async function tellUnlisted(gateway: GatewayClient, server: string | undefined): Promise<void> {
  for (const { server: slug, word, reason } of await readUnlisted(gateway, { server })) {
    const why = reason === "" ? "" : `: ${plainText(reason)}`;
    printText(process.stderr, `toolyard: not listed: ${plainText(slug)} (${word}${why})`);
  }
}

/** Looks something up, once more when servers that may have it have come up. */
export async function whenListed<T>(gateway: GatewayClient, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!unknownOnes.includes(toGatewayError(error).code)) throw error;
    await waitForServers(gateway);
    return await find();
  }
}

const unknownOnes: readonly string[] = ["TOOL_UNKNOWN", "RESOURCE_UNKNOWN", "SERVER_UNKNOWN"];

async function findOrStart(context: CommandContext): Promise<GatewayHolder> {
  const running = await findGateway(context).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === "GATEWAY_UNREACHABLE") return undefined;
    throw error;
  });
  if (running !== undefined && running.url !== null) return running;
  const config = await readConfig(context);
  if (config.file === undefined)
    throw new GatewayError("CONFIG_INVALID", "no gateway runs, and there is no configuration to start one with", {
      hint: "Name a configuration with --config, or write a toolyard.json.",
    });
  const onStart = (): void => {
    const given = givenOption(context, "idle-exit");
    const idle = toDurationText(1_000 * (given === undefined ? idleExitS : Number(given.text)));
    process.stderr.write(`toolyard: started a gateway in the background; it ends after ${idle} without use\n`);
  };
  const dataDir = openDataDirectory(config, context);
  return (await findOrStartGateway({ context, config, dataDir, onStart })).holder;
}

import { findFile, follow } from "../../config/file/file.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { type Claim, type GatewayHolder, compareServed, type Served } from "../../store/gateway-holder.ts";
import type { Store } from "../../store/store.ts";
import { findDataDirectory, readConfig, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { textOption } from "../../config/given.ts";

/** A gateway has its door within a second of its start, or later on a busy machine. */
const doorMs = 10_000;
const lookMs = 50;

/**
 * The running gateways that a command may mean: those of the configuration that is named, or that would be found here;
 * when there is no configuration, all of them. One that has no door yet, or none any more, is waited for. Never empty:
 * rejects with GATEWAY_UNREACHABLE, which lists the running ones.
 */
export async function findGateways(context: CommandContext): Promise<readonly GatewayHolder[]> {
  const deadline = performance.now() + doorMs;
  for (;;) {
    const found = await lookForGateways(context);
    if (found.every(({ url }) => url !== null) || performance.now() > deadline) return found;
    await sleep(lookMs, new AbortController().signal);
  }
}

async function lookForGateways(context: CommandContext): Promise<readonly GatewayHolder[]> {
  const { dataDir, problem } = await findDataDirectory(context);
  const running = await storeIn(dataDir, context).lock.list();
  if (running.length === 0 && problem !== undefined) throw problem;
  if (running.length === 0)
    throw new GatewayError("GATEWAY_UNREACHABLE", `no gateway runs with the data directory ${dataDir}`);
  const file = await findFile(textOption(context, "config"), context.cwd, context.homeDirectories);
  const realFile = file === undefined ? null : await follow(file);
  const ofFile = running.filter(({ serves }) => serves.configFile === realFile);
  if (ofFile.length > 1) return await closest(ofFile, context);
  if (ofFile.length === 1 || file === undefined) return ofFile.length === 1 ? ofFile : running;
  throw new GatewayError("GATEWAY_UNREACHABLE", `no gateway runs with ${file}; there are:${listing(running)}`, {
    hint: "Name the configuration of the gateway that you mean with --config.",
  });
}

/** The one gateway that a command means. Rejects with GATEWAY_AMBIGUOUS when there are several. */
export async function findGateway(context: CommandContext): Promise<GatewayHolder> {
  const [first, ...others] = await findGateways(context);
  if (first !== undefined && others.length === 0) return first;
  throw new GatewayError(
    "GATEWAY_AMBIGUOUS",
    `several gateways run:${listing([first, ...others].flatMap((holder) => holder ?? []))}`,
  );
}

/** Makes this process the gateway of what it serves. Rejects with PORT_TAKEN where there is one already. */
export async function claimGateway(
  lock: Store["lock"],
  serves: Served,
  { dataDir, version }: { readonly dataDir: string; readonly version: string },
): Promise<Extract<Claim, { kind: "held" }>> {
  const claimed = await lock.claim(serves, version).catch((error: unknown) => {
    throw new GatewayError(
      "DATA_DIR_UNWRITABLE",
      `nothing can be written to the data directory ${dataDir}: ` +
        (error instanceof Error ? error.message : String(error)),
    );
  });
  if (claimed.kind === "held") return claimed;
  throw new GatewayError(
    "PORT_TAKEN",
    `another gateway already serves this configuration: ${describeGateway(claimed.by)}`,
    {
      hint:
        "Use that one, end it with `toolyard stop" +
        `${serves.configFile === null ? "" : ` --config ${serves.configFile}`}\`, or give this one a ` +
        "--data-dir of its own.",
    },
  );
}

/** A text such as `process 7 at http://127.0.0.1:3001, configured by /home/me/toolyard.json`. */
export function describeGateway({ pid, url, serves: { configFile } }: GatewayHolder): string {
  return `process ${pid}${url === null ? ", which is starting or stopping" : ` at ${url}`}${configFile === null ? "" : `, configured by ${configFile}`}`;
}

function listing(holders: readonly GatewayHolder[]): string {
  return holders.map((holder) => `\n  ${describeGateway(holder)}`).join("");
}

/** When several serve the same file: the one with this environment, if there is one. */
async function closest(holders: readonly GatewayHolder[], context: CommandContext): Promise<readonly GatewayHolder[]> {
  const config = await readConfig(context).catch(() => undefined);
  if (config === undefined) return holders;
  const wanted = servedBy(config, context);
  const same = holders.filter(({ serves, secret }) => compareServed(serves, wanted, secret) === "same");
  return same.length === 1 ? same : holders;
}

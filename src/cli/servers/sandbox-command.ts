import type { ServerConfig, StdioTransport } from "../../config/config.ts";
import { isOn } from "../../config/given.ts";
import { toSandboxRules } from "../../config/entry/sandbox-entry.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { findConfigured } from "../../operations/machine/servers/configured-server.ts";
import { dataDirectoryOf, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { explainSandbox, type ExplainedSandbox } from "../../servers/sandbox/explain-sandbox.ts";
import type { CommandContext } from "../command/command-context.ts";
import { printText } from "../terminal/fitted-text.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { reportTrials, runTrial } from "./try-configured.ts";

type ProcessServer = ServerConfig & { readonly transport: StdioTransport };

/** `toolyard sandbox explain|try SERVER`. */
export async function sandbox(context: CommandContext): Promise<number> {
  const [action, name, ...more] = context.positionals;
  if ((action !== "explain" && action !== "try") || name === undefined || more.length > 0)
    return refuseUsage("which server?", "toolyard sandbox explain|try SERVER [options]");
  const config = await readConfig(context);
  const server = findConfigured(config, name);
  if (!isProcess(server))
    throw new GatewayError("CONFIG_INVALID", `${server.slug} is reached over the network: there is nothing to confine`);
  const dataDir = dataDirectoryOf(config, context);
  if (action === "try")
    return reportTrials(context, await runTrial(context, config, [sandboxed(server, context)], dataDir));
  const own = { dataDir, configFile: config.identity?.realFile ?? config.file, home: context.env["HOME"] };
  const explained = await explainSandbox(server.transport, { environment: context.env, own });
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(explained)}\n`);
  else printText(process.stdout, toText(server, explained).map(plainText).join("\n"));
  return explained.lacks === null ? 0 : 1;
}

function isProcess(server: ServerConfig): server is ProcessServer {
  return hasProcess(server.transport);
}

/** The server as it would be with a sandbox, which it has already or as `true` makes it. */
export function sandboxed(server: ProcessServer, { env }: Pick<CommandContext, "env">): ServerConfig {
  const { transport } = server;
  const source = { directory: transport.cwd, home: () => env["HOME"], mode: "off", roots: [] } as const;
  const rules = transport.sandbox ?? toSandboxRules(true, source);
  return rules === undefined ? server : { ...server, transport: { ...transport, sandbox: rules } };
}

function toText({ slug }: ServerConfig, explained: ExplainedSandbox): readonly string[] {
  const { isWanted, engine, lacks, reaches, reads, writes, hidden, notes } = explained;
  const list = (title: string, places: readonly string[]): readonly string[] =>
    places.length === 0 ? [] : [`${title}:`, ...places.map((place) => `  ${place}`)];
  return [
    isWanted ? `${slug} runs in a sandbox (${engine}).` : `${slug} runs without a sandbox. With one (${engine}):`,
    ...(lacks === null ? [] : [`This machine cannot make one: ${lacks}`]),
    ...reaches,
    ...list("Beside the system it reads", reads),
    ...list("It writes", writes),
    ...list("Hidden in them", hidden),
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

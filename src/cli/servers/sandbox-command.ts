import type { SandboxRules, ServerConfig, StdioTransport } from "../../config/config.ts";
import { isOn, textOption } from "../../config/given.ts";
import { toSandboxRules } from "../../config/entry/sandbox-entry.ts";
import type { SandboxEngine } from "../../config/rows/sandbox-rows.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { findConfigured } from "../../operations/machine/servers/configured-server.ts";
import { dataDirectoryOf, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { explainSandbox, type ExplainedSandbox } from "../../servers/sandbox/explain-sandbox.ts";
import {
  describeLearning,
  learnedFileOf,
  readLearnings,
  type DescribedLearning,
} from "../../servers/sandbox/learned-names.ts";
import { createLearnedFile } from "../../store/files/learned-file.ts";
import type { allowHost, learnSandbox } from "../../operations/servers/sandbox-operations.ts";
import { openGatewayClient } from "../gateway/gateway-client.ts";
import { askTyped, canAsk } from "../terminal/yes-or-no.ts";
import { reportChange } from "./change-report.ts";
import type { CommandContext } from "../command/command-context.ts";
import { printText } from "../terminal/fitted-text.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { reportTrials, runTrial } from "./try-configured.ts";

type ProcessServer = ServerConfig & { readonly transport: StdioTransport };
type ConfinedServer = ServerConfig & { readonly transport: StdioTransport & { readonly sandbox: SandboxRules } };

const usage = "toolyard sandbox explain|try|learn SERVER, or toolyard sandbox allow SERVER HOST";

/** `toolyard sandbox explain|try|learn SERVER`, `toolyard sandbox allow SERVER HOST`. */
export async function sandbox(context: CommandContext): Promise<number> {
  const [action, name, host, ...more] = context.positionals;
  if (!["explain", "try", "learn", "allow"].includes(action ?? "") || name === undefined || more.length > 0)
    return refuseUsage("which server?", usage);
  if ((host !== undefined) !== (action === "allow")) return refuseUsage("which host?", usage);
  if (action === "learn") return await learn(context, name);
  if (host !== undefined) return await allow(context, name, host);
  const config = await readConfig(context);
  const server = findConfigured(config, name);
  if (!isProcess(server))
    throw new GatewayError("CONFIG_INVALID", `${server.slug} is reached over the network: there is nothing to confine`);
  const dataDir = dataDirectoryOf(config, context);
  const confined = sandboxed(server, context.env["HOME"], config.settings.sandbox.engine);
  if (action === "try") return reportTrials(context, await runTrial(context, config, [confined], dataDir));
  const own = { dataDir, configFile: config.identity?.realFile ?? config.file, home: context.env["HOME"] };
  const kept = await createLearnedFile(learnedFileOf(dataDir), () => undefined).load();
  const learned = readLearnings(kept)[server.slug];
  const learning = learned === undefined ? null : describeLearning(learned, Date.now());
  const isWanted = server.transport.sandbox !== undefined;
  const explained = {
    ...{ isWanted, learning },
    ...(await explainSandbox(confined.transport, { environment: context.env, own })),
  };
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(explained)}\n`);
  else printText(process.stdout, toText(server, explained).map(plainText).join("\n"));
  return explained.lacks === null ? 0 : 1;
}

/** Begins to note hosts, or shows those that were noted and makes them the server's list. */
async function learn(context: CommandContext, name: string): Promise<number> {
  const forMs = readDuration(textOption(context, "for"));
  const isKept = isOn(context, "keep");
  if (forMs === undefined || (isKept && forMs !== "default"))
    return refuseUsage(
      "--for takes a time such as 30m, 12h or 7d, and begins again: without --keep",
      "toolyard sandbox learn SERVER",
    );
  const gateway = await openGatewayClient(context);
  const ask = async (body: { readonly forMs?: number; readonly keep?: true }) =>
    await gateway.ask<typeof learnSandbox>("POST /api/servers/{slug}/sandbox/learn", { params: { slug: name }, body });
  const isJson = isOn(context, "json");
  let answer = await ask(isKept ? { keep: true } : forMs === "default" ? {} : { forMs });
  if (!isJson && answer.written === null)
    printText(process.stdout, toLearnedText(name, answer).map(plainText).join("\n"));
  const mayKeep = answer.written === null && answer.learning.network.length > 0 && canAsk() && !isJson;
  if (mayKeep && (await askTyped("Type yes to write this into its entry", "yes"))) answer = await ask({ keep: true });
  if (answer.written === null) {
    if (isJson) process.stdout.write(`${JSON.stringify(answer)}\n`);
    return 0;
  }
  return await reportChange(context, {
    what: `${name} may reach ${answer.learning.network.join(", ")} in ${answer.written}`,
    server: { key: name, slug: name, isToRun: true },
    facts: answer,
  });
}

async function allow(context: CommandContext, name: string, host: string): Promise<number> {
  const gateway = await openGatewayClient(context);
  const order = { params: { slug: name }, body: { host } };
  const { text, facts } = await gateway.ask<typeof allowHost>("POST /api/servers/{slug}/sandbox/allow", order);
  const server = { key: name, slug: name, isToRun: true };
  return await reportChange(context, { what: text, server, facts: facts[0] ?? {} });
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Undefined for any other text. */
function readDuration(text: string | undefined): number | "default" | undefined {
  if (text === undefined) return "default";
  const [, digits, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unitMs[unit] ?? 0);
}

interface Learned {
  readonly learning: DescribedLearning;
  readonly isNew: boolean;
}

function toLearnedText(name: string, { learning, isNew }: Learned): readonly string[] {
  const { until, isOver, network, isFull } = learning;
  const at = until.slice(0, 16).replace("T", " ");
  if (isNew) return [`The hosts that ${name} reaches are noted until ${at} UTC. The same command shows them.`];
  return [
    isOver ? `${name} reached until ${at} UTC:` : `${name} reached so far (noted until ${at} UTC):`,
    ...(network.length === 0 ? ["  no host"] : network.map((host) => `  ${host}`)),
    ...(isFull ? ["There were more: a list of names would keep it from them."] : []),
    ...(network.length === 0 ? [] : [`As its list: "sandbox": { "network": ${JSON.stringify(network)} }`]),
  ];
}

function isProcess(server: ServerConfig): server is ProcessServer {
  return hasProcess(server.transport);
}

/** The server as it would be with a sandbox, which it has already or as `true` makes it. */
function sandboxed(server: ProcessServer, home: string | undefined, engine: SandboxEngine): ConfinedServer {
  const { transport } = server;
  const source = { directory: transport.cwd, home: () => home, mode: "off", engine, roots: [] } as const;
  const rules = transport.sandbox ?? toSandboxRules(true, source);
  return { ...server, transport: { ...transport, sandbox: rules } };
}

interface Explained extends ExplainedSandbox {
  /** Whether its entry or the settings want one. */
  readonly isWanted: boolean;
  readonly learning: DescribedLearning | null;
}

function toText({ slug }: ServerConfig, explained: Explained): readonly string[] {
  const { isWanted, engine, lacks, reaches, reads, writes, hidden, notes, learning } = explained;
  const list = (title: string, places: readonly string[]): readonly string[] =>
    places.length === 0 ? [] : [`${title}:`, ...places.map((place) => `  ${place}`)];
  return [
    isWanted ? `${slug} runs in a sandbox (${engine}).` : `${slug} runs without a sandbox. With one (${engine}):`,
    ...(lacks === null ? [] : [`This machine cannot make one: ${lacks}`]),
    ...reaches,
    ...list("Beside the system it reads", reads),
    ...list("It writes", writes),
    ...list("Hidden in them", hidden),
    ...(learning === null ? [] : toLearnedText(slug, { learning, isNew: false })),
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

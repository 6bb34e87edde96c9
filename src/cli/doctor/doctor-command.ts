import type { Config } from "../../config/config.ts";
import { switchedOff } from "../../config/entry/servers.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { dataDirectoryOf, readConfig, type CommandContext } from "../command/command-context.ts";
import { isOn } from "../command/options.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { readStatus } from "../gateway/gateway-client.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../terminal/plain-text.ts";
import { paintOn } from "../terminal/table.ts";
import { findGateways } from "../gateway/running-gateways.ts";
import { findProblems } from "../setup/config-command.ts";
import { checkClients } from "./doctor-clients.ts";
import { checkConfigFile, checkDataDirectory, checkRecordFiles } from "./doctor-files.ts";
import { broken, doubtful, fine, type Finding } from "./doctor-finding.ts";
import { checkClock, checkNode, checkPort } from "./doctor-machine.ts";
import { checkAddress, checkCommands, checkEntries, fromStatus, fromTrials } from "./doctor-servers.ts";
import { measureStart } from "./doctor-start.ts";
import { checkTeam } from "./doctor-team.ts";
import { checkOtherUsers } from "./machine-users.ts";
import { interrupted } from "../terminal/interruption.ts";
import { runTrial } from "../servers/try-configured.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

/** `toolyard doctor`: looks at everything that a gateway needs, and says what to do. 1 when something is broken. */
export async function doctor(context: CommandContext): Promise<number> {
  const found: Finding[] = [];
  const tell = (...findings: readonly Finding[]): void => {
    found.push(...findings);
    if (!isOn(context, "json")) for (const finding of findings) printText(process.stdout, toLine(finding), hanging);
  };
  tell(checkNode(process.versions.node));
  const config = await examineConfig(context, tell);
  if (config !== undefined) await examine(context, config, tell);
  const failed = found.filter(({ kind }) => kind === "fail").length;
  const doubts = found.filter(({ kind }) => kind === "warn").length;
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: failed === 0, findings: found })}\n`);
  else process.stderr.write(`${failed} to fix, ${doubts} to look at.\n`);
  return failed === 0 ? 0 : 1;
}

const styles = { ok: "green", warn: "yellow", fail: "red" } as const;

/** Below the text of a finding, and no deeper than what it is about. */
const hanging = "      ";

type Tell = (...findings: readonly Finding[]) => void;

function toLine({ kind, what, where, todo }: Finding): string {
  const more = [where, todo].flatMap((line) => (line == null ? [] : [`\n         ${plainText(line)}`]));
  const mark = paintOn(process.stdout)(styles[kind], kind.padEnd(4));
  return ` ${mark}  ${plainText(what)}${more.join("")}`;
}

/** Undefined when there is nothing to go on with. */
async function examineConfig(context: CommandContext, tell: Tell): Promise<Config | undefined> {
  const { file, problems, warnings } = await findProblems(context);
  const config = await readConfig(context).catch(() => undefined);
  if (config === undefined) {
    tell(...problems.map((problem) => broken(problem, "Correct the configuration there.")));
    return undefined;
  }
  const count = `${config.servers.length} server${config.servers.length === 1 ? "" : "s"}`;
  if (file === undefined)
    tell(doubtful("there is no configuration file", "Add a server with `toolyard servers add`, which makes one."));
  else tell(fine(`configuration ${file}, ${count}`), ...(await checkConfigFile(file)));
  tell(...warnings.map((warning) => doubtful(warning, "Correct or remove it.")), ...checkEntries(config.servers));
  return config;
}

async function examine(context: CommandContext, config: Config, tell: Tell): Promise<void> {
  const dataDir = dataDirectoryOf(config, context);
  tell(...(await checkDataDirectory(dataDir)));
  const holder = await runningGateway(context, tell);
  if (holder === undefined) tell(await checkPort(config), ...(await checkRecordFiles(context)));
  const others = await checkOtherUsers(config);
  if (others !== undefined) tell(others);
  const used = config.servers.filter(({ disabledReason }) => disabledReason === undefined);
  tell(...(await checkCommands(used, context.env)));
  const signal = interrupted();
  const look = async () => await Promise.all(used.map(async (server) => await checkAddress(server, signal)));
  const seen = (await whileWaiting("Asking the addresses of servers", look)).filter((address) => address !== undefined);
  const clock = checkClock(seen);
  tell(...seen.map(({ finding }) => finding), ...(clock === undefined ? [] : [clock]));
  if (holder !== undefined) {
    tell(...(await examineGateway(holder, context)));
    const lookAtPeople = async () => await checkTeam(holder, context.env, signal);
    tell(...(await whileWaiting("Asking the gateway of its people", lookAtPeople)));
  }
  if (holder === undefined && isOn(context, "start") && used.length > 0)
    tell(...fromTrials(await runTrial(context, config, used, dataDir)));
  const startMs = await examineStart({ context, config, signal, isRunning: holder !== undefined }, tell);
  const measured = { longestCallMs: Math.max(0, ...used.map(({ callTimeoutMs }) => callTimeoutMs)), startMs };
  const lookAtClients = async () => await checkClients({ context, holder, signal, measured });
  tell(...(await whileWaiting("Reading the settings of AI clients", lookAtClients)));
  const off = config.servers.filter(({ disabledReason }) => disabledReason === switchedOff);
  if (holder === undefined) tell(...off.map(({ key }) => fine(`${plainText(key)}: off`)));
}

/** How long the start took; undefined where it was not tried. A gateway that runs would be measured with its load. */
async function examineStart({ context, config, signal, isRunning }: StartAsk, tell: Tell): Promise<number | undefined> {
  if (isRunning || !isOn(context, "start")) return undefined;
  const measure = async () => await measureStart(context, config, signal);
  const { startMs, finding } = await whileWaiting("Starting `toolyard stdio` once", measure);
  tell(finding);
  return startMs;
}

interface StartAsk {
  readonly context: CommandContext;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly isRunning: boolean;
}

async function runningGateway(context: CommandContext, tell: Tell): Promise<GatewayHolder | undefined> {
  try {
    const [holder] = await findGateways(context);
    return holder;
  } catch (error) {
    const { code, message, hint } = toGatewayError(error);
    if (code !== "GATEWAY_UNREACHABLE") tell(broken(message, hint));
    else tell(fine("no gateway runs with this configuration"));
    return undefined;
  }
}

/** The gateway itself, then its servers as it has them. */
async function examineGateway(holder: GatewayHolder, { version }: CommandContext): Promise<readonly Finding[]> {
  try {
    const status = await readStatus(ownersClient(holder));
    const where = `the gateway of process ${holder.pid}${holder.url === null ? "" : ` at ${holder.url}`}`;
    const again = "Run `toolyard stop`, and start it again.";
    const about =
      holder.version === version
        ? fine(`${where} runs this version, ${version}`)
        : doubtful(`${where} runs version ${holder.version}, and this is ${version}`, again);
    return [
      about,
      ...(status.restart === null ? [] : [doubtful(status.restart, again)]),
      ...status.store.problems.map(({ message, hint }) => broken(message, hint)),
      ...fromStatus(status.servers),
    ];
  } catch (error) {
    const { message, hint } = toGatewayError(error);
    return [broken(message, hint)];
  }
}

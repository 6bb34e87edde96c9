import type { Config, ServerConfig } from "../../../config/config.ts";
import { toSlug } from "../../../config/words/slug.ts";
import { switchedOff } from "../../../config/entry/servers.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import { findProblems, dataDirectoryOf, readConfig, type Surroundings } from "../surroundings/surroundings.ts";
import type { ClientsAsk } from "./doctor-clients.ts";
import { checkConfigFile, checkDataDirectory } from "./doctor-files.ts";
import { broken, doubtful, fine, type Finding } from "./doctor-finding.ts";
import { checkClock, checkNode, checkPort } from "./doctor-machine.ts";
import { checkAddress, checkCommands, checkEntries, fromStatus } from "./doctor-servers.ts";
import { checkTeam } from "./doctor-team.ts";
import { checkOtherUsers } from "./machine-users.ts";
import type { SeenGateway } from "./seen-gateway.ts";

export type Tell = (...findings: readonly Finding[]) => void;

/** What the doctor looks at, and how. */
export interface Examined {
  readonly place: Surroundings;
  /** Is given each finding as soon as it is made. */
  readonly tell: Tell;
  readonly signal: AbortSignal;
  /** The gateway that runs with the configuration; tells why it cannot be asked where it cannot. */
  readonly gateway: () => Promise<SeenGateway | undefined>;
  /** Looks at the files that a gateway has open while it runs. */
  readonly unserved?: ((config: Config) => Promise<readonly Finding[]>) | undefined;
  /** Starts what only a person may have started; resolves to how long `toolyard stdio` took. */
  readonly start?: ((started: Started) => Promise<number | undefined>) | undefined;
  /** Looks at the files of AI clients: `checkClients`, here or in another thread. */
  readonly checkClients: (asked: ClientsAsk) => Promise<readonly Finding[]>;
  /** Shows that something takes a while. */
  readonly during: <T>(what: string, work: () => Promise<T>) => Promise<T>;
}

/** What there is to start. */
export interface Started {
  readonly config: Config;
  readonly dataDir: string;
  readonly isRunning: boolean;
  /** Servers that may work: of the others it was told why they do not. */
  readonly servers: readonly ServerConfig[];
}

/** Looks at everything that a gateway needs, and says what to do. Starts nothing by itself. */
export async function examine(asked: Examined): Promise<void> {
  asked.tell(checkNode(process.versions.node));
  const config = await examineConfig(asked);
  if (config !== undefined) await examineRest(asked, config);
}

/** Undefined when there is nothing to go on with. */
async function examineConfig({ place, tell }: Examined): Promise<Config | undefined> {
  const { file, problems, warnings } = await findProblems(place);
  const config = await readConfig(place).catch(() => undefined);
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

async function examineRest(asked: Examined, config: Config): Promise<void> {
  const { place, tell, signal, during } = asked;
  const dataDir = dataDirectoryOf(config, place);
  tell(...(await checkDataDirectory(dataDir)));
  const gateway = await asked.gateway();
  if (gateway === undefined) tell(await checkPort(config), ...((await asked.unserved?.(config)) ?? []));
  const others = await checkOtherUsers(config);
  if (others !== undefined) tell(others);
  const used = config.servers.filter(({ disabledReason }) => disabledReason === undefined);
  const commands = await checkCommands(used, place.env);
  tell(...commands.map(({ finding }) => finding));
  const look = async () => await Promise.all(used.map(async (server) => await checkAddress(server, signal)));
  const seen = (await during("Asking the addresses of servers", look)).filter((address) => address !== undefined);
  const clock = checkClock(seen);
  tell(...seen.map(({ finding }) => finding), ...(clock === undefined ? [] : [clock]));
  const told = new Set([...commands, ...seen].flatMap(({ broken: keys }) => keys));
  if (gateway !== undefined) {
    tell(...(await examineGateway(gateway, place, new Set([...told].map(toSlug)))));
    const lookAtPeople = async () => await checkTeam(gateway, place.env, signal);
    tell(...(await during("Asking the gateway of its people", lookAtPeople)));
  }
  const servers = used.filter(({ key }) => !told.has(key));
  const startMs = await asked.start?.({ config, dataDir, isRunning: gateway !== undefined, servers });
  const longestCallMs = Math.max(0, ...used.map(({ callTimeoutMs }) => callTimeoutMs));
  const clients = { place, url: gateway?.url ?? null, triesTokens: asked.start !== undefined, signal };
  const lookAtClients = async () => await asked.checkClients({ ...clients, measured: { longestCallMs, startMs } });
  tell(...(await during("Reading the settings of AI clients", lookAtClients)));
  const off = config.servers.filter(({ disabledReason }) => disabledReason === switchedOff);
  if (gateway === undefined) tell(...off.map(({ key }) => fine(`${plainText(key)}: off`)));
}

/** The gateway itself, then its servers as it has them. */
async function examineGateway(
  gateway: SeenGateway,
  { version }: Surroundings,
  told: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  try {
    const status = await gateway.status();
    const where = `the gateway of process ${gateway.pid}${gateway.url === null ? "" : ` at ${gateway.url}`}`;
    const again = "Run `toolyard stop`, and start it again.";
    const about =
      gateway.version === version
        ? fine(`${where} runs this version, ${version}`)
        : doubtful(`${where} runs version ${gateway.version}, and this is ${version}`, again);
    return [
      about,
      ...(status.restart === null ? [] : [doubtful(status.restart, again)]),
      ...status.store.problems.map(({ message, hint }) => broken(message, hint)),
      ...fromStatus(status.servers, told),
    ];
  } catch (error) {
    const { message, hint } = toGatewayError(error);
    return [broken(message, hint)];
  }
}

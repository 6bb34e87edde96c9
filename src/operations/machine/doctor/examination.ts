import type { Config, ServerConfig } from "../../../config/config.ts";
import { toSlug } from "../../../config/words/slug.ts";
import { switchedOff } from "../../../config/entry/servers.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import { dataDirectoryOf, findProblems, readConfig, type Surroundings } from "../surroundings/surroundings.ts";
import type { ClientsAsk } from "./doctor-clients.ts";
import { broken, doubtful, type Finding, fine, type SeenGateway } from "./doctor-finding.ts";
import { checkClock, checkNode, checkPort, checkSandbox } from "./doctor-machine.ts";
import { checkAddress, checkCommands, checkEntries, fromStatus } from "./doctor-servers.ts";
import { checkCluster, checkClusterFiles, checkClusterKey } from "./doctor-cluster.ts";
import { checkTeam } from "./doctor-team.ts";
import { checkOtherUsers } from "./machine-users.ts";
import { mkdtemp, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Document, parseDocument } from "../../../config/file/document.ts";
import { readConfigText } from "../../../config/file/file.ts";
import { findServers } from "../../../config/file/source.ts";
import { isSecretSetting } from "../../../config/words/secret-names.ts";

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
  tell(...checkClusterKey(config, place.env), ...checkClusterFiles(config));
  const gateway = await asked.gateway();
  if (gateway === undefined) tell(await checkPort(config), ...((await asked.unserved?.(config)) ?? []));
  const others = await checkOtherUsers(config);
  if (others !== undefined) tell(others);
  const used = config.servers.filter(({ disabledReason }) => disabledReason === undefined);
  const commands = await checkCommands(used, place.env);
  tell(...commands.map(({ finding }) => finding));
  for (const finding of await checkSandbox(config, place.env)) tell(finding);
  const look = async () => await Promise.all(used.map(async (server) => await checkAddress(server, signal)));
  const seen = (await during("Asking the addresses of servers", look)).filter((address) => address !== undefined);
  const clock = checkClock(seen);
  tell(...seen.map(({ finding }) => finding), ...(clock === undefined ? [] : [clock]));
  const told = new Set([...commands, ...seen].flatMap(({ broken: keys }) => keys));
  if (gateway !== undefined) {
    tell(...(await examineGateway(gateway, place, new Set([...told].map(toSlug)))));
    const lookAtPeople = async () => await checkTeam(gateway, place.env, signal);
    tell(...(await during("Asking the gateway of its people", lookAtPeople)));
    const cluster = await gateway.cluster();
    if (cluster !== undefined)
      tell(...(await during("Asking for the other nodes", async () => await checkCluster(cluster, signal))));
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

const hasModes = process.platform !== "win32";
const othersMay = 0o077;

/** Whether others can read secrets that stand in the file. */
async function checkConfigFile(file: string): Promise<readonly Finding[]> {
  const secrets = literalSecrets(parseDocument(await readConfigText(file), file));
  if (secrets.length === 0) return [];
  const { mode } = await stat(file);
  const names = secrets.slice(0, 3).join(", ") + (secrets.length > 3 ? ` and ${secrets.length - 3} more` : "");
  if (hasModes && (mode & othersMay) !== 0)
    return [
      doubtful(
        `${file} has secrets in it (${names}), and others on this machine can read it`,
        `Run \`chmod 600 ${file}\`, or write \${VARIABLES} instead of the secrets.`,
      ),
    ];
  return [fine(`${file} has secrets in it (${names}), and only you can read it`)];
}

/** Paths of values whose names say that they are secret, and that are no references to variables. */
function literalSecrets(document: Document): readonly string[] {
  return findServers(document).flatMap(({ key, path }) =>
    ["env", "headers"].flatMap((group) =>
      document.keys([...path, group]).flatMap((name) => {
        const value = document.value([...path, group, name]);
        const isLiteral = typeof value === "string" && value !== "" && !value.includes("${");
        return isLiteral && isSecretSetting(name) ? [`${key}.${group}.${name}`] : [];
      }),
    ),
  );
}

/** Records of a busy day take some 100 MB. */
const leastSpaceBytes = 100 * 1024 * 1024;

/** Whether the data directory is for its owner only, can be written, and has room. */
async function checkDataDirectory(directory: string): Promise<readonly Finding[]> {
  const found = await stat(directory).catch(() => undefined);
  if (found === undefined) return [fine(`data directory ${directory} is made at the first start`)];
  if (!found.isDirectory())
    return [broken(`data directory ${directory} is a file`, "Choose another one with --data-dir.")];
  return [...checkMode(directory, found.mode), await checkWriting(directory), ...(await checkSpace(directory))];
}

function checkMode(directory: string, mode: number): readonly Finding[] {
  if (!hasModes || (mode & othersMay) === 0) return [];
  return [
    doubtful(`data directory ${directory} can be read by others on this machine`, `Run \`chmod 700 ${directory}\`.`),
  ];
}

async function checkWriting(directory: string): Promise<Finding> {
  try {
    const folder = await mkdtemp(join(directory, ".doctor-"));
    await writeFile(join(folder, "file"), "x").finally(async () => await rm(folder, { recursive: true, force: true }));
    return fine(`data directory ${directory} can be written`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return broken(
      `data directory ${directory} cannot be written (${code})`,
      code === "ENOSPC"
        ? "Free space on its disk."
        : "Make it writable for you, or choose another one with --data-dir.",
    );
  }
}

async function checkSpace(directory: string): Promise<readonly Finding[]> {
  const disk = await statfs(directory).catch(() => undefined);
  if (disk === undefined) return [];
  const free = disk.bavail * disk.bsize;
  if (free >= leastSpaceBytes) return [];
  return [doubtful(`${Math.round(free / 1024 ** 2)} MB are free for the data directory`, "Free space on its disk.")];
}

import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { homeDirectories } from "../../config/file/directories.ts";
import { keySourceOf } from "../../config/key-source.ts";
import { createTrustedConfigs } from "../../store/files/trusted-configs.ts";
import { loadConfig, loadConfigObject } from "../../config/load.ts";
import { ownEnvironment } from "../../config/given.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { toUrl } from "../../kernel/text/host-addresses.ts";
import { createPinoLog } from "../../records/telemetry/pino-log.ts";
import { createRedaction, joinSecrets } from "../../records/redaction/redaction.ts";
import type { Store } from "../../store/store.ts";
import { openDirectory } from "../../store/files/data-directory.ts";
import type { Gateway as EmbeddedGateway, GatewayOptions, LogOptions } from "./embedding-types.ts";
import { buildGateway, type Gateway } from "../gateway.ts";
import type { HttpFront } from "../owner/http-front.ts";
import { refuseEndlessNesting } from "../servers/loop-guard.ts";
import { refuseOpenBind } from "./open-bind.ts";
import { packageVersion } from "../package-version.ts";
import { openStore } from "../../store/files/file-store.ts";

/** A gateway for the program that it runs in; the package exports it as `createGateway`. */
export async function openEmbedded(options: GatewayOptions): Promise<EmbeddedGateway> {
  const environment = options.environment ?? ownEnvironment();
  refuseEndlessNesting(environment);
  const config = await readConfiguration(options, environment);
  const dataDir = openDirectory(dataDirOf(config, options, environment));
  const store = openStore({ dataDir, vaultKey: { ...keySourceOf(environment), answer: {} } });
  const { place, forget } = await openPlace(store, config, options);
  let gateway: Gateway | undefined;
  const log = openLog(options.log, config, () => gateway?.secrets());
  for (const warning of config.warnings) log.warn({ component: "config" }, warning);
  gateway = buildGateway(config, {
    log,
    clock: systemClock,
    version: packageVersion(),
    environment,
    dataDir,
    store,
    place,
  });
  const front = gateway.openHttp();
  await gateway.apply(config);
  gateway.letServersStart();
  return toEmbedded(gateway, front, forget);
}

function toEmbedded(gateway: Gateway, front: HttpFront, forget: () => Promise<void>): EmbeddedGateway {
  const { tools, servers, search, call } = gateway.inProcess;
  let stopping: Promise<void> | undefined;

  async function end(signal: AbortSignal): Promise<void> {
    await front.drain(signal);
    await gateway.stop(signal);
    front.close();
    await forget();
  }

  async function stop({ signal = never }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    stopping ??= end(signal);
    await stopping;
  }

  return {
    handler: front.handle,
    async listen({ port } = {}) {
      const config = gateway.config();
      const { host } = config.settings;
      refuseOpenBind(config, host);
      const address = await front.listen(host, port ?? config.settings.port);
      return { url: toUrl(host, address.port) };
    },
    async ready({ signal = never } = {}) {
      await Promise.all(gateway.instances().map(async (instance) => await instance.settled(signal)));
      signal.throwIfAborted();
    },
    servers,
    tools,
    search,
    call,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const never = new AbortController().signal;

async function readConfiguration(
  { config, configFile, cwd = process.cwd() }: GatewayOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Config> {
  const options = { cwd, env, flags: {}, homeDirectories: homeDirectories(env, process.platform, homedir()) };
  return config === undefined
    ? await loadConfig({
        ...options,
        file: configFile,
        admit: createTrustedConfigs(options.homeDirectories.data).admit,
      })
    : await loadConfigObject(config, options);
}

/** The folder of the option, or of the configuration, or the user's own. */
function dataDirOf(
  { settings }: Config,
  { dataDir, cwd = process.cwd() }: GatewayOptions,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (dataDir !== undefined) return resolve(cwd, dataDir);
  return settings.dataDir ?? homeDirectories(environment, process.platform, homedir()).data;
}

interface Kept {
  readonly place: string;
  /** Deletes data that is not to be kept. */
  readonly forget: () => Promise<void>;
}

/** The folder is not claimed for this gateway, as with `toolyard stdio --in-process`: no other process can reach it. */
async function openPlace(store: Store, config: Config, { dataDir }: GatewayOptions): Promise<Kept> {
  const { realFile = null, directory = null, variables = {} } = config.identity ?? {};
  if (realFile === null && dataDir === undefined) {
    const place = await mkdtemp(join(tmpdir(), "toolyard-"));
    return { place, forget: async () => await rm(place, { recursive: true, force: true }) };
  }
  const serves = { configFile: realFile, directory, variables };
  // When this fails, whatever has to be stored later reports it.
  await store.lock.prepare(serves).catch(() => undefined);
  return { place: store.lock.placeOf(serves), forget: async () => undefined };
}

function openLog(
  { level, write }: LogOptions = {},
  config: Config,
  tokens: () => ReadonlySet<string> | undefined,
): Log {
  return createPinoLog({
    level: level ?? "warn",
    redact: createRedaction({
      secrets: joinSecrets(
        createConfigSecrets(() => config),
        tokens,
      ),
    }).text,
    ...(write === undefined ? {} : { write }),
  });
}

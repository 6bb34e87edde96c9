import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deepestJson } from "../../kernel/limits.ts";
import type { ServerConfig, Settings, HttpTransport, StdioTransport, Transport } from "../../config/config.ts";
import type { OpenConnection } from "../../servers/instance/instance-deps.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { tapLine, type MessageTap } from "../../kernel/events/message-tap.ts";
import { GatewayError, rewriteFailure } from "../../kernel/failures/gateway-error.ts";
import type { LoopGuard } from "./loop-guard.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import { openOnce, type LoadLate } from "../../kernel/runtime/late-module.ts";
import type { ConnectionLimits, HttpCredentials, ConnectHttp, ConnectOptions } from "../../servers/upstream/connect.ts";
import type { GatewayIdentity } from "../../servers/upstream/messages/encode.ts";
import { createGuardian } from "../../servers/process/guardian/guardian.ts";
import { sweepLeftovers } from "../../servers/process/orphan-sweep.ts";
import type { ProcessTable } from "../../servers/process/process-table.ts";
import { createWatchdog, defaultWatchIntervalMs } from "../../servers/process/guardian/watchdog.ts";
import { createSpawnServer, type Confine, type SpawnServer } from "../../servers/upstream/stdio/server-process.ts";
import { hasProcess, type ProcessKind, type TransportKind } from "../../config/entry/transports.ts";
import type { Connection } from "../../servers/upstream/connection.ts";
import type { LearnedNames } from "../../servers/sandbox/learned-names.ts";
import { createConnectRunner } from "../../servers/upstream/runner/connect-runner.ts";
import { routeTo } from "../../servers/logins/http-route.ts";
import { packageRunnerOf } from "../../servers/upstream/runner/package-runner.ts";
import { connectStdio } from "../../servers/upstream/stdio/connect-stdio.ts";

export interface ConnectionsDeps {
  /** Called for each connection, because an edited file changes the settings. */
  readonly settings: () => Settings;
  readonly identity: GatewayIdentity;
  readonly log: Log;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDir: string;
  /** The configuration file; undefined where there is none. */
  readonly configFile: () => string | undefined;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly loadLate: LoadLate;
  /**
   * Removes secrets from what a server writes to stderr and from the reason why it did not start: both end up in
   * logs, errors and answers.
   */
  readonly redact: (text: string) => string;
  readonly loopGuard: LoopGuard;
  /** Login tokens of the instance's owner for a server, when there are any. */
  readonly authorizeFor: (server: ServerConfig, instance: string) => Promise<HttpCredentials["authorize"]>;
}

interface Connections extends AsyncDisposable {
  readonly open: OpenConnection;
  /** What confined servers reach, as far as it was wanted; read from the disk at the first need. */
  readonly learnedNames: () => Promise<LearnedNames>;
}

/** Opens connections whatever the transport, and ends the processes behind those that have one. */
export function createConnections(deps: ConnectionsDeps): Connections {
  const runDirectory = join(deps.dataDir, "run");
  const guardian = createGuardian({ environment: deps.environment, recordDirectory: runDirectory, log: deps.log });
  const watchdog = createWatchdog({ clock: deps.clock, intervalMs: defaultWatchIntervalMs });
  const { environment, redact } = deps;
  const spawn = createSpawnServer({ guardian, watchdog, environment, redact, confine: confineLate(deps) });
  // Begins at once, because with stored catalogs the first process may start hours later.
  const sweeping = sweep({ ...deps, runDirectory, table: guardian.table });
  const connect = createConnect({ ...deps, spawn, swept: async () => await sweeping });
  const learned = openLearned(deps);
  let opened = 0;

  function connectionLimits(): ConnectionLimits {
    const { limits, instances } = deps.settings();
    return {
      messageBytes: limits.upstreamMessageBytes,
      depth: deepestJson,
      sendQueueBytes: limits.stdinQueueBytes,
      stopTimeoutMs: instances.stopTimeoutMs,
    };
  }

  /** What cannot be kept is no reason to keep a server from a host. */
  function noteReached(server: string, host: string): void {
    learned.open().then(
      (names) => names.note(server, host),
      () => undefined,
    );
  }

  const open: OpenConnection = async (server, instance, { events, roots, onWork, ...known }, signal) => {
    opened += 1;
    const options = {
      server: server.slug,
      instance,
      transport: server.transport,
      identity: deps.identity,
      limits: connectionLimits(),
      ...known,
      events: isConfinedFile(server)
        ? { ...events, onReached: (host: string) => noteReached(server.slug, host) }
        : events,
      roots,
      memory: deps.memory,
      tap: tapLine(deps.tap, { side: "server", key: `server ${opened}`, name: server.slug, instance }),
      onWork,
      authorizeFor: async () => await deps.authorizeFor(server, instance),
    };
    return await connect(options, signal);
  };

  const checked: OpenConnection = async (...wanted) => {
    const connection = await open(...wanted);
    try {
      deps.loopGuard.note(wanted[0].slug, connection.peer.gateways ?? []);
      return connection;
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw error;
    }
  };

  return {
    learnedNames: learned.open,
    open: async (...wanted) =>
      await checked(...wanted).catch((error: unknown) => {
        // The error quotes the configuration, and becomes the reason that everybody is shown.
        throw error instanceof GatewayError ? rewriteFailure(error, deps.redact) : error;
      }),
    async [Symbol.asyncDispose]() {
      watchdog[Symbol.dispose]();
      await guardian[Symbol.asyncDispose]();
      await learned[Symbol.asyncDispose]();
    },
  };
}

/** Of the configuration's own servers alone: what a team installed is changed at its installation. */
function isConfinedFile({ installed, transport }: ServerConfig): boolean {
  return installed === undefined && hasProcess(transport) && transport.sandbox !== undefined;
}

function openLearned({ loadLate, dataDir, clock, log }: ConnectionsDeps) {
  const load = async () =>
    await Promise.all([import("../../servers/sandbox/learned-names.ts"), import("../../store/files/learned-file.ts")]);
  const fail = (error: unknown): void =>
    log.warn({ component: "sandbox", operation: "learn", err: error }, "names that servers reached could not be kept");
  let file: AsyncDisposable | undefined;
  return {
    open: openOnce(async () => {
      const [{ learnedFileOf, openLearnedNames }, { createLearnedFile }] = await loadLate(
        "names that servers reach",
        load,
      );
      const path = learnedFileOf(dataDir);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const kept = createLearnedFile(path, fail);
      file = kept;
      return await openLearnedNames(kept, clock);
    }),
    [Symbol.asyncDispose]: async () => await file?.[Symbol.asyncDispose](),
  };
}

/** Loaded with the first server that is to be confined: most gateways of one person have none. */
function confineLate({ loadLate, environment, dataDir, configFile }: ConnectionsDeps): Confine {
  const load = async () => await import("../../servers/sandbox/confine.ts");
  const own = () => ({ dataDir, configFile: configFile(), home: environment["HOME"] });
  const open = openOnce(async () => {
    const { createConfine } = await loadLate("confinement of servers", load);
    return createConfine({ environment, own });
  });
  return async (...wanted) => await (await open())(...wanted);
}

interface SweepDeps extends Pick<ConnectionsDeps, "log" | "dataDir" | "environment" | "loadLate"> {
  readonly runDirectory: string;
  readonly table: ProcessTable;
}

/** Without one of them no container can be left, and nothing is loaded. */
const containerTraces: readonly string[] = ["used-docker", "used-podman"];

/** Ends what an earlier gateway of this data directory left behind. Never rejects. */
async function sweep({ runDirectory, table, log, ...deps }: SweepDeps): Promise<void> {
  const about = { component: "upstream", operation: "sweep" };
  try {
    const report = await sweepLeftovers(runDirectory, table);
    if (report.dead > 0)
      log.info({ ...about, ...report }, `swept after ${report.dead} gateways that did not end in order`);
  } catch (error) {
    log.warn({ ...about, err: error }, "leftovers of earlier gateways could not be looked for");
  }
  const { dataDir, environment, loadLate } = deps;
  if (!containerTraces.some((name) => existsSync(join(dataDir, "sandboxes", name)))) return;
  try {
    const load = async () => await import("../../servers/sandbox/container-engine.ts");
    const { sweepEngines } = await loadLate("removal of containers", load);
    const left = await sweepEngines(dataDir, environment);
    if (left > 0) log.info({ ...about, left }, `removed ${left} containers of gateways that did not end in order`);
  } catch (error) {
    log.warn({ ...about, err: error }, "containers of earlier gateways could not be looked for");
  }
}

interface ConnectorsDeps extends Pick<ConnectionsDeps, "settings" | "log" | "clock" | "environment" | "loadLate"> {
  readonly spawn: SpawnServer;
  /** Settles when the processes that earlier gateways left behind have ended. No process starts before. */
  readonly swept: () => Promise<void>;
}

type Wanted<T extends Transport> = ConnectOptions<T> & {
  /** Called only where the transport can log in. */
  readonly authorizeFor: () => Promise<HttpCredentials["authorize"]>;
};

type Connect<T extends Transport> = (
  wanted: Wanted<T>,
  signal: AbortSignal,
) => Promise<Connection & { readonly pid?: number }>;

type Connectors = {
  readonly [Kind in TransportKind]: Connect<Kind extends ProcessKind ? StdioTransport : HttpTransport>;
};

/** Connects by the server's transport. This table is the only place that chooses a connector. */
function createConnect(deps: ConnectorsDeps): Connect<Transport> {
  const connectors: Connectors = { stdio: toProcess(deps), http: overHttp(deps), sse: overSse(deps) };
  // Each row gets only transports of its own kind, which the type of a look-up cannot express.
  return (wanted, signal) => (connectors[wanted.transport.kind] as Connect<Transport>)(wanted, signal);
}

function toProcess(deps: ConnectorsDeps): Connectors["stdio"] {
  const npxFromFolder = (): boolean => deps.settings().instances.npxFromFolder;
  const connectRunner = createConnectRunner({ ...deps, npxFromFolder });
  return async ({ onWork, ...options }, signal) => {
    await deps.swept();
    if (packageRunnerOf(options.transport) === undefined) return await connectStdio(options, deps.spawn, signal);
    const giveUpMs = deps.settings().instances.runnerStopMs;
    return await connectRunner({ ...options, onWork, giveUpMs }, signal);
  };
}

function overHttp(deps: ConnectorsDeps): Connectors["http"] {
  return async (wanted, signal) => await connectLate(deps, (await loadHttp(deps)).connectHttp, wanted, signal);
}

function overSse(deps: ConnectorsDeps): Connectors["sse"] {
  return async (wanted, signal) => await connectLate(deps, (await loadHttp(deps)).connectHttpSse, wanted, signal);
}

async function connectLate(
  deps: ConnectorsDeps,
  connect: ConnectHttp,
  { onWork: _process, authorizeFor, ...options }: Wanted<HttpTransport>,
  signal: AbortSignal,
): Promise<Connection> {
  const createClient = await routeTo(options.server, options.transport, deps);
  return await connect({ ...options, authorize: await authorizeFor(), createClient }, signal);
}

async function loadHttp({ loadLate }: ConnectorsDeps) {
  return await loadLate(
    "the connection to remote servers",
    async () => await import("../../servers/upstream/remote/connect-http.ts"),
  );
}

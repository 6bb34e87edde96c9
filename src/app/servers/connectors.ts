import type { HttpTransport, Settings, StdioTransport, Transport } from "../../config/config.ts";
import type { ProcessKind, TransportKind } from "../../config/entry/transports.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { ConnectHttp, ConnectOptions, HttpCredentials } from "../../servers/upstream/connect.ts";
import type { Connection } from "../../servers/upstream/connection.ts";
import { createConnectRunner } from "../../servers/upstream/runner/connect-runner.ts";
import { routeTo } from "../../servers/logins/http-route.ts";
import { packageRunnerOf } from "../../servers/upstream/runner/package-runner.ts";
import { connectStdio } from "../../servers/upstream/stdio/connect-stdio.ts";
import type { SpawnServer } from "../../servers/upstream/stdio/server-process.ts";

export interface ConnectorsDeps {
  readonly settings: () => Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly loadLate: LoadLate;
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
export function createConnect(deps: ConnectorsDeps): Connect<Transport> {
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

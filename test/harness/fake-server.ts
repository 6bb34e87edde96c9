import { createCurrentCatalog } from "../../src/catalog/model/current.ts";
import type { InstanceSettings, Limits, ServerConfig, ToolRules } from "../../src/config/config.ts";
import { createEventBus } from "../../src/kernel/events/event-bus.ts";
import type { GatewayEvent } from "../../src/kernel/events/event.ts";
import type { InstanceDeps, KeptCatalog, OpenOptions } from "../../src/servers/instance/instance-deps.ts";
import { createStartQueue } from "../../src/servers/instance/starts/start-queue.ts";
import { createStartTurns } from "../../src/servers/instance/starts/start-turns.ts";
import type { GatewayError } from "../../src/kernel/failures/gateway-error.ts";
import type { InstanceId, ServerSlug } from "../../src/kernel/ids.ts";
import { toJsonBytes } from "../../src/kernel/text/json-bytes.ts";
import type { Closed, Connection, UpstreamRequest } from "../../src/servers/upstream/connection.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** One connection that a fake server gave out. */
export interface FakeConnection extends Connection {
  readonly instance: InstanceId;
  readonly options: OpenOptions;
  readonly requests: readonly UpstreamRequest[];
  isDisposed: boolean;
  inFlight: number;
  /** Ends it from the server's side. */
  end(closed: Closed): void;
}

/**
 * Everything that an instance needs, with servers that are object literals: what they list and how they start can be
 * changed.
 */
export interface FakeWorld {
  readonly deps: InstanceDeps;
  readonly clock: ManualClock;
  readonly connections: FakeConnection[];
  readonly events: GatewayEvent[];
  readonly kept: Map<string, KeptCatalog>;
  /** The failure that opening ends with, while there is one. */
  failure: GatewayError | undefined;
  /** Opening waits for this. */
  gate: Promise<void>;
  /** Names of the tools that are listed. */
  tools: string[];
  /** Fails tools/list while true. */
  listFails: boolean;
  settings: InstanceSettings;
  changes: number;
}

const settings: InstanceSettings = {
  idleGraceMs: 60_000,
  idleCheckMs: 30_000,
  parallelStarts: 4,
  startQueue: 1_000,
  parallelInstalls: 2,
  runnerQuietMs: 120_000,
  runnerStartMs: 900_000,
  runnerStopMs: 30_000,
  npxFromFolder: true,
  stopTimeoutMs: 10_000,
  probeIntervalMs: 180_000,
  refreshIntervalMs: 600_000,
  drainTimeoutMs: 25_000,
  restartDelaysMs: [1_000, 5_000, 15_000],
  steadyUptimeMs: 60_000,
  crashWindowMs: 300_000,
  callRetryMs: 1_000,
  failedRetryMs: 600_000,
  breakerPercent: 50,
  breakerCalls: 10,
  breakerWindowMs: 60_000,
  breakerWaitMs: 5_000,
};

export function createFakeWorld(): FakeWorld {
  const clock = createManualClock();
  const current = createCurrentCatalog();
  const bus = createEventBus((error) => {
    throw error;
  });
  const quiet = () => undefined;
  const world: FakeWorld = {
    clock,
    connections: [],
    events: [],
    kept: new Map(),
    failure: undefined,
    gate: Promise.resolve(),
    tools: ["one"],
    listFails: false,
    settings,
    changes: 0,
    deps: {
      async open(_server, instance, options, signal) {
        await Promise.race([
          world.gate,
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
        ]);
        if (world.failure !== undefined) throw world.failure;
        return openFake(world, instance, options);
      },
      loginOf: async () => undefined,
      keeper: {
        load: async (id) => world.kept.get(id),
        save: async (id, kept) => void world.kept.set(id, kept),
        remove: async (id) => void world.kept.delete(id),
      },
      definitions: {
        open: async () => undefined,
        review: async () => undefined,
        recall: (_server, catalog) => catalog,
        mayHold: () => false,
      },
      catalog: {
        get: (id) => current.get(id),
        put: (part) => current.put(part),
        remove: (id) => current.remove(id),
      },
      events: bus,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      clock,
      starts: createStartTurns({
        starts: createStartQueue(() => world.settings.parallelStarts),
        installs: createStartQueue(() => world.settings.parallelInstalls),
      }),
      settings: () => world.settings,
      limits: () => ({ listPages: 10, listItems: 100 }) as Limits,
      onChange: () => void (world.changes += 1),
    },
  };
  bus.subscribe((event) => void world.events.push(event));
  return world;
}

function openFake(world: FakeWorld, instance: InstanceId, options: OpenOptions): FakeConnection {
  let settleClosed: (closed: Closed) => void = () => undefined;
  const closed = new Promise<Closed>((resolve) => (settleClosed = resolve));
  const requests: UpstreamRequest[] = [];
  const connection: FakeConnection = {
    instance,
    options,
    requests,
    peer: {
      era: "legacy",
      revision: "2025-11-25",
      serverInfo: {},
      capabilities: { tools: { listChanged: true } },
      instructions: undefined,
      eras: ["legacy"],
    },
    async request(request) {
      requests.push(request);
      if (world.listFails) return { kind: "error", error: toJsonBytes({ code: -32603, message: "no list today" }) };
      return {
        kind: "result",
        result: toJsonBytes({ tools: world.tools.map((name) => ({ name, inputSchema: { type: "object" } })) }),
      };
    },
    notify: async () => undefined,
    closed,
    inFlight: 0,
    pending: () => [],
    lastActivityMs: 0,
    isDisposed: false,
    end: (how) => settleClosed(how),
    async [Symbol.asyncDispose]() {
      connection.isDisposed = true;
      settleClosed({ kind: "asked" });
    },
  };
  world.connections.push(connection);
  return connection;
}

/** A server's configuration; `over` replaces parts of it. */
export function fakeServer(over: Partial<ServerConfig> = {}): ServerConfig {
  return {
    slug: "x" as ServerSlug,
    key: "x",
    displayName: "x",
    transport: { kind: "stdio", command: "x", args: [], env: {}, cwd: "/" },
    disabledReason: undefined,
    namespace: "x",
    category: undefined,
    icon: undefined,
    priority: "normal",
    scope: "shared",
    roots: undefined,
    startTimeoutMs: undefined,
    discoveryTimeoutMs: 45_000,
    callTimeoutMs: 300_000,
    maxCallTimeoutMs: 3_600_000,
    idleTimeoutMs: 180_000,
    stateful: false,
    staysForClients: false,
    retry: true,
    strictResults: false,
    annotations: "raise",
    definitions: undefined,
    content: [],
    maxResultTokens: undefined,
    requestLogging: "metadata",
    interactive: false,
    replicas: 1,
    exclusive: false,
    files: undefined,
    place: { labels: {}, everyNode: false },
    breaker: false,
    tools: noToolRules,
    required: { user: [], team: [] },
    optional: { user: [], team: [] },
    hash: "hash-1",
    ...over,
  };
}

/** The rules of an entry that has none. */
export const noToolRules: ToolRules = Object.freeze({
  ...{ allow: undefined, deny: [], rename: {}, describe: {}, phrases: {} },
  ...{ ask: [], neverAsk: [], effects: {} },
});

import { randomBytes } from "node:crypto";
import { createCurrentCatalog } from "../catalog/model/current.ts";
import { createViews, type View } from "../catalog/model/view.ts";
import type { Config } from "../config/config.ts";
import { secretsOf } from "../config/secrets.ts";
import { createDiscovery, type Discovery } from "../catalog/discovery/discovery.ts";
import { createEventBus, type EventBus } from "../kernel/event-bus.ts";
import { redact } from "../records/pino-log.ts";
import type { Log } from "../kernel/log.ts";
import { createMetrics, type Metrics } from "../records/metrics.ts";
import type { Directory } from "../people/directory/directory.ts";
import type { Authenticator } from "../people/identity/authenticator.ts";
import type { InstanceTokens } from "../people/identity/instance-tokens.ts";
import { createFleet, type Fleet, type ReconcileReport } from "../servers/instance/fleet.ts";
import type { Instance } from "../servers/instance/instance.ts";
import { createStartQueue } from "../servers/instance/start-queue.ts";
import { createStartTurns } from "../servers/instance/start-turns.ts";
import { createPublicUrl, type PublicUrl } from "../front/http/public-url.ts";
import { mayUse } from "../engine/policy/tool-rules.ts";
import { createSealedStates } from "../wire/mcp/sealed-state.ts";
import { createLogLevels } from "../engine/calls/log-levels.ts";
import { createRouting, type Routing } from "../engine/calls/routing.ts";
import { createPerformer, type Performer } from "../engine/perform/perform.ts";
import { createSubscriptions, type Subscriptions } from "../engine/calls/subscriptions.ts";
import { createValidators } from "../engine/validation/validators.ts";
import { untilAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import { createLargeBuffers } from "../wire/json/large-buffers.ts";
import { createSessionlessClients } from "../kernel/sessionless-clients.ts";
import { localPrincipal, type Principal } from "../kernel/principal.ts";
import type { Store } from "../store/store.ts";
import { createMcpFront, type McpFront } from "./mcp-front.ts";
import { createGatewayLogins } from "./server-logins.ts";
import { createConnections } from "./connections.ts";
import { createGatewayInstanceTokens } from "./instance-access.ts";
import { createLateModules, type LateModules } from "./late-modules.ts";
import { createLoopGuard } from "./loop-guard.ts";
import { createNamespaces, type Namespaces } from "./namespace-wiring.ts";
import { createPeople } from "./people-wiring.ts";
import { createRootsHint, type RootsHint } from "./roots-hint.ts";
import { loadDiscovery } from "./search.ts";
import { warnOfToolNames } from "./tool-names.ts";

/** What a gateway is built from beside its configuration. */
export interface GatewayDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** The process's environment: a small safe part of it goes to the servers. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute; created with mode 0700 by the caller. Marks of what runs: several gateways share them. */
  readonly dataDir: string;
  readonly store: Store;
  /** The gateway's own place in the store: catalogs, tokens of its instances, what was learned. No other gateway writes there. */
  readonly place: string;
  /** The people, if they stand elsewhere than in the configuration: those of the configuration are then not looked at. */
  readonly directory?: Directory | undefined;
}

/** Every part of a running gateway, made in order and stopped in the reverse of it. For `app` alone: nobody else is handed one. */
export interface GatewayParts extends AsyncDisposable {
  readonly version: string;
  readonly fleet: Fleet;
  /** Who runs the gateway and talks to it without a token, over stdio: a local principal that no file can take away. */
  readonly owner: Principal;
  readonly events: EventBus;
  readonly routing: Routing;
  readonly performer: Performer;
  readonly discovery: Discovery;
  readonly subscriptions: Subscriptions;
  readonly mcp: McpFront;
  readonly namespaces: Namespaces;
  readonly instanceTokens: InstanceTokens;
  readonly metrics: Metrics;
  /** What is loaded when it is first needed, and whether it still can be. */
  readonly late: LateModules;
  readonly viewOf: (principal: Principal) => View;
  readonly authenticator: Authenticator;
  readonly publicUrl: PublicUrl;
  /** How many tools of an instance its configuration lets anybody see. */
  readonly toolCount: (instance: Instance) => number;
  readonly rootsHint: RootsHint;
  /** Tokens of logins in use, and values of people that stand elsewhere than in the configuration: no log may show them. */
  readonly secrets: () => ReadonlySet<string>;
  readonly config: () => Config;
  /** Brings everything in line with a configuration; the first call starts what has to be started. */
  apply(config: Config): Promise<void>;
  /** Until this is called no server is started: a client that waited for the gateway is answered before they take the machine. */
  letServersStart(): void;
  /** Servers that wait to be started. */
  readonly waitingStarts: number;
  /** Ends everything: servers get as long as they are configured to, but no longer than until the signal aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

/** A sealed state is good as long as a parked call would be. */
const stateLifetimeMs = 600_000;

export function buildParts(first: Config, deps: GatewayDeps): GatewayParts {
  const { log, clock } = deps;
  let config = first;
  const people = createPeople(first, deps.directory, log);
  const { directory } = people;
  const { settings } = first;
  const publicUrl = createPublicUrl(() => config.settings);
  const owner: Principal = Object.freeze({ ...localPrincipal });
  const events = createEventBus((error) => log.error({ component: "events", err: error }, "a sink of events failed"));
  const current = createCurrentCatalog();
  const identity = { name: "toolyard", version: deps.version };
  // A server may write a thousand lines a second: the set is made once per configuration.
  let known = { config: first, secrets: secretsOf(first) };
  const redactAll = (text: string): string => {
    if (known.config !== config) known = { config, secrets: secretsOf(config) };
    return redact(redact(text, known.secrets), secrets());
  };
  const secrets = (): ReadonlySet<string> => {
    const ofPeople = directory.secrets();
    return ofPeople.size === 0 ? logins.secrets() : new Set([...logins.secrets(), ...ofPeople]);
  };
  const late = createLateModules({ log, clock });
  const logins = createGatewayLogins({
    openStore: deps.store.secrets,
    clock,
    log,
    loadLate: late.load,
  });
  const memory = createLargeBuffers();
  const loopGuard = createLoopGuard();
  const connections = createConnections({
    ...deps,
    memory,
    loadLate: late.load,
    settings: () => config.settings,
    identity,
    loopGuard,
    redact: redactAll,
    authorizeFor: logins.authorizeFor,
  });
  const kept = deps.store.at(deps.place, log);
  let mayStart = false;
  const permits = (kind: "parallelStarts" | "parallelInstalls") => () =>
    mayStart ? config.settings.instances[kind] : 0;
  const starts = createStartTurns({
    starts: createStartQueue(permits("parallelStarts")),
    installs: createStartQueue(permits("parallelInstalls")),
  });
  const fleet = createFleet({
    open: connections.open,
    loginOf: logins.loginOf,
    keeper: kept.catalogs,
    people: directory,
    catalog: { get: (id) => current.get().instances.get(id), put: current.put, remove: current.remove },
    events,
    log,
    clock,
    starts,
    settings: () => config.settings.instances,
    limits: () => config.settings.limits,
  });
  const rulesOf = (instance: string) => fleet.get(instance as never)?.server.tools;
  const viewOf = createViews(
    current.get,
    fleet,
    (principal, statusView, tool) => {
      const rules = rulesOf(statusView.instance);
      return rules === undefined || mayUse(principal, { rules, tool: tool.upstreamName });
    },
    { loaded: (principal) => namespaces.loads.of(principal), bareNames: () => config.settings.namespaces },
  );
  const validators = createValidators({
    clock,
    onUnvalidated: (hash, reason) =>
      log.warn({ component: "validation", hash: hash.slice(0, 12) }, `a tool's schema is not checked: ${reason}`),
  });
  const namespaces = createNamespaces({
    config: () => config,
    fleet,
    viewOf,
    validators,
    events,
    log,
    clock,
    store: kept.namespaceUsage,
  });
  const instanceTokens = createGatewayInstanceTokens({
    store: kept.tokens,
    inUrl: () => config.settings.auth.allowTokenInUrl,
    people,
    clock,
  });
  const metrics = createMetrics({ events, instances: () => fleet.all(), version: deps.version });
  const instanceOf = (id: Parameters<Fleet["get"]>[0]) => fleet.get(id);
  const sessionlessClients = createSessionlessClients(clock);
  const routing = createRouting({
    instanceOf,
    presenceOf: (context) => context.connected?.presence ?? sessionlessClients.of(context),
    clients: fleet.clients,
    validators,
    states: createSealedStates(stateLifetimeMs, clock.now),
    events,
    clock,
    limits: settings.limits,
  });
  const subscriptions = createSubscriptions(instanceOf, events);
  const logLevels = createLogLevels(instanceOf, events);
  const discovery = createDiscovery(
    async () =>
      await late.load(
        "search",
        async () =>
          await loadDiscovery(settings.search, {
            log,
            clock,
            store: kept,
            isShared: (tool) => fleet.get(tool.instance)?.owner === null,
          }),
      ),
  );
  const performer = createPerformer({
    routing,
    discovery,
    loads: namespaces.loads,
    viewOf,
    settled: async (principal, signal) => await fleet.settled(principal, signal),
    instanceOf,
    events,
    clock,
  });
  const mcp = createMcpFront({
    publicUrl,
    memory,
    settings,
    currentSettings: () => config.settings,
    identity,
    gateways: loopGuard.ids,
    clock,
    log,
    events,
    viewOf,
    routing,
    performer,
    subscriptions,
    logLevels,
    adopting: fleet.adopting,
    settledOne: async (instance, signal) => await fleet.get(instance)?.settled(signal),
    settled: async (principal, signal) => await fleet.settled(principal, signal),
    cursorKey: randomBytes(32),
    sessionlessClients,
    instanceOf,
    clients: fleet.clients,
  });
  logins.watch(() => fleet.tick());
  warnOfToolNames({ fleet, catalogOf: (id) => current.get().instances.get(id), events, log });
  const tick = (): void => {
    fleet.tick();
    mcp.tick();
  };
  const cancelTicks = everySoOften(clock, () => config.settings.instances.idleCheckMs, tick);

  /** Ends what people have opened who are not the same any more, then what runs for them. */
  async function bringInLine(): Promise<ReconcileReport> {
    mcp.endWhere(
      (principal) => principal !== owner && !directory.isCurrent(principal),
      () => new GatewayError("UNAUTHORIZED", "the credential is no longer valid"),
    );
    return await fleet.reconcile(config);
  }

  const forgetPeople = directory.onChange(() => {
    bringInLine().catch((error: unknown) =>
      log.error({ component: "people", err: error }, "what runs could not be brought in line with changed people"),
    );
  });

  async function stop(signal: AbortSignal): Promise<void> {
    cancelTicks();
    forgetPeople();
    mcp.endWhere(
      () => true,
      () => new GatewayError("DRAINING", "the gateway is stopping"),
    );
    // When patience ends, the guardian kills what is left.
    await namespaces[Symbol.asyncDispose]();
    metrics[Symbol.dispose]();
    await untilAborted(Promise.resolve(fleet[Symbol.asyncDispose]()), signal).catch(() => undefined);
    await Promise.all([
      connections[Symbol.asyncDispose](),
      logins[Symbol.asyncDispose](),
      validators[Symbol.asyncDispose](),
    ]);
  }

  return {
    version: deps.version,
    fleet,
    events,
    owner,
    routing,
    performer,
    discovery,
    subscriptions,
    mcp,
    namespaces,
    instanceTokens,
    metrics,
    late,
    viewOf,
    authenticator: people.authenticator,
    publicUrl,
    toolCount: ({ id, server: { tools: rules } }) =>
      (current.get().instances.get(fleet.clients.baseOf(id) ?? id)?.tools ?? []).filter((tool) =>
        mayUse(owner, { rules, tool: tool.upstreamName }),
      ).length,
    rootsHint: createRootsHint({ fleet, events, log }),
    secrets,
    config: () => config,
    get waitingStarts() {
      return starts.waiting;
    },
    letServersStart() {
      mayStart = true;
      starts.wake();
    },
    async apply(next) {
      config = next;
      people.follow(next);
      namespaces.warnOfCollisions(next);
      const report = await bringInLine();
      events.emit({ type: "config.applied", atMs: clock.now(), file: next.file ?? "", ...report });
      // The one person of a local gateway is known before anybody calls; others find theirs loading at their first request.
      const local = directory.byId(localPrincipal.id);
      if (local !== undefined) void namespaces.loads.preload(local);
    },
    stop,
    [Symbol.asyncDispose]: async () => await stop(new AbortController().signal),
  };
}

function everySoOften(clock: Clock, intervalMs: () => number, run: () => void): () => void {
  let cancel: () => void;
  const again = (): void => {
    cancel = clock.after(intervalMs(), () => {
      run();
      again();
    });
  };
  again();
  return () => cancel();
}

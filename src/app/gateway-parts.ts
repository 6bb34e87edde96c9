import { randomBytes } from "node:crypto";
import type { View } from "../catalog/model/view.ts";
import type { Config } from "../config/config.ts";
import { secretsOf } from "../config/secrets.ts";
import type { Discovery } from "../catalog/discovery/discovery.ts";
import { createEventBus, type EventBus } from "../kernel/event-bus.ts";
import { redact } from "../records/pino-log.ts";
import type { Log } from "../kernel/log.ts";
import { createMetrics, type Metrics } from "../records/metrics.ts";
import type { Directory } from "../people/directory/directory.ts";
import type { Authenticator } from "../people/identity/authenticator.ts";
import type { InstanceTokens } from "../people/identity/instance-tokens.ts";
import type { Fleet, ReconcileReport } from "../servers/instance/fleet.ts";
import type { Instance } from "../servers/instance/instance.ts";
import { createPublicUrl, type PublicUrl } from "../front/http/public-url.ts";
import type { Performer } from "../engine/perform/perform.ts";
import { mayUse } from "../engine/policy/tool-rules.ts";
import type { Routing } from "../engine/calls/routing.ts";
import type { Subscriptions } from "../engine/calls/subscriptions.ts";
import { untilAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import { createLargeBuffers } from "../wire/json/large-buffers.ts";
import { localPrincipal, type Principal } from "../kernel/principal.ts";
import type { Store } from "../store/store.ts";
import { createCurrentCatalog, type CurrentCatalog } from "../catalog/model/current.ts";
import { createSearches, createViewOf } from "./catalog-wing.ts";
import { createEngine } from "./engine-wing.ts";
import { createMcpFront, type McpFront } from "./mcp-front.ts";
import { createGatewayInstanceTokens } from "./instance-access.ts";
import { createLateModules, type LateModules } from "./late-modules.ts";
import { createLoopGuard } from "./loop-guard.ts";
import type { Namespaces } from "./namespace-wiring.ts";
import { createPeople } from "./people-wiring.ts";
import { createRootsHint, type RootsHint } from "./roots-hint.ts";
import { createServers } from "./servers-wing.ts";
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
  /**
   * The gateway's own place in the store: catalogs, tokens of its instances, what was learned. No other gateway
   * writes there.
   */
  readonly place: string;
  /**
   * The people, if they stand elsewhere than in the configuration: those of the configuration are then not looked at.
   */
  readonly directory?: Directory | undefined;
}

/**
 * Every part of a running gateway, made in order and stopped in the reverse of it. For `app` alone: nobody else is
 * handed one.
 */
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
  /**
   * Tokens of logins in use, and values of people that stand elsewhere than in the configuration: no log may show
   * them.
   */
  readonly secrets: () => ReadonlySet<string>;
  readonly config: () => Config;
  /** Brings everything in line with a configuration; the first call starts what has to be started. */
  apply(config: Config): Promise<void>;
  /**
   * Until this is called no server is started: a client that waited for the gateway is answered before they take the
   * machine.
   */
  letServersStart(): void;
  /** Servers that wait to be started. */
  readonly waitingStarts: number;
  /** Ends everything: servers get as long as they are configured to, but no longer than until the signal aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

export function buildParts(first: Config, deps: GatewayDeps): GatewayParts {
  const { log, clock } = deps;
  let config = first;
  const current = (): Config => config;
  const owner: Principal = Object.freeze({ ...localPrincipal });
  const wings = buildWings(current, deps);
  const { events, catalog, servers, engine, people, mcp } = wings;
  const { fleet } = servers;
  const { directory } = people;
  warnOfToolNames({ fleet, catalogOf: catalog.get, events, log });
  const tick = (): void => {
    fleet.tick();
    mcp.tick();
  };
  const cancelTicks = everySoOften(clock, () => config.settings.instances.idleCheckMs, tick);
  const forgetPeople = directory.onChange(() => {
    bringInLine().catch((error: unknown) =>
      log.error({ component: "people", err: error }, "what runs could not be brought in line with changed people"),
    );
  });

  /** Ends what people have opened who are not the same any more, then what runs for them. */
  async function bringInLine(): Promise<ReconcileReport> {
    mcp.endWhere(
      (principal) => principal !== owner && !directory.isCurrent(principal),
      () => new GatewayError("UNAUTHORIZED", "the credential is no longer valid"),
    );
    return await fleet.reconcile(config);
  }

  async function stop(signal: AbortSignal): Promise<void> {
    cancelTicks();
    forgetPeople();
    await stopInOrder(wings, signal);
  }

  async function apply(next: Config): Promise<void> {
    config = next;
    people.follow(next);
    engine.namespaces.warnOfCollisions(next);
    const report = await bringInLine();
    events.emit({ type: "config.applied", atMs: clock.now(), file: next.file ?? "", ...report });
    // The one person of a local gateway is known before anybody calls; others find theirs loading at their first
    // request.
    const local = directory.byId(localPrincipal.id);
    if (local !== undefined) void engine.namespaces.loads.preload(local);
  }

  return {
    ...toFace(wings, current, deps),
    owner,
    toolCount: createToolCount(fleet, catalog, owner),
    config: current,
    get waitingStarts() {
      return servers.waitingStarts;
    },
    letServersStart: servers.letStart,
    apply,
    stop,
    [Symbol.asyncDispose]: async () => await stop(new AbortController().signal),
  };
}

/** What the rest of `app` is handed of the wings. */
function toFace(wings: ReturnType<typeof buildWings>, config: () => Config, { version, clock, log }: GatewayDeps) {
  const { events, late, kept, servers, viewOf, engine, discovery, metrics, mcp, people, publicUrl, secrets } = wings;
  const { fleet } = servers;
  const { routing, performer, subscriptions, namespaces } = engine;
  return {
    version,
    fleet,
    events,
    routing,
    performer,
    discovery,
    subscriptions,
    mcp,
    namespaces,
    instanceTokens: createGatewayInstanceTokens({
      store: kept.tokens,
      inUrl: () => config().settings.auth.allowTokenInUrl,
      people,
      clock,
    }),
    metrics,
    late,
    viewOf,
    authenticator: people.authenticator,
    publicUrl,
    rootsHint: createRootsHint({ fleet, events, log }),
    secrets,
  };
}

/** Every wing, wired to the others; nothing of them runs yet. */
function buildWings(current: () => Config, deps: GatewayDeps) {
  const { log, clock } = deps;
  const { settings } = current();
  const events = createEventBus((error) => log.error({ component: "events", err: error }, "a sink of events failed"));
  const identity = { name: "toolyard", version: deps.version };
  const late = createLateModules({ log, clock });
  const memory = createLargeBuffers();
  const loopGuard = createLoopGuard();
  const kept = deps.store.at(deps.place, log);
  const catalog = createCurrentCatalog();
  const people = createPeople(current(), deps.directory, log);
  const publicUrl = createPublicUrl(() => current().settings);
  const secrets = (): ReadonlySet<string> => {
    const ofPeople = people.directory.secrets();
    const ofLogins = servers.logins.secrets();
    return ofPeople.size === 0 ? ofLogins : new Set([...ofLogins, ...ofPeople]);
  };
  const servers = createServers({
    ...deps,
    config: current,
    events,
    identity,
    memory,
    loopGuard,
    loadLate: late.load,
    openSecrets: deps.store.secrets,
    redact: createRedaction(current, secrets),
    people: people.directory,
    keeper: kept.catalogs,
    catalog,
  });
  const { fleet } = servers;
  const viewOf = createViewOf({ config: current, fleet, loads: () => engine.namespaces.loads });
  const discovery = createSearches({ settings, fleet, store: kept, log, clock, loadLate: late.load });
  const engine = createEngine({
    config: current,
    fleet,
    viewOf,
    discovery,
    store: kept,
    events,
    log,
    clock,
  });
  const metrics = createMetrics({ events, instances: () => fleet.all(), version: deps.version });
  const mcp = createMcpFront({
    ...engine,
    publicUrl,
    memory,
    settings,
    currentSettings: () => current().settings,
    identity,
    gateways: loopGuard.ids,
    clock,
    log,
    events,
    viewOf,
    adopting: fleet.adopting,
    settledOne: async (instance, signal) => await fleet.get(instance)?.settled(signal),
    settled: async (principal, signal) => await fleet.settled(principal, signal),
    cursorKey: randomBytes(32),
    instanceOf: fleet.get,
    clients: fleet.clients,
  });
  return {
    events,
    late,
    kept,
    catalog,
    people,
    publicUrl,
    secrets,
    servers,
    viewOf,
    engine,
    discovery,
    metrics,
    mcp,
  };
}

/** From the top to the cellar: first what is asked for, last what carries it out. */
async function stopInOrder(
  { servers, engine, mcp, metrics }: ReturnType<typeof buildWings>,
  signal: AbortSignal,
): Promise<void> {
  mcp.endWhere(
    () => true,
    () => new GatewayError("DRAINING", "the gateway is stopping"),
  );
  await engine.stopNamespaces();
  metrics[Symbol.dispose]();
  // When patience ends, the guardian kills what is left.
  await untilAborted(Promise.resolve(servers.fleet[Symbol.asyncDispose]()), signal).catch(() => undefined);
  await Promise.all([servers[Symbol.asyncDispose](), engine.stopValidation(), engine.stopResults()]);
}

/** A server may write a thousand lines a second: the set is made once per configuration. */
function createRedaction(config: () => Config, logins: () => ReadonlySet<string>): (text: string) => string {
  let known = { config: config(), secrets: secretsOf(config()) };
  return (text) => {
    if (known.config !== config()) known = { config: config(), secrets: secretsOf(config()) };
    return redact(redact(text, known.secrets), logins());
  };
}

function createToolCount(
  fleet: Fleet,
  catalog: Pick<CurrentCatalog, "get">,
  owner: Principal,
): GatewayParts["toolCount"] {
  return ({ id, server: { tools: rules } }) =>
    (catalog.get(fleet.clients.baseOf(id) ?? id)?.tools ?? []).filter((tool) =>
      mayUse(owner, { rules, tool: tool.upstreamName }),
    ).length;
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

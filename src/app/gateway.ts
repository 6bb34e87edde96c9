import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createCurrentCatalog } from "../catalog/current.ts";
import { createViews, type View } from "../catalog/view.ts";
import type { Config } from "../config/config.ts";
import { createDiscovery, type Discovery } from "../discovery/discovery.ts";
import { createEventBus, type EventBus } from "../events/bus.ts";
import type { Log } from "../events/log.ts";
import { createAuthenticator, type Authenticator } from "../identity/authenticator.ts";
import { createFleet, type Fleet } from "../instance/fleet.ts";
import { mayUse } from "../policy/policy.ts";
import { createSealedStates } from "../protocol/sealed-state.ts";
import { createRouting, type Routing } from "../routing/routing.ts";
import { createSubscriptions, type Subscriptions } from "../routing/subscriptions.ts";
import { createValidators } from "../routing/validation/validators.ts";
import type { Clock } from "../shared/clock.ts";
import { createSemaphore } from "../shared/semaphore.ts";
import type { Principal } from "../shared/principal.ts";
import { createCatalogFiles } from "../store/catalog-files.ts";
import { createMcpFront, type McpFront } from "./mcp-front.ts";
import { createConnections } from "./connections.ts";
import { loadDiscovery } from "./search.ts";

/** What a gateway is built from beside its configuration. */
export interface GatewayDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** The process's environment: a small safe part of it goes to the servers. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute; created with mode 0700 by the caller. */
  readonly dataDir: string;
}

/** Every part of a running gateway, made in order and stopped in the reverse of it. The only place that sees all. */
export interface Gateway extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly events: EventBus;
  readonly routing: Routing;
  readonly discovery: Discovery;
  readonly subscriptions: Subscriptions;
  readonly mcp: McpFront;
  readonly viewOf: (principal: Principal) => View;
  readonly authenticator: () => Authenticator;
  readonly config: () => Config;
  /** Brings everything in line with a configuration; the first call starts what has to be started. */
  apply(config: Config): Promise<void>;
}

const secondsToDays = 86_400_000;
/** A sealed state is good as long as a parked call would be. */
const stateLifetimeMs = 600_000;

export function createGateway(first: Config, deps: GatewayDeps): Gateway {
  const { log, clock } = deps;
  let config = first;
  let authenticator = createAuthenticator(first);
  const { settings } = first;
  const events = createEventBus((error) => log.error({ component: "events", err: error }, "a sink of events failed"));
  const current = createCurrentCatalog();
  const identity = { name: "toolyard", version: deps.version };
  const connections = createConnections({ ...deps, settings, identity });
  const keeper = createCatalogFiles(join(deps.dataDir, "catalog"), (message) => log.warn({ component: "store" }, message));
  const fleet = createFleet({
    open: connections.open,
    keeper,
    catalog: { get: (id) => current.get().instances.get(id), put: current.put, remove: current.remove },
    events,
    log,
    clock,
    starts: createSemaphore(settings.instances.parallelStarts),
    settings: settings.instances,
    limits: settings.limits,
  });
  const rulesOf = (instance: string) => fleet.get(instance as never)?.server.tools;
  const viewOf = createViews(current.get, fleet, (principal, standing, tool) => {
    const rules = rulesOf(standing.instance);
    return rules === undefined || mayUse(principal, { rules, tool: tool.upstreamName });
  });
  const validators = createValidators({ clock, onUnvalidated: (hash, reason) => log.warn({ component: "validation", hash: hash.slice(0, 12) }, `a tool's schema is not checked: ${reason}`) });
  const instanceOf = (id: Parameters<Fleet["get"]>[0]) => fleet.get(id);
  const routing = createRouting({ instanceOf, validators, states: createSealedStates(stateLifetimeMs, clock.now), events, clock, limits: settings.limits });
  const subscriptions = createSubscriptions(instanceOf);
  const discovery = createDiscovery(async () => await loadDiscovery(settings.search, { log, clock, dataDir: deps.dataDir, isShared: (tool) => fleet.get(tool.instance)?.owner === null }));
  const mcp = createMcpFront({
    settings,
    identity,
    clock,
    log,
    events,
    viewOf,
    routing,
    discovery,
    subscriptions,
    settled: async (principal, signal) => await fleet.settled(principal, signal),
    cursorKey: randomBytes(32),
  });
  const cancelTicks = everySoOften(clock, settings.instances.idleCheckMs, () => fleet.tick());

  return {
    fleet,
    events,
    routing,
    discovery,
    subscriptions,
    mcp,
    viewOf,
    authenticator: () => authenticator,
    config: () => config,
    async apply(next) {
      config = next;
      authenticator = createAuthenticator(next);
      mcp.endWhere((principal) => !authenticator.isCurrent(principal), "its principal was removed or changed");
      const report = await fleet.reconcile(next);
      events.emit({ type: "config.applied", atMs: clock.now(), file: next.file ?? "", ...report });
    },
    async [Symbol.asyncDispose]() {
      cancelTicks();
      mcp.endWhere(() => true, "the gateway is stopping");
      await fleet[Symbol.asyncDispose]();
      await Promise.all([connections[Symbol.asyncDispose](), validators[Symbol.asyncDispose]()]);
    },
  };
}

function everySoOften(clock: Clock, intervalMs: number, run: () => void): () => void {
  let cancel: () => void;
  const again = (): void => {
    cancel = clock.after(Math.min(intervalMs, secondsToDays), () => {
      run();
      again();
    });
  };
  again();
  return () => cancel();
}

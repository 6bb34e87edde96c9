import type { Pins } from "../catalog/discovery/pins.ts";
import type { LazyNames } from "../catalog/model/names/lazy-names.ts";
import type { View } from "../catalog/model/view.ts";
import type { Config } from "../config/config.ts";
import type { Discovery } from "../catalog/discovery/discovery.ts";
import { type EventBus } from "../kernel/events/event-bus.ts";
import { type Metrics } from "../records/telemetry/metrics.ts";
import type { Redaction } from "../records/redaction/redaction.ts";
import type { Authenticator } from "../people/identity/authenticator.ts";
import type { InstanceTokens } from "../people/identity/instance-tokens.ts";
import type { Presence } from "../people/identity/session-validity.ts";
import type { Fleet } from "../servers/instance/fleet/fleet.ts";
import type { Instance } from "../servers/instance/instance.ts";
import { type PublicUrl } from "../front/http/public-url.ts";
import type { Performer } from "../engine/perform/perform.ts";
import { mayUse } from "../engine/policy/tool-rules.ts";
import type { Routing } from "../engine/calls/routing.ts";
import type { Subscriptions } from "../engine/calls/subscriptions/subscriptions.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import type { InstanceId, PrincipalId } from "../kernel/ids.ts";
import { localPrincipal, type Principal } from "../kernel/principal.ts";
import type { CurrentCatalog } from "../catalog/model/current.ts";
import type { GatewayAudit } from "./records/audit-wing.ts";
import { auditAccess } from "./people/audited-access.ts";
import type { McpFront } from "./engine/mcp-front.ts";
import { createLoginCodes, type LoginCodes } from "../people/identity/login-codes.ts";
import { createCredentials } from "./people/credentials.ts";
import type { GatewayLogins } from "./servers/server-logins.ts";
import type { EventDelivery } from "./records/event-delivery.ts";
import type { LateModules } from "../kernel/runtime/late-module.ts";
import type { Namespaces } from "./engine/namespace-wiring.ts";
import { type Records } from "./records/records-wing.ts";
import type { GatewayPeople } from "./people/people-wiring.ts";
import { createStanding, type Standing } from "./records/status-wiring.ts";
import type { BrowserSessionStore } from "../store/store.ts";
import { openKeptSearches, type KeptSearchesOf } from "./fronts/search-tests.ts";
import { createRootsHint, type RootsHint } from "./servers/roots-hint.ts";
import { warnOfToolNames } from "./servers/tool-names.ts";
import type { UsageWing } from "./records/usage-wing.ts";
import { buildWings, stopInOrder, type GatewayDeps, type Wings } from "./gateway-wings.ts";

/**
 * Every part of a running gateway, made in order and stopped in the reverse of it. For `app` alone: it is not passed
 * on.
 */
export interface GatewayParts extends AsyncDisposable {
  readonly version: string;
  readonly clock: Clock;
  readonly fleet: Fleet;
  /** Logins of people at servers. */
  readonly logins: GatewayLogins;
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
  readonly live: EventDelivery["live"];
  /** What calls and definitions cost. */
  readonly usage: UsageWing;
  /** Modules that are loaded when first needed, and whether they still can be. */
  readonly late: LateModules;
  /** Records of events, and problems with keeping them. */
  readonly records: Records;
  /** People who are kept in the database, where they are. */
  readonly team: GatewayPeople["team"];
  readonly unreadyPeople: GatewayPeople["unready"];
  readonly presence: Presence;
  /** How the gateway is, and what happened, for those who may see it. */
  readonly standing: Standing;
  readonly audit: GatewayAudit;
  /** One-time links to the dashboard. */
  readonly loginCodes: LoginCodes;
  /** Opened once, by the first part that admits browsers. */
  readonly openBrowserStore: () => Promise<BrowserSessionStore>;
  /** Searches that people keep as tests. */
  readonly pins: Pins;
  readonly keptSearches: KeptSearchesOf;
  /** Whom a token with this hash (hex) belongs to now. */
  readonly byToken: (hash: string, signal: AbortSignal) => Promise<Principal | undefined>;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  /** The person with this id; undefined when there is no such person. */
  readonly personOf: (id: string, signal: AbortSignal) => Promise<Principal | undefined>;
  /** Resolves when servers that were never seen before have come up, or the signal aborts. */
  readonly settled: (principal: Principal, signal: AbortSignal) => Promise<void>;
  readonly authenticator: Authenticator;
  readonly publicUrl: PublicUrl;
  readonly environment: GatewayDeps["environment"];
  /** How many tools of an instance its configuration lets anybody see. */
  readonly toolCount: (instance: Instance) => number;
  readonly rootsHint: RootsHint;
  /**
   * Tokens of logins in use, and values of people that stand elsewhere than in the configuration: no log may show
   * them.
   */
  readonly secrets: () => ReadonlySet<string>;
  /** Takes these and the configuration's out of everything that is shown or kept. */
  readonly redaction: Redaction;
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

/** Ends streams that were opened with a token when it expires. Returns a function that stops this. */
function endExpiredStreams({ people: { directory }, mcp, outlets }: Wings): (() => void) | undefined {
  return directory.onExpiry?.(() => {
    const isOver = (principal: Principal): boolean => directory.isOver?.(principal) === true;
    mcp.endStreamsWhere(isOver);
    outlets.live.endWhere(isOver);
  });
}

export function buildParts(first: Config, deps: GatewayDeps): GatewayParts {
  const { log, clock } = deps;
  let config = first;
  let isApplied = false;
  const current = (): Config => config;
  const owner: Principal = Object.freeze({ ...localPrincipal, via: "owner" as const });
  const wings = buildWings(current, deps);
  const { events, catalog, servers, engine, people, mcp, outlets } = wings;
  const { fleet } = servers;
  const { directory } = people;
  const { presence } = people;
  const face = toFace(wings, current, deps);
  warnOfToolNames({ fleet, catalogOf: catalog.get, events, log });
  const tick = (): void => {
    fleet.tick();
    mcp.tick();
  };
  const cancelTicks = everySoOften(clock, () => config.settings.instances.idleCheckMs, tick);
  const forgetPeople = directory.onChange(() => {
    endForeign();
    fleet
      .followPeople()
      .catch((error: unknown) =>
        log.error({ component: "people", err: error }, "what runs could not be brought in line with changed people"),
      );
  });

  const forgetRevoked = people.instanceTokens.onRevoked(endForeign);
  const forgetExpiry = endExpiredStreams(wings);

  /** Ends what people have opened who are not the same any more. */
  function endForeign(): void {
    presence.noteLoss();
    mcp.endWhere(presence.isGone, presence.refusal);
    outlets.live.endWhere(presence.isGone);
  }

  function forgetInstances(owner: PrincipalId, instances: readonly InstanceId[]): void {
    forgetPerson({ ...face, logins: servers.logins }, owner, instances).catch((error: unknown) =>
      log.error({ component: "people", err: error }, "the data of a person who left could not be removed"),
    );
  }

  async function stop(signal: AbortSignal): Promise<void> {
    cancelTicks();
    forgetPeople();
    forgetRevoked();
    forgetExpiry?.();
    await stopInOrder(wings, signal);
  }

  async function apply(next: Config): Promise<void> {
    wings.audit.applied(isApplied ? config : undefined, next);
    isApplied = true;
    config = next;
    await wings.tracing?.ready;
    await people.team?.open(wings.records.opened, { onServers: fleet.follow, onGone: forgetInstances });
    people.follow(next);
    outlets.webhooks.follow(next);
    engine.namespaces.warnOfCollisions(next);
    endForeign();
    const report = await fleet.reconcile(config);
    events.emit({ type: "config.changed", atMs: clock.now(), file: next.file ?? "", ...report });
    // The one person of a local gateway is known before anybody calls; others find theirs loading at their first
    // request.
    const local = directory.byId(localPrincipal.id);
    if (local !== undefined) void engine.namespaces.loads.preload(local);
  }

  return {
    ...face,
    owner,
    toolCount: createToolCount(fleet, catalog, owner),
    config: current,
    get waitingStarts() {
      return servers.waitingStarts;
    },
    letServersStart() {
      servers.letStart();
      wings.records.open();
    },
    apply,
    stop,
    [Symbol.asyncDispose]: async () => await stop(new AbortController().signal),
  };
}

/** Nothing stays of a person who has left: logins and tokens of the instances that they had. */
async function forgetPerson(
  { logins, instanceTokens }: Pick<GatewayParts, "logins" | "instanceTokens">,
  owner: PrincipalId,
  instances: readonly InstanceId[],
): Promise<void> {
  await Promise.all([logins.forget(instances), ...instances.map(async (id) => await instanceTokens.revoke(id, owner))]);
}

/** What the rest of `app` is handed of the wings. */
function toFace(wings: Wings, config: () => Config, { version, clock, log, environment }: GatewayDeps) {
  const { events, late, records, usage, kept, servers, viewOf, engine, discovery, metrics, mcp } = wings;
  const { audit, outlets, people, publicUrl, secrets, namesInTurns } = wings;
  const { fleet } = servers;
  const { routing, performer, subscriptions, namespaces } = engine;
  return {
    version,
    loginCodes: createLoginCodes(clock),
    openBrowserStore: kept.browserSessions,
    pins: wings.pins,
    keptSearches: openKeptSearches({ store: kept, records, clock }),
    byToken: async (hash: string, signal: AbortSignal) =>
      people.directory.byToken(hash) ?? (await people.directory.elsewhere?.byToken(hash, signal)),
    clock,
    fleet,
    logins: servers.logins,
    events,
    routing,
    performer,
    discovery,
    subscriptions,
    mcp,
    namespaces,
    metrics,
    live: outlets.live,
    usage,
    late,
    records,
    team: people.team,
    unreadyPeople: people.unready,
    presence: people.presence,
    standing: createStanding({
      ...wings,
      version,
      unready: people.unready,
      clock,
      config,
      directory: people.directory,
    }),
    audit,
    viewOf,
    namesInTurns,
    personOf: async (id: string, signal: AbortSignal) =>
      people.directory.byId(id as PrincipalId) ?? (await people.directory.elsewhere?.byId(id as PrincipalId, signal)),
    settled: async (principal: Principal, signal: AbortSignal) => await fleet.settled(principal, signal),
    ...auditAccess({
      audit,
      ...createCredentials({ people, fleet, events, clock }),
    }),
    publicUrl,
    environment,
    rootsHint: createRootsHint({ fleet, events, log }),
    secrets,
    redaction: wings.redaction,
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

import { randomBytes } from "node:crypto";
import { createLazyNames, type LazyNames } from "../catalog/model/names/lazy-names.ts";
import type { Pins } from "../catalog/discovery/pins.ts";
import type { View } from "../catalog/model/view.ts";
import type { Config } from "../config/config.ts";
import { createConfigSecrets } from "../config/secrets.ts";
import { createEventBus, type EventBus } from "../kernel/events/event-bus.ts";
import { createRedaction, joinSecrets } from "../records/redaction/redaction.ts";
import type { Log } from "../kernel/runtime/log.ts";
import type { FindingMeter } from "../records/usage/finding.ts";
import type { Directory } from "../people/directory/directory.ts";
import type { Presence } from "../people/identity/session-validity.ts";
import type { Fleet } from "../servers/instance/fleet/fleet.ts";
import { createPublicUrl, type PublicUrl } from "../front/http/public-url.ts";
import { untilAborted } from "../kernel/runtime/abort.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { createLargeBuffers } from "../wire/json/large-buffers.ts";
import { type Principal } from "../kernel/principal.ts";
import type { GatewayStore, Store } from "../store/store.ts";
import type { AuditFacts } from "../records/audit/audit-log.ts";
import { createAudit } from "./records/audit-wing.ts";
import { createDefinitionOf, createSearches, createViewOf } from "./engine/catalog-wing.ts";
import { createCurrentCatalog } from "../catalog/model/current.ts";
import { createEngine } from "./engine/engine-wing.ts";
import { createMcpFront, type McpFront } from "./engine/mcp-front.ts";
import { createLateModules, type LateModules } from "../kernel/runtime/late-module.ts";
import { createGatewayMetrics } from "./records/metrics-wiring.ts";
import { createEventDelivery } from "./records/event-delivery.ts";
import { createLoopGuard } from "./servers/loop-guard.ts";
import { createRecords } from "./records/records-wing.ts";
import { connectPage, createPeople } from "./people/people-wiring.ts";
import { createTracing } from "./records/tracing-wiring.ts";
import { createServers } from "./servers/servers-wing.ts";
import { wirePins } from "./records/pin-wiring.ts";
import { createUsageWing } from "./records/usage-wing.ts";
import type { LargeBuffers } from "../wire/json/large-buffers.ts";
import type { Engine } from "./engine/engine-wing.ts";

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

/** Every wing, wired to the others; nothing of them runs yet. */
export function buildWings(current: () => Config, deps: GatewayDeps) {
  const { log, clock } = deps;
  const { settings } = current();
  const events = createBus(log);
  const late = createLateModules(log);
  const memory = createLargeBuffers();
  const loopGuard = createLoopGuard();
  const kept = deps.store.at(deps.place, log);
  const catalog = createCurrentCatalog();
  const publicUrl = publicUrlOf(current, events);
  const deny = (facts: AuditFacts): void => audit.deny(facts);
  const people = createPeople({ ...toPeopleDeps(late, kept, deps), config: current, publicUrl, deny });
  const secrecy = createSecrecy(current, () => servers.logins.secrets(), people.secrets);
  const { redaction } = secrecy;
  const shared = { ...deps, config: current, events, redaction, redact: redaction.said, loadLate: late.load };
  const tracing = createTracing(shared);
  const servers = createServers({
    ...shared,
    identity: identityOf(deps),
    memory,
    loopGuard,
    openSecrets: deps.store.secrets,
    onLogin: (instance, what) => audit.login(instance, what),
    ...{ people: people.owners, loginPage: people.team && ((instance) => connectPage(publicUrl, instance)) },
    keeper: kept.catalogs,
    catalog,
    traces: tracing?.source,
  });
  const { fleet } = servers;
  const views = createViews(current, fleet, () => engine.namespaces.loads);
  const definitionOf = createDefinitionOf(catalog, fleet);
  const audit = createAudit(shared);
  const records = createRecords({
    eventFacts: () => outlets.facts,
    ...shared,
    store: kept,
    loggingOf: (id) => fleet.get(id)?.server.requestLogging ?? "off",
    schemasOf: ({ instance, name }) => definitionOf(instance, name),
    audit,
  });
  const discovery = createSearches({
    ...{ settings, fleet, store: kept, log, clock, loadLate: late.load, teamOf: people.teamOf },
  });
  const engine = createEngine({
    ...deps,
    ...{ config: current, fleet, ...views, discovery, store: kept, events },
    recordCall: records.recordCall,
    audit,
    traces: tracing?.source,
  });
  const pins = wirePins({ ...shared, store: kept, records, usage: () => usage.usage });
  const usage = createUsageWing({
    ...{ events, clock, kept, ...views, discovery, fleet, store: records.store, onRest: records.onRest },
    ...{ mcp: () => mcp, pins },
  });
  const front = { current, settings, events, memory, loopGuard, publicUrl, ...views, fleet, engine, pins };
  const mcp = buildFront({ ...deps, ...front, presence: people.presence, finding: usage.meter });
  const outlets = createEventDelivery({ ...shared, redact: redaction.text, fleet, directory: people.directory });
  const metrics = createGatewayMetrics({ ...deps, events, servers, engine, mcp, records });
  return {
    events,
    outlets,
    late,
    records,
    audit,
    kept,
    ...{ catalog, people, publicUrl, servers },
    ...secrecy,
    ...views,
    engine,
    discovery,
    metrics,
    usage,
    pins,
    mcp,
    tracing,
  };
}

function createViews(config: () => Config, fleet: Fleet, loads: () => Engine["namespaces"]["loads"]) {
  return { viewOf: createViewOf({ config, fleet, loads }), namesInTurns: createLazyNames() };
}

function toPeopleDeps(late: LateModules, kept: GatewayStore, { clock, log, directory }: GatewayDeps) {
  return { loadLate: late.load, keyRing: kept.keyRing, instanceTokens: kept.tokens, clock, log, directory };
}

function identityOf({ version }: Pick<GatewayDeps, "version">) {
  return { name: "toolyard", version };
}

interface FrontWork extends GatewayDeps {
  readonly current: () => Config;
  /** Those of the start. */
  readonly settings: Config["settings"];
  readonly events: EventBus;
  readonly memory: LargeBuffers;
  readonly loopGuard: ReturnType<typeof createLoopGuard>;
  readonly publicUrl: PublicUrl;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  readonly fleet: Fleet;
  readonly engine: Engine;
  readonly pins: Pins;
  readonly presence: Presence;
  readonly finding: FindingMeter;
}

function buildFront({ current, settings, events, memory, loopGuard, engine, fleet, ...work }: FrontWork): McpFront {
  return createMcpFront({
    ...engine,
    pins: work.pins,
    finding: work.finding,
    presence: work.presence,
    publicUrl: work.publicUrl,
    memory,
    settings,
    currentSettings: () => current().settings,
    identity: identityOf(work),
    gateways: loopGuard.ids,
    clock: work.clock,
    log: work.log,
    events,
    viewOf: work.viewOf,
    namesInTurns: work.namesInTurns,
    adopting: fleet.adopting,
    settledOne: async (instance, signal) => await fleet.get(instance)?.settled(signal),
    settled: async (principal, signal) => await fleet.settled(principal, signal),
    cursorKey: randomBytes(32),
    instanceOf: fleet.get,
    clients: fleet.clients,
  });
}

export type Wings = ReturnType<typeof buildWings>;

/** What waits to be written is a few batches; a disk that takes longer is ill. */
const recordsDeadlineMs = 3_000;

/** From the top down: first the parts that take requests, last those that perform them. */
export async function stopInOrder(
  { servers, engine, mcp, metrics, records, outlets, usage, tracing, people }: Wings,
  signal: AbortSignal,
): Promise<void> {
  mcp.endWhere(
    () => true,
    () => new GatewayError("DRAINING", "the gateway is stopping"),
  );
  outlets.live[Symbol.dispose]();
  await engine.stopNamespaces();
  metrics[Symbol.dispose]();
  // When patience ends, the guardian kills the remaining processes.
  await untilAborted(Promise.resolve(servers.fleet[Symbol.asyncDispose]()), signal).catch(() => undefined);
  await usage.stop();
  await people.team?.close();
  await records.close(recordsDeadlineMs);
  await Promise.all([servers[Symbol.asyncDispose](), engine.stopResults(), outlets.webhooks.stop(signal)]);
  if (tracing !== undefined) await untilAborted(tracing.close(), signal).catch(() => undefined);
}

/** `secrets` are those that stand elsewhere than in the configuration; `redaction` hides all. */
function createSecrecy(config: () => Config, ...elsewhere: readonly (() => ReadonlySet<string>)[]) {
  const secrets = joinSecrets(...elsewhere);
  return { secrets, redaction: createRedaction({ secrets: joinSecrets(createConfigSecrets(config), secrets) }) };
}

function createBus(log: Log): EventBus {
  return createEventBus((error) => log.error({ component: "events", err: error }, "a sink of events failed"));
}

/** Knows where the gateway listens, once it does: a port that the system chose is in no setting. */
function publicUrlOf(current: () => Config, events: ReturnType<typeof createBus>): PublicUrl {
  let listening: string | undefined;
  events.on(["gateway.listening"], ({ address }) => (listening = address));
  return createPublicUrl(
    () => current().settings,
    () => listening,
  );
}

import { createCurrentCatalog } from "../catalog/model/current.ts";
import type { Config } from "../config/config.ts";
import { createConfigSecrets } from "../config/secrets.ts";
import { createPublicUrl, type PublicUrl } from "../front/http/public-url.ts";
import { createEndpoints } from "../front/mcp/endpoint/endpoint.ts";
import { createEventBus, type EventBus } from "../kernel/events/event-bus.ts";
import type { MessageTap } from "../kernel/events/message-tap.ts";
import { createLateModules } from "../kernel/runtime/late-module.ts";
import { createRedaction, createSecretSources, joinSecrets } from "../records/redaction/redaction.ts";
import { createSharedState, type SharedItems } from "../store/shared.ts";
import type { InstanceId } from "../kernel/ids.ts";
import type { Directory } from "../people/directory/directory.ts";
import type { Instance } from "../servers/instance/instance.ts";
import type { SecretStore, Store } from "../store/store.ts";
import { createLargeBuffers } from "../wire/json/large-buffers.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { createDefinitionOf, createSearches, createShownViews } from "./engine/catalog-wing.ts";
import { createEngine } from "./engine/engine-wing.ts";
import { createMcpFront } from "./engine/mcp-front.ts";
import { connectPage, createPeople } from "./people/people-wiring.ts";
import { createAudit } from "./records/audit-wing.ts";
import { createEventFacts, createLive, createMessages } from "./records/live-wiring.ts";
import { createGatewayMetrics, createTracing } from "./records/tracing-wiring.ts";
import { approvalStoreOf, sharedItemsOf, wirePins } from "./records/personal-wiring.ts";
import { createRecords } from "./records/records-wing.ts";
import { createCallUsage, createUsageWing } from "./records/usage-wing.ts";
import { createWebhookWiring } from "./records/webhook-wiring.ts";
import { createDefinitionDesk, createDefinitions } from "./servers/definition-wiring.ts";
import { createLoopGuard } from "./servers/loop-guard.ts";
import { createServers } from "./servers/servers-wing.ts";

/**
 * Every wing, each built once from those before it; nothing of them runs yet. What tells of something that is built
 * later registers: secrets, views, listeners of events.
 */
export function buildWings(config: () => Config, deps: GatewayDeps) {
  const { log, clock } = deps;
  const events = createBus(log);
  const late = createLateModules(log);
  const memory = createLargeBuffers();
  const tap: MessageTap = { take: undefined };
  const loopGuard = createLoopGuard();
  const common = createSharedState();
  const kept = deps.store.at(deps.place, log);
  const catalog = createCurrentCatalog();
  const publicUrl = publicUrlOf(config, events);
  const endpointOf = createEndpoints(() => config().settings);
  const secrets = createSecretSources();
  const redaction = createRedaction({ secrets: joinSecrets(createConfigSecrets(config), secrets.all) });
  const identity = { name: "toolyard", version: deps.version };
  const sharedItems = sharedItemsOf({ config }, () => records);
  const shared = {
    ...{ ...deps, config, events, secrets, redaction, identity, common, sharedItems },
    ...{ redact: redaction.said, loadLate: late.load },
  };
  const tracing = createTracing(shared);
  const traces = tracing?.source;
  const audit = createAudit(shared);
  const people = createPeople({ ...shared, kept, publicUrl, deny: audit.deny });
  const definitions = createDefinitions({ ...shared, late, store: kept });
  const servers = createServers({
    ...{ ...shared, memory, tap, loopGuard, catalog, traces, keeper: kept.catalogs, people: people.owners },
    definitions,
    principalOf: people.directory.byId,
    store: kept,
    openSecrets: openerOfSecrets(shared, (id) => teamOfInstance(fleet.get(id), people.directory)),
    onLogin: audit.login,
    loginPage: people.team && ((instance) => connectPage(publicUrl, instance)),
  });
  const { fleet } = servers;
  const views = createShownViews({ config, fleet });
  const definitionOf = createDefinitionOf(catalog, fleet);
  const facts = createEventFacts({
    fleet,
    policy: () => config().settings.policy,
    directory: people.directory,
    redact: redaction.text,
  });
  const records = createRecords({
    ...{ ...shared, facts, audit, store: kept },
    node: servers.cluster?.id ?? null,
    loggingOf: (id) => fleet.get(id)?.server.requestLogging ?? "off",
    schemasOf: ({ instance, name }) => definitionOf(instance, name),
  });
  const { recordCall, store } = records;
  const discovery = createSearches({ ...shared, fleet, store: kept, teamOf: people.teamOf });
  const engine = createEngine({
    ...{ ...shared, late, people, fleet, views, discovery, recordCall, audit, traces },
    elsewhere: servers.cluster?.elsewhere,
    store: { ...kept, approvals: approvalStoreOf({ config, records }, kept) },
    logins: servers.logins,
    cluster: servers.cluster,
  });
  const calls = createCallUsage({ events, clock, store, fleet });
  const pins = wirePins({ ...shared, profiles: views.profiles, store: kept, records, usage: calls });
  const costing = { ...shared, ...views, kept, discovery, fleet, store, onRest: records.onRest, endpointOf, pins };
  const usage = createUsageWing({ ...costing, usage: calls });
  const mcp = createMcpFront({
    ...{ ...shared, ...engine, ...views, memory, tap, publicUrl, endpointOf, pins, fleet, presence: people.presence },
    gateways: loopGuard.ids,
    cluster: servers.cluster,
    finding: usage.meter,
  });
  const live = createLive({ ...shared, facts, cluster: servers.cluster });
  const messages = createMessages({ ...shared, tap, definitionOf, viewOf: views.viewOf, directory: people.directory });
  const webhooks = createWebhookWiring({ ...shared, facts });
  const metrics = createGatewayMetrics({ ...deps, events, servers, engine, mcp, records });
  return {
    ...{ events, late, kept, common, catalog, publicUrl, secrets, redaction, tracing, audit, people, servers, records },
    ...{ viewOf: views.viewOf, namesInTurns: views.namesInTurns, profiles: views.profiles },
    ...{ sharedItems, discovery, engine, pins, usage, mcp },
    ...{ live, messages, webhooks, metrics, definitions: createDefinitionDesk(definitions, { fleet, events }) },
  };
}

export type Wings = ReturnType<typeof buildWings>;

function createBus(log: GatewayDeps["log"]): EventBus {
  return createEventBus((error) => log.error({ component: "events", err: error }, "a sink of events failed"));
}

/** Logins at servers: in a file for each, or in the database that gateways share. */
function openerOfSecrets(
  { store, sharedItems }: { store: Pick<Store, "secrets">; sharedItems: (() => Promise<SharedItems>) | undefined },
  teamOf: (instance: InstanceId) => string | null,
): () => Promise<SecretStore> {
  if (sharedItems === undefined) return async () => await store.secrets();
  return async () =>
    await store.secrets({ items: await sharedItems(), teamOf: (instance) => teamOf(instance as InstanceId) });
}

function teamOfInstance(instance: Pick<Instance, "owner" | "server"> | undefined, { byId }: Directory): string | null {
  if (instance === undefined) return null;
  return instance.server.installed?.team ?? (instance.owner === null ? null : (byId(instance.owner)?.team ?? null));
}

/** Knows where the gateway listens, once it does: a port that the system chose is in no setting. */
function publicUrlOf(config: () => Config, events: EventBus): PublicUrl {
  let listening: string | undefined;
  events.on(["gateway.listening"], ({ address }) => (listening = address));
  return createPublicUrl(
    () => config().settings,
    () => listening,
  );
}

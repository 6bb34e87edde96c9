import { type Start, createManagement } from "./management-wiring.ts";
import type { IncomingMessage } from "node:http";
import { readActivity } from "../records/status-report.ts";
import type { Principal } from "../../kernel/principal.ts";
import { toRedactedJson } from "../../records/redaction/redacted-value.ts";
import type { RestHandler } from "../../front/http/http-server.ts";
import { listConnections } from "../../front/mcp/sessions/session-store.ts";
import { trackController } from "../../front/mcp/running/running-requests.ts";
import { createRest } from "../../front/rest/rest.ts";
import type { WakeElsewhere } from "../../operations/reply.ts";
import type { RestPeople, Services } from "../../operations/services.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { createAuditHistory } from "../../records/audit/audit-history.ts";
import { toDenial } from "../people/watched-access.ts";
import { createRestUpkeep } from "./backup-download.ts";
import type { Browsers } from "../../front/web/browsers.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { readConfigDrift } from "./config-values.ts";
import { hasRole } from "../../engine/policy/rights.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { connectPage } from "../people/people-wiring.ts";
import { mayDecideLogin } from "../people/person-servers.ts";
import { takesLogin } from "../servers/server-logins.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { fileURLToPath } from "node:url";
import { createDashboard, type Dashboard } from "../../front/web/dashboard.ts";
import type { PublicUrl } from "../../front/http/public-url.ts";

// With REST, because they share so much that a module for each would read several files more at a start.
export { openBrowsers } from "../people/browser-wiring.ts";

export interface RestNeeds {
  /** Whether a request came through the owner's door. */
  readonly isOwner: (request: IncomingMessage) => boolean;
  readonly browsers: Browsers;
  readonly draining: AbortSignal;
  /** Undefined where the configuration cannot be changed over REST. */
  readonly start: Start | undefined;
}

/** The REST API of a gateway, loaded at its first request: the gateway's own parts, and what only operations need. */
export function loadRest(gateway: GatewayParts, needs: RestNeeds): RestHandler {
  const { isOwner, browsers, start } = needs;
  const { parts } = gateway.mcp;
  return createRest({
    ...gateway,
    ...gateway.usage,
    ...needs,
    settings: () => gateway.config().settings,
    bodyLimits: parts.limits,
    bodyRoom: parts.bodyRoom,
    authenticate(request) {
      if (isOwner(request)) return gateway.owner;
      const session = browsers.sessionOf(request);
      if (session !== undefined) return browsers.principalOf(session, request);
      const principal = gateway.authenticator.authenticate(request);
      // The dashboard opens no other page that would keep the session from ending.
      if (!(principal instanceof Promise) && principal.via === "session") browsers.personOf(request);
      return principal;
    },
    management: start === undefined ? undefined : createManagement(gateway, start),
    connections: () => listConnections(parts),
    isOpen: () => gateway.authenticator.open,
    hasLogins: gateway.team !== undefined,
    admit: parts.admission.admit,
    openStream: parts.admission.openStream,
    live: gateway.live.load,
    ownerOf: (instance) => gateway.fleet.get(instance)?.owner,
    track: (principal, controller) => trackController(parts.running, principal, controller),
    instancesOf(principal) {
      const instances = gateway.fleet.of(principal);
      const isWhole = principal.only === undefined && principal.profile === undefined;
      return isWhole ? instances : instances.filter(({ server }) => gateway.profiles.reaches(principal, server.slug));
    },
    ...createInstanceAccess(gateway),
    sandboxes: {
      rulesOf(slug) {
        const transport = gateway.config().servers.find((server) => server.slug === slug)?.transport;
        return transport !== undefined && hasProcess(transport) ? transport.sandbox : undefined;
      },
      learned: gateway.servers.learnedNames,
    },
    orderElsewhere: gateway.servers.cluster?.order,
    activity: async () => await readActivity(gateway),
    audit: { ...createAuditHistory(gateway.records, gateway.audit), order: gateway.audit.order },
    onDenied: (request, failure, principal) => gateway.audit.deny(toDenial(request, failure, principal)),
    upkeep: createRestUpkeep(gateway.records.opened),
    nodeOf: (instance) => gateway.servers.cluster?.nodeOf(instance) ?? null,
    wakeElsewhere: wakerOf(gateway),
    nodes: () => gateway.servers.cluster?.joined?.desk,
    elsewhere: gateway.servers.cluster?.elsewhere,
    people: () => toRestPeople(gateway),
    async configDrift() {
      const file = gateway.config().file ?? null;
      if (start === undefined) return { file, refused: null, differences: [] };
      return await readConfigDrift({ gateway, ...start });
    },
    debugFacts: () => debugFacts(gateway),
    redact: gateway.redaction.said,
    redactJson: (value) => toRedactedJson(value, gateway.redaction.text),
    reportFailure: (failure, operation) =>
      gateway.log.error({ component: "front", operation, err: failure.cause ?? failure }, failure.message),
  });
}

function wakerOf({ servers: { cluster } }: GatewayParts): WakeElsewhere | undefined {
  if (cluster === undefined) return undefined;
  return (types, wake) =>
    cluster.watch({
      onEvent: ({ about }) => types.some((type) => type === about["type"]) && wake(),
      onLost: wake,
    });
}

function toRestPeople({ team, config, fleet }: GatewayParts): RestPeople | undefined {
  const people = team?.people();
  if (people === undefined) return undefined;
  const installs = {
    ...people.installs,
    fileServers: () => config().servers,
    instancesOf: fleet.ofInstallation,
  };
  const { users: access, clients, accounts } = people.access;
  return { book: people.directory.book, changes: people.changes, installs, access, clients, accounts };
}

function debugFacts(gateway: GatewayParts): JsonObject {
  const { heapUsed, rss, external } = process.memoryUsage();
  const statuses = new Map<string, number>();
  for (const instance of gateway.fleet.all()) statuses.set(instance.status, (statuses.get(instance.status) ?? 0) + 1);
  const { settings, file } = gateway.config();
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    uptime_s: Math.round(process.uptime()),
    memory: { rss, heap_used: heapUsed, external },
    config: {
      file: file ?? null,
      exposure: settings.exposure,
      host: settings.host,
      search: settings.search.engine,
      namespaces: settings.namespaces,
      limits: settings.limits,
    },
    instances: Object.fromEntries(statuses),
    enrichment: { ...gateway.discovery.enrichment() },
    sessions: gateway.mcp.parts.sessions.size,
    in_flight: gateway.performer.inFlight,
  };
}

type Parts = Pick<GatewayParts, "fleet" | "team" | "logins" | "events" | "publicUrl" | "profiles">;

/** Instances of others that somebody manages, and logins at servers, as REST uses them. */
function createInstanceAccess({
  fleet,
  team,
  logins,
  events,
  publicUrl,
  profiles,
}: Parts): Pick<Services, "managedInstance" | "onStatus" | "serverLogins"> {
  /** The team in which somebody has an instance, or that shares it; undefined for one of the whole gateway. */
  function teamOf({ server, owner }: Instance): string | undefined {
    if (server.installed !== undefined) return server.installed.team;
    return owner === null ? undefined : team?.people()?.directory.book.members.get(owner)?.team.slug;
  }

  return {
    managedInstance(principal, id) {
      const instance = fleet.get(id as InstanceId);
      if (principal.via === "owner") return instance;
      if (instance === undefined || !profiles.reaches(principal, instance.server.slug)) return undefined;
      const slug = teamOf(instance);
      return slug !== undefined && runs(principal, slug) ? instance : undefined;
    },
    onStatus: (listener) =>
      events.on(["mcp.server.status_changed", "mcp.server.dormant", "mcp.server.respawned"], ({ instance }) =>
        listener(instance),
      ),
    serverLogins: {
      async of({ id, server }) {
        if (!takesLogin(server.transport)) return { takesLogin: false, hasLogin: false };
        return { takesLogin: true, hasLogin: (await logins.loginOf(id)) !== undefined };
      },
      pageOf: (instance) => (team === undefined ? undefined : connectPage(publicUrl, instance)),
      mayDecide: (principal, { owner, server }) =>
        mayDecideLogin(
          { isShared: owner === null, installed: server.installed },
          { isAdmin: principal.roles.includes("admin"), isManager: hasRole(principal, "team-admin") },
        ),
      logOut: async ({ id, server }) => await logins.logOut(server, id),
    },
  };
}

function runs(principal: Principal, team: string): boolean {
  return principal.roles.includes("admin") || (principal.team === team && hasRole(principal, "team-admin"));
}

/** The dashboard's files stand beside those of the program. Loaded at the first request for one of them. */
export function loadDashboard({ publicUrl }: { readonly publicUrl: PublicUrl }): Dashboard {
  return createDashboard({ folder: dashboardFolder, publicUrl });
}

const dashboardFolder = fileURLToPath(new URL("../web/", import.meta.url));

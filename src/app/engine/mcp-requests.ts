import type { Pins } from "../../catalog/discovery/pins.ts";
import type { LazyNames } from "../../catalog/model/names/lazy-names.ts";
import type { View } from "../../catalog/model/view.ts";
import type { Config } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { FindingMeter } from "../../records/usage/finding.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { createProfileOf } from "../../front/mcp/endpoint/client-profile.ts";
import { createParkedConversations, type ParkedConversations } from "../../front/mcp/running/parked-conversations.ts";
import { createDispatch } from "../../front/mcp/endpoint/dispatch.ts";
import { createLegacyRequests, type LegacyRequests } from "../../front/mcp/sessions/legacy.ts";
import { createListenRequests } from "../../front/mcp/listen/listen.ts";
import { createNotifier } from "../../front/mcp/streams/notifier.ts";
import { createOwnInstances } from "../../front/mcp/own-instances.ts";
import type { ParkedElsewhere } from "../../front/mcp/running/parked-elsewhere.ts";
import { createPageBook } from "../../front/mcp/streams/pages.ts";
import { createRequestRunner, type ConversingRunner } from "../../front/mcp/endpoint/request-run.ts";
import type { EndpointOf } from "../../front/mcp/endpoint/endpoint.ts";
import type { SessionNotes } from "../../front/mcp/sessions/session-notes.ts";
import type { ResumedElsewhere, ResumedElsewhereDeps } from "../../front/mcp/streams/resumed-elsewhere.ts";
import type { SealedSessions } from "../../front/mcp/sessions/sealed-sessions.ts";
import type { Session } from "../../front/mcp/sessions/session.ts";
import { createSessionStore, type SessionStore } from "../../front/mcp/sessions/session-store.ts";
import { toWireError } from "../../front/mcp/answers/wire-error.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { LateCluster } from "../servers/servers-wing.ts";
import type { Profiles } from "../../engine/policy/profiles.ts";
import type { SharedState } from "../../store/shared.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Engine } from "./engine-wing.ts";
import type { Principal } from "../../kernel/principal.ts";

/** What requests are answered with, whichever transport they came by. */
export interface McpRequestsDeps extends Pick<Engine, "routing" | "performer" | "subscriptions" | "logLevels"> {
  readonly config: () => Config;
  readonly identity: { readonly name: string; readonly version: string };
  /** Ids of this gateway and of those behind it. */
  readonly gateways: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventBus;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  readonly pins: Pick<Pins, "of">;
  readonly profiles: Profiles;
  readonly finding: FindingMeter;
  readonly common: SharedState;
  readonly loadLate: LoadLate;
  /** Undefined where the gateway is alone. */
  readonly cluster: Pick<LateCluster, "tellNodes" | "onClient" | "shareLimits" | "elsewhere"> | undefined;
  readonly fleet: Pick<Fleet, "get" | "clients">;
  readonly endpointOf: EndpointOf;
}

/** Builds what carries requests out: sessions, subscriptions, and calls that wait for their client. */
export function createMcpRequests(deps: McpRequestsDeps) {
  const { viewOf, clock, fleet } = deps;
  // As of the start, for what cannot change while the gateway runs.
  const { limits, results } = deps.config().settings;
  const serverInfo = { ...deps.identity, title: "Toolyard" };
  const serverInfoText = asciiJson(serverInfo);
  const ownInstances = createOwnInstances(fleet.get, fleet.clients);
  const notifier = createNotifier(deps.events, viewOf, ownInstances, deps.performer.isTaskOf);
  const sessions = createSessionStore(limits, clock);
  const profileOf = createProfileOf(() => deps.config().settings.clients);
  const dispatch = createDispatch({
    viewOf,
    namesInTurns: deps.namesInTurns,
    performer: deps.performer,
    finding: deps.finding,
    maxTokens: results.discoverTokens,
    routing: deps.routing,
    pins: deps.pins,
    pages: createPageBook(() => deps.common.keyFor("cursors")),
    profileOf,
    serverInfo,
    gateways: deps.gateways,
  });
  const elsewhere = deps.cluster?.elsewhere;
  const conversations = createParkedConversations({
    ...{ parkedMs: limits.parkedMs, mostParked: mostParkedCalls, clock, node: () => elsewhere?.node },
  });
  let sealed: SealedSessions | undefined;
  let nodes: AmongNodes = {};
  const runner = createRequestRunner({
    ...{ dispatch, conversations, serverInfoText, parkedElsewhere: () => nodes.parked },
    failed(error, caller, method) {
      const failure = toGatewayError(error);
      if (failure.code === "INTERNAL")
        deps.log.error({ component: "front", operation: method, err: failure.cause ?? failure }, failure.message);
      return toWireError(failure, caller.client.era, method);
    },
  });

  /** Sessions can be made again at other gateways, where there may be some. Once, before there are sessions. */
  async function shareSessions(): Promise<void> {
    const { claims, keyFor } = deps.common;
    if (claims === undefined) return;
    const load = async () => await import("../../front/mcp/sessions/sealed-sessions.ts");
    const { createSealedSessions } = await deps.loadLate("the code for sessions of several gateways", load);
    const end = (session: Session): void => sessions.end(session, "the client ended the session at another gateway");
    sealed = createSealedSessions({ keys: () => keyFor("sessions"), claims, end, clock });
    if (elsewhere !== undefined)
      nodes = await loadAmongNodes(deps, { elsewhere, sessions, conversations, runner, legacy });
  }

  const legacy = createLegacyRequests({
    sessions,
    viewOf,
    notifier,
    subscriptions: deps.subscriptions,
    logLevels: deps.logLevels,
    routing: deps.routing,
    ownInstances,
    serverInfo,
    gateways: deps.gateways,
    profileOf,
    ofClient: deps.profiles.ofClient,
    sealed: () => sealed,
    notes: () => nodes.notes,
    node: () => elsewhere?.node,
    tellNodes: () => deps.cluster?.tellNodes,
  });
  deps.cluster?.onClient(legacy.hear);
  const listen = createListenRequests({
    viewOf,
    notifier,
    subscriptions: deps.subscriptions,
    ownInstances,
    serverInfoText,
  });
  return {
    ...{ serverInfo, sessions, conversations, runner, legacy, listen, shareSessions, followViews: notifier.follow },
    resumed: () => nodes.resumed,
  };
}

/** What nodes do for each other's clients; nothing where the gateway is alone. */
interface AmongNodes {
  readonly parked?: ParkedElsewhere;
  readonly notes?: SessionNotes;
  readonly resumed?: ResumedElsewhere;
}

interface NodeParts extends Pick<ResumedElsewhereDeps, "elsewhere"> {
  readonly sessions: SessionStore;
  readonly conversations: ParkedConversations;
  readonly runner: ConversingRunner;
  readonly legacy: LegacyRequests;
}

async function loadAmongNodes(deps: McpRequestsDeps, parts: NodeParts): Promise<AmongNodes> {
  const { runner, legacy, ...shared } = parts;
  const [questions, settings, streams] = await deps.loadLate(
    "the code for clients of several nodes",
    async () =>
      await Promise.all([
        import("../../front/mcp/running/parked-elsewhere.ts"),
        import("../../front/mcp/sessions/session-notes.ts"),
        import("../../front/mcp/streams/resumed-elsewhere.ts"),
      ]),
  );
  return {
    parked: questions.createParkedElsewhere({ ...shared, nextTurn: runner.nextTurn }),
    notes: settings.createSessionNotes({ ...shared, methods: legacy.methods, endpointOf: deps.endpointOf }),
    resumed: streams.createResumedElsewhere(shared),
  };
}

/** Parked calls of the whole gateway. Each server has its own, smaller limit. */
const mostParkedCalls = 1_000;

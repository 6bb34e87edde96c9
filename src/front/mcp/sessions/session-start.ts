import type { View } from "../../../catalog/model/view.ts";
import type { Profiles } from "../../../engine/policy/profiles.ts";
import type { LogLevels } from "../../../engine/calls/subscriptions/log-levels.ts";
import type { Routing } from "../../../engine/calls/routing.ts";
import { readClientName } from "../../../kernel/client-presence.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { capabilitiesWithoutNulls } from "../../../wire/mcp/shapes/null-members.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { isWanted } from "../../../wire/mcp/log-level.ts";
import { metaKeys, negotiateLegacy } from "../../../wire/mcp/revisions.ts";
import { capabilitiesOf, type ProfileOf } from "../endpoint/client-profile.ts";
import type { ReplyBody } from "../caller.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Notifier } from "../streams/notifier.ts";
import { instancesAt, type OwnInstances } from "../own-instances.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import { toWireError } from "../answers/wire-error.ts";

export interface SessionStartDeps {
  readonly sessions: SessionStore;
  readonly viewOf: (principal: Principal) => View;
  readonly notifier: Notifier;
  readonly logLevels: LogLevels;
  readonly routing: Pick<Routing, "notify">;
  readonly ownInstances: OwnInstances;
  readonly serverInfo: object;
  /** The ids of the gateways that an answer comes through, so that one of them finds itself behind itself. */
  readonly gateways: () => readonly string[];
  readonly profileOf: ProfileOf;
  /** A profile may be a client's by its name. */
  readonly ofClient: Profiles["ofClient"];
}

/** The answer to `initialize`, and the session that it made; there is none when the answer is an error. */
export interface StartedSession {
  readonly reply: ReplyBody;
  readonly session: Session | undefined;
}

/** Answers `initialize`. Never throws. */
export type SessionStart = (request: ClientRequest, principal: Principal, endpoint: Endpoint) => StartedSession;

export function createSessionStart(deps: SessionStartDeps): SessionStart {
  function start(request: ClientRequest, asking: Principal, endpoint: Endpoint): StartedSession {
    const { protocolVersion, clientInfo, capabilities } = request.params;
    const principal = deps.ofClient(asking, readClientName(clientInfo));
    const revision = negotiateLegacy(protocolVersion);
    const view = deps.viewOf(principal);
    // Both throw when the endpoint's server does not exist, so that they come before a session is made.
    const instructions = endpoint.exposure.instructions(view);
    const declared = capabilitiesOf(endpoint.exposure, view);
    const session = deps.sessions.create({
      principal,
      endpointPath: endpoint.path,
      revision,
      capabilities: isJsonObject(capabilities) ? capabilitiesWithoutNulls(capabilities) : {},
      clientName: readClientName(clientInfo),
      client: deps.profileOf(clientInfo),
      told: endpoint.exposure.told?.(view),
    });
    listenFor(session, endpoint);
    const result = {
      protocolVersion: revision,
      capabilities: declared,
      serverInfo: deps.serverInfo,
      ...(instructions === "" ? {} : { instructions }),
      _meta: { [metaKeys.gateways]: deps.gateways() },
    };
    return { reply: { body: `"result":${asciiJson(result)}`, status: 200 }, session };
  }

  /** Connects the session with what servers have to say beside their answers, until it ends. */
  function listenFor(session: Session, endpoint: Endpoint): void {
    const leave = deps.notifier.add({
      principal: session.principal,
      client: session.connected,
      exposure: endpoint.exposure,
      wants: { tools: true, resources: true, prompts: true },
      resources: session.watched.spellings,
      send: (method, params) => void session.pushes.send(writeNotification(method, params)),
      relay: (method, params) => {
        if (method === "notifications/message" && !isWanted(params["level"], session.logLevel)) return;
        session.pushes.send(writeNotification(method, params));
      },
    });
    session.onRootsChanged = (params) => tellServers(session, endpoint, params);
    session.onClose = () => {
      leave();
      deps.logLevels.drop(session);
    };
  }

  /**
   * Only the client's own instances know its roots, so only they are told; each asks for them again if it cares
   * (2025-11-25, client/roots).
   */
  function tellServers(session: Session, endpoint: Endpoint, params: JsonObject): void {
    for (const { shown, own } of instancesAt(deps, endpoint, session))
      if (own !== shown) deps.routing.notify(own, "notifications/roots/list_changed", params);
  }

  return (request, principal, endpoint) => {
    try {
      return start(request, principal, endpoint);
    } catch (error) {
      return { reply: toRefusal(error), session: undefined };
    }
  };
}

/** Errors of JSON-RPC have status 200; only a gateway that is full says so in the status as well. */
function toRefusal(error: unknown): ReplyBody {
  const failure = toGatewayError(error);
  return {
    ...toWireError(failure, "legacy", "initialize"),
    status: failure.code === "SESSION_LIMIT" ? failure.row.http : 200,
  };
}

import { randomUUID } from "node:crypto";
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
import type { SealedSessions, SessionFacts } from "./sealed-sessions.ts";
import type { SessionNotes } from "./session-notes.ts";
import type { SealedIds, Session, SessionOptions } from "./session.ts";
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
  /** Undefined where no other gateway has this one's key. */
  readonly sealed: () => SealedSessions | undefined;
  /** What a session is at other nodes; undefined where there are none. */
  readonly notes?: () => SessionNotes | undefined;
  /** This node of a cluster. */
  readonly node?: () => string | undefined;
}

/** The answer to `initialize`, and the session that it made; there is none when the answer is an error. */
export interface StartedSession {
  readonly reply: ReplyBody;
  readonly session: Session | undefined;
}

/** How sessions begin. */
export interface SessionStart {
  /**
   * Answers `initialize`. Never throws.
   *
   * @param travels whether the session's id is given to the client, which may come to another gateway with it
   */
  initialize(request: ClientRequest, principal: Principal, endpoint: Endpoint, travels?: boolean): StartedSession;
  /**
   * The session that another gateway, or an earlier life of this one, gave that id to: made again, with the rights that
   * the principal has now, unless its client ended it. Undefined where the id is none of theirs, or not for this
   * principal and endpoint. Rejects with SESSION_LIMIT.
   *
   * @param known what has to be waited for before anything can be said of the servers behind the endpoint
   */
  again(
    id: string,
    principal: Principal,
    endpoint: Endpoint,
    known?: Promise<void>,
  ): Promise<Session | undefined> | undefined;
}

export function createSessionStart(deps: SessionStartDeps): SessionStart {
  const listenFor = createListening(deps);

  function start(request: ClientRequest, asking: Principal, endpoint: Endpoint, travels: boolean): StartedSession {
    const { protocolVersion, clientInfo, capabilities } = request.params;
    const clientName = readClientName(clientInfo);
    const principal = deps.ofClient(asking, clientName);
    const revision = negotiateLegacy(protocolVersion);
    const view = deps.viewOf(principal);
    // Both throw when the endpoint's server does not exist, so that they come before a session is made.
    const instructions = endpoint.exposure.instructions(view);
    const declared = capabilitiesOf(endpoint.exposure, view);
    const facts: ClientFacts = {
      revision,
      capabilities: isJsonObject(capabilities) ? capabilitiesWithoutNulls(capabilities) : {},
      clientName,
    };
    const sealed = travels ? seal(facts, asking, endpoint) : undefined;
    const session = make(facts, { principal, endpoint, sealed, client: deps.profileOf(clientInfo) });
    const result = {
      protocolVersion: revision,
      capabilities: declared,
      serverInfo: deps.serverInfo,
      ...(instructions === "" ? {} : { instructions }),
      _meta: { [metaKeys.gateways]: deps.gateways() },
    };
    return { reply: { body: `"result":${asciiJson(result)}`, status: 200 }, session };
  }

  function seal(facts: ClientFacts, principal: Principal, { path }: Endpoint): SealedIds | undefined {
    const sealed = deps.sealed();
    if (sealed === undefined) return undefined;
    const connectedId = randomUUID();
    const id = sealed.seal({ ...facts, connectedId }, { principal, endpointPath: path });
    return id === undefined ? undefined : { id, connectedId };
  }

  function make(facts: ClientFacts, { principal, endpoint, sealed, client }: SessionPlace): Session {
    const session = deps.sessions.create({
      ...facts,
      principal,
      endpointPath: endpoint.path,
      client,
      told: endpoint.exposure.told?.(deps.viewOf(principal)),
      sealed,
      node: deps.node?.(),
    });
    listenFor(session, endpoint);
    if (sealed !== undefined) deps.sealed()?.follow(session);
    return session;
  }

  async function makeAgain(
    { id, connectedId, ...client }: ClientFacts & SealedIds,
    asking: Principal,
    endpoint: Endpoint,
    known: Promise<void> | undefined,
  ): Promise<Session | undefined> {
    const [isEnded] = await Promise.all([deps.sealed()?.isEnded({ connectedId }), known]);
    if (isEnded === true) return undefined;
    // Another request of the same client may have made it meanwhile.
    const held = deps.sessions.find(id, asking, endpoint.path);
    if (held !== undefined) return held;
    const session = make(client, {
      ...{ principal: deps.ofClient(asking, client.clientName), endpoint, sealed: { id, connectedId } },
      client: deps.profileOf({ name: client.clientName }),
    });
    // It said so to the gateway that it began at.
    session.isInitialized = true;
    await deps.notes?.()?.fill(session);
    return session;
  }

  return {
    initialize(request, principal, endpoint, travels = false) {
      try {
        return start(request, principal, endpoint, travels);
      } catch (error) {
        return { reply: toRefusal(error), session: undefined };
      }
    },
    again(id, principal, endpoint, known) {
      const facts = deps.sealed()?.open(id, { principal, endpointPath: endpoint.path });
      return facts === undefined ? undefined : makeAgain({ id, ...facts }, principal, endpoint, known);
    },
  };
}

type ListenFor = (session: Session, endpoint: Endpoint) => void;

function createListening(deps: SessionStartDeps): ListenFor {
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

  return listenFor;
}

type ClientFacts = Omit<SessionFacts, "connectedId">;

/** What of a session is not its client's word. */
interface SessionPlace extends Pick<SessionOptions, "principal" | "client" | "sealed"> {
  readonly endpoint: Endpoint;
}

/** Errors of JSON-RPC have status 200; only a gateway that is full says so in the status as well. */
function toRefusal(error: unknown): ReplyBody {
  const failure = toGatewayError(error);
  return {
    ...toWireError(failure, "legacy", "initialize"),
    status: failure.code === "SESSION_LIMIT" ? failure.row.http : 200,
  };
}

import { writeNotification } from "../../wire/mcp/envelope.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { View } from "../../catalog/model/view.ts";
import { isLogLevel, isWanted } from "../../wire/mcp/log-level.ts";
import { metaKeys, negotiateLegacy } from "../../wire/mcp/revisions.ts";
import type { LogLevels } from "../../engine/calls/log-levels.ts";
import type { Routing } from "../../engine/calls/routing.ts";
import type { Subscriptions } from "../../engine/calls/subscriptions.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import type { InstanceId } from "../../kernel/ids.ts";

import type { Principal } from "../../kernel/principal.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { eventStreamHeaders, keepAliveText } from "../../wire/sse/event-text.ts";
import { readClientName } from "../../kernel/client-presence.ts";
import { capabilitiesOf } from "./capabilities.ts";
import type { Caller, ReplyBody, ReplyChannel } from "./caller.ts";
import type { ProfileOf } from "./client-profile.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ClientMessage, ClientRequest } from "../../wire/mcp/client-message.ts";
import { resourceKey, type Notifier } from "./notifier.ts";
import type { OwnInstances } from "./own-instances.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import { toWireError } from "./wire-error.ts";

export interface LegacyDeps {
  readonly sessions: SessionStore;
  readonly viewOf: (principal: Principal) => View;
  readonly notifier: Notifier;
  readonly subscriptions: Subscriptions;
  readonly logLevels: LogLevels;
  readonly routing: Routing;
  readonly ownInstances: OwnInstances;
  readonly serverInfo: object;
  readonly gateways: () => readonly string[];
  readonly profileOf: ProfileOf;
}

/**
 * What only legacy clients have: initialize, sessions and their streams, levels, subscriptions, cancellation by
 * message.
 */
export interface LegacyRequests {
  /** Answers `initialize`; with `keep` it makes a session. Never throws. */
  initialize(
    request: ClientRequest,
    principal: Principal,
    endpoint: Endpoint,
    keep: boolean,
  ): { readonly reply: ReplyBody; readonly session: Session | undefined };
  /** Takes a notification, or the client's answer to a question. */
  receive(message: Exclude<ClientMessage, { kind: "request" }>, session: Session | undefined): void;
  /** Answers the methods that need a session's state; undefined for all others. */
  answer(
    request: ClientRequest,
    caller: Caller,
    channel: ReplyChannel,
    signal: AbortSignal,
  ): Promise<ReplyBody> | undefined;
  /** Serves the session's GET stream, or what is left of one that broke off. */
  openStream(session: Session, request: IncomingMessage, response: ServerResponse, keepAliveMs: number): void;
}

const emptyResult: ReplyBody = { body: '"result":{}', status: 200 };

export function createLegacyRequests(deps: LegacyDeps): LegacyRequests {
  function initialize(
    request: ClientRequest,
    principal: Principal,
    endpoint: Endpoint,
    keep: boolean,
  ): { reply: ReplyBody; session: Session | undefined } {
    try {
      const revision = negotiateLegacy(request.params["protocolVersion"]);
      const view = deps.viewOf(principal);
      const { exposure } = endpoint;
      const instructions = exposure.instructions(view);
      const declared = request.params["capabilities"];
      const capabilities = isJsonObject(declared) ? declared : {};
      const session = keep
        ? deps.sessions.create({
            principal,
            endpoint: endpoint.path,
            revision,
            capabilities,
            clientName: readClientName(request.params["clientInfo"]),
            client: deps.profileOf(request.params["clientInfo"]),
          })
        : undefined;
      if (session !== undefined) listenFor(session, endpoint);
      const result = {
        protocolVersion: revision,
        capabilities: capabilitiesOf(exposure, view),
        serverInfo: deps.serverInfo,
        ...(instructions === "" ? {} : { instructions }),
        _meta: { [metaKeys.gateways]: deps.gateways() },
      };
      return { reply: { body: `"result":${asciiJson(result)}`, status: 200 }, session };
    } catch (error) {
      const failure = toGatewayError(error);
      return {
        reply: {
          ...toWireError(failure, "legacy", "initialize"),
          status: failure.code === "SESSION_LIMIT" ? failure.row.http : 200,
        },
        session: undefined,
      };
    }
  }

  function listenFor(session: Session, endpoint: Endpoint): void {
    const resources = new Map<string, string>();
    session.resources = resources;
    const leave = deps.notifier.add({
      principal: session.principal,
      client: session.connected,
      exposure: endpoint.exposure,
      wants: { tools: true, resources: true, prompts: true },
      resources,
      send: (method, params) => void session.push(writeNotification(method, params)),
      relay: (method, params) => {
        if (method === "notifications/message" && !isWanted(params["level"], session.logLevel)) return;
        session.push(writeNotification(method, params));
      },
    });
    session.onRootsChanged = (params) => tellServers(session, endpoint, params);
    session.onClose = () => {
      leave();
      deps.logLevels.drop(session);
    };
  }

  function cancel(session: Session | undefined, params: Readonly<Record<string, unknown>>): void {
    const id = params["requestId"];
    if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return;
    const reason = typeof params["reason"] === "string" ? `: ${params["reason"].slice(0, 200)}` : "";
    for (const controller of session.running.get(id) ?? [])
      controller.abort(new GatewayError("CALL_CANCELLED", `the client cancelled the request${reason}`));
  }

  /**
   * The client's own instances know its roots; each asks again if it cares (2025-11-25, client/roots). No other does.
   */
  function tellServers(session: Session, endpoint: Endpoint, params: JsonObject): void {
    for (const { shown, own } of instancesAt(session, endpoint))
      if (own !== shown) deps.routing.notify(own, "notifications/roots/list_changed", params);
  }

  /** What the view shows, and which instance of it is the client's own. */
  function instancesAt(
    { principal, connected }: Session,
    { exposure }: Endpoint,
  ): readonly { readonly shown: InstanceId; readonly own: InstanceId }[] {
    const view = deps.viewOf(principal);
    const only = exposure.transparent(view);
    return (only === undefined ? view.servers : [only]).map(({ instance }) => ({
      shown: instance,
      own: deps.ownInstances.idFor(instance, connected),
    }));
  }

  async function setLevel(request: ClientRequest, caller: Caller): Promise<ReplyBody> {
    const { level } = request.params;
    if (!isLogLevel(level))
      throw new GatewayError("PARAMS_INVALID", `${JSON.stringify(level)?.slice(0, 40)} is no log level`);
    const { session } = caller;
    if (session === undefined) return emptyResult;
    session.logLevel = level;
    const instances = instancesAt(session, caller.endpoint).map(({ own }) => own);
    await deps.logLevels.set(session, instances, level);
    return emptyResult;
  }

  async function subscribe(request: ClientRequest, caller: Caller, signal: AbortSignal): Promise<ReplyBody> {
    const { session } = caller;
    const { uri } = request.params;
    if (session === undefined)
      throw new GatewayError("PARAMS_INVALID", "a subscription needs a session: initialize first");
    if (typeof uri !== "string")
      throw new GatewayError("PARAMS_INVALID", "resources/subscribe needs params.uri, a string");
    if (session.subscriptions.has(uri)) return emptyResult;
    if (session.subscriptions.size >= mostSubscriptions)
      throw new GatewayError(
        "RATE_LIMITED",
        `${session.subscriptions.size} resources are subscribed to in this session already`,
      );
    const intent = caller.endpoint.exposure.resolve(deps.viewOf(caller.principal), { method: "resources/read", uri });
    if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", `there is no resource ${uri.slice(0, 200)}`);
    const { id, leave } = deps.ownInstances.enter(intent.server.instance, {
      ...caller,
      connected: session.connected,
    });
    const release = await deps.subscriptions.subscribe(id, intent.uri, signal).finally(leave);
    const key = resourceKey(id, intent.uri);
    session.resources.set(key, uri);
    session.subscriptions.set(uri, () => {
      session.resources.delete(key);
      release();
    });
    return emptyResult;
  }

  function unsubscribe(request: ClientRequest, caller: Caller): ReplyBody {
    const { uri } = request.params;
    const release = typeof uri === "string" ? caller.session?.subscriptions.get(uri) : undefined;
    if (release !== undefined) {
      caller.session?.subscriptions.delete(uri as string);
      release();
    }
    return emptyResult;
  }

  async function guarded(work: Promise<ReplyBody>, method: string): Promise<ReplyBody> {
    try {
      return await work;
    } catch (error) {
      return toWireError(toGatewayError(error), "legacy", method);
    }
  }

  return {
    initialize,
    receive(message, session) {
      if (message.kind === "response") {
        const body = message.body;
        session?.answer(
          message.id,
          body.kind === "result" ? { kind: "result", result: body.bytes } : { kind: "error", error: body.bytes },
        );
      } else if (message.method === "notifications/cancelled") cancel(session, message.params);
      else if (message.method === "notifications/progress") session?.progress(message.params);
      else if (message.method === "notifications/roots/list_changed") session?.onRootsChanged?.(message.params);
    },
    answer(request, caller, _channel, signal) {
      switch (request.method) {
        case "logging/setLevel":
          return guarded(setLevel(request, caller), request.method);
        case "resources/subscribe":
          return guarded(subscribe(request, caller, signal), request.method);
        case "resources/unsubscribe":
          return Promise.resolve(unsubscribe(request, caller));
        default:
          return undefined;
      }
    },
    openStream(session, request, response, keepAliveMs) {
      response.writeHead(200, [...eventStreamHeaders]);
      response.flushHeaders();
      const keepAlive = setInterval(() => response.write(keepAliveText), keepAliveMs);
      keepAlive.unref();
      response.on("close", () => {
        clearInterval(keepAlive);
        // A session is idle from when its stream broke off, not from when it was opened.
        deps.sessions.touch(session);
      });
      const last = request.headers["last-event-id"];
      const place = typeof last === "string" ? session.findLog(last) : undefined;
      if (place === undefined) {
        session.attach(response);
        return;
      }
      const onEvent = (text: string): void => {
        if (response.writableLength > resumeBufferBytes) response.destroy();
        else response.write(text, "latin1");
      };
      const leave = place.log.follow(place.number, { onEvent, onEnd: () => response.end() });
      response.on("close", leave);
    },
  };
}

/** Bytes that may wait for a client that came back and reads slowly: more than one log keeps. */
const resumeBufferBytes = 8 * 1024 * 1024;
/** Resources that one session may watch. */
const mostSubscriptions = 1_000;

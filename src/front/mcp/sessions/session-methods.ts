import type { View } from "../../../catalog/model/view.ts";
import type { LogLevels } from "../../../engine/calls/subscriptions/log-levels.ts";
import type { Subscriptions } from "../../../engine/calls/subscriptions/subscriptions.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import type { Session } from "./session.ts";
import { isLogLevel } from "../../../wire/mcp/log-level.ts";
import type { Caller, ReplyBody } from "../caller.ts";
import { instancesAt, type OwnInstances } from "../own-instances.ts";
import { watchResource } from "../listen/resource-watch.ts";
import { toWireError } from "../answers/wire-error.ts";

export interface SessionMethodsDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly subscriptions: Subscriptions;
  readonly logLevels: LogLevels;
  readonly ownInstances: OwnInstances;
}

/** A request of a client, or one that it sent to another node. */
export type SessionRequest = Pick<ClientRequest, "method" | "params">;

/**
 * Answers the methods of legacy clients that change their session; undefined for every other method. The promise
 * never rejects.
 */
export type SessionMethods = (
  request: SessionRequest,
  caller: Caller,
  signal: AbortSignal,
) => Promise<ReplyBody> | undefined;

const emptyResult: ReplyBody = { body: '"result":{}', status: 200 };
/** Resources that one session may watch: each is an entry here and, once for all sessions, upstream. */
const mostSubscriptions = 1_000;

export function createSessionMethods(deps: SessionMethodsDeps): SessionMethods {
  async function setLevel(request: SessionRequest, { session, endpoint }: Caller): Promise<ReplyBody> {
    const { level } = request.params;
    if (!isLogLevel(level))
      throw new GatewayError("PARAMS_INVALID", `${JSON.stringify(level)?.slice(0, 40)} is no log level`);
    if (session === undefined) return emptyResult;
    session.logLevel = level;
    const instances = instancesAt(deps, endpoint, session).map(({ own }) => own);
    await deps.logLevels.set(session, instances, level);
    return emptyResult;
  }

  async function subscribe(request: SessionRequest, caller: Caller, signal: AbortSignal): Promise<ReplyBody> {
    const { session } = caller;
    const { uri } = request.params;
    if (session === undefined)
      throw new GatewayError("PARAMS_INVALID", "a subscription needs a session: initialize first");
    if (typeof uri !== "string")
      throw new GatewayError("PARAMS_INVALID", "resources/subscribe needs params.uri, a string");
    const { watched, connected } = session;
    if (watched.has(uri)) return emptyResult;
    if (watched.size >= mostSubscriptions)
      throw new GatewayError("RATE_LIMITED", `this session is subscribed to ${watched.size} resources already`);
    const { key, release, leave } = await watchResource(deps, { ...caller, connected }, uri, signal);
    // A session's own instances stay until it ends, so this one does not have to be held while it is watched.
    leave();
    watched.add(uri, key, release);
    return emptyResult;
  }

  function unsubscribe(request: SessionRequest, { session }: Caller): ReplyBody {
    const { uri } = request.params;
    if (typeof uri === "string") session?.watched.release(uri);
    return emptyResult;
  }

  return (request, caller, signal) => {
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
  };
}

/** Tells other nodes what a client asked for. */
export interface TellNodes {
  tell(session: Session, request: SessionRequest): Promise<void>;
}

/** The same, and what has changed is told to other nodes before it is answered. */
export function withNotes(methods: SessionMethods, notes: () => TellNodes | undefined): SessionMethods {
  return (request, caller, signal) => {
    const answering = methods(request, caller, signal);
    const told = notes();
    const { session } = caller;
    if (answering === undefined || told === undefined || session === undefined) return answering;
    return answering.then(async (reply) => {
      if (reply === emptyResult) await told.tell(session, request);
      return reply;
    });
  };
}

async function guarded(work: Promise<ReplyBody>, method: string): Promise<ReplyBody> {
  try {
    return await work;
  } catch (error) {
    return toWireError(toGatewayError(error), "legacy", method);
  }
}

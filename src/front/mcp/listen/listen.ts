import type { ConnectedClient } from "../../../kernel/call/call-context.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { type JsonObject, isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";
import type { AnswerChannel } from "../streams/answer-channel.ts";
import type { Caller } from "../caller.ts";
import type { Notifier } from "../streams/notifier.ts";
import { watchResource, type ResourceWatchDeps } from "./resource-watch.ts";
import { createWatchedResources, type WatchedResources } from "./watched-resources.ts";
import { toWireError } from "../answers/wire-error.ts";

export interface ListenDeps extends ResourceWatchDeps {
  readonly notifier: Notifier;
  readonly serverInfoText: string;
}

export interface ListenRequests {
  /**
   * Serves one `subscriptions/listen` until its client goes, or the gateway stops (2026-07-28,
   * patterns/subscriptions).
   */
  open(request: ClientRequest, caller: Caller, openChannel: (onGone: () => void) => AnswerChannel): void;
  /**
   * Ends those for which the predicate holds, each with its completion result. `client` is the connection that the
   * request came on, where it lasts (stdio).
   */
  endWhere(gone: (principal: Principal, client: ConnectedClient | undefined) => boolean): void;
  readonly size: number;
}

/** One request that is being served. */
interface Listening {
  readonly request: ClientRequest;
  readonly caller: Caller;
  readonly channel: AnswerChannel;
  readonly watched: WatchedResources;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
  /** Removes it from the notifier; does nothing before it has been added there. */
  leave: () => void;
}

export function createListenRequests(deps: ListenDeps): ListenRequests {
  const open = new Set<Listening>();

  function finish(listening: Listening): void {
    if (!open.delete(listening)) return;
    const { request, watched, channel } = listening;
    watched.releaseAll();
    listening.leave();
    const meta = `{"${metaKeys.subscriptionId}":${request.idText},"${metaKeys.serverInfo}":${deps.serverInfoText}}`;
    channel.finish(`"result":{"resultType":"complete","_meta":${meta}}`);
  }

  async function serve(listening: Listening): Promise<void> {
    const { request, caller, channel, watched, signal } = listening;
    const { principal, endpoint } = caller;
    const filter = parseListenFilter(request.params["notifications"]);
    open.add(listening);
    signal.addEventListener("abort", () => finish(listening), { once: true });
    const resources = await watchAll(listening, filter.resources);
    const send = (method: string, params: JsonObject): void => {
      channel.send(writeNotification(method, { ...params, _meta: { [metaKeys.subscriptionId]: request.id } }));
    };
    const tools = filter.tools && endpoint.exposure.toolsChange;
    // First of all, and nothing before it (patterns/subscriptions, acknowledgment).
    send("notifications/subscriptions/acknowledged", { notifications: acknowledge({ ...filter, tools, resources }) });
    if (!open.has(listening)) return;
    listening.leave = deps.notifier.add({
      principal,
      exposure: endpoint.exposure,
      wants: { tools, prompts: filter.prompts, resources: filter.resourcesList },
      resources: watched.spellings,
      send,
    });
  }

  /** Returns those that are watched from now on: a resource that cannot be is left out of the acknowledgment. */
  async function watchAll(listening: Listening, uris: readonly string[]): Promise<readonly string[]> {
    const { caller, watched, signal } = listening;
    const honoured: string[] = [];
    for (const uri of uris) {
      const watch = await watchResource(deps, caller, uri, signal).catch(() => undefined);
      if (watch === undefined) continue;
      const release = (): void => {
        watch.release();
        watch.leave();
      };
      // It may have ended while the server was asked: then this one would never be released.
      if (!open.has(listening)) release();
      else watched.add(uri, watch.key, release);
      honoured.push(uri);
    }
    return honoured;
  }

  return {
    open(request, caller, openChannel) {
      const controller = new AbortController();
      const channel = openChannel(() =>
        controller.abort(new GatewayError("CALL_CANCELLED", "the client stopped listening")),
      );
      const { signal } = controller;
      const watched = createWatchedResources();
      serve({ request, caller, channel, watched, signal, leave: () => undefined }).catch((error: unknown) => {
        const reply = toWireError(toGatewayError(error), "modern", request.method);
        channel.finish(reply.body, reply.status);
      });
    },
    endWhere(gone) {
      for (const listening of [...open]) {
        const { principal, connected } = listening.caller;
        if (gone(principal, connected)) finish(listening);
      }
    },
    get size() {
      return open.size;
    },
  };
}

/** What of its filter the client will hear of, as the acknowledgment lists it. */
function acknowledge({ tools, prompts, resourcesList, resources }: ListenFilter): JsonObject {
  return {
    ...(tools ? { toolsListChanged: true } : {}),
    ...(prompts ? { promptsListChanged: true } : {}),
    ...(resourcesList ? { resourcesListChanged: true } : {}),
    ...(resources.length > 0 ? { resourceSubscriptions: resources } : {}),
  };
}

/** What one `subscriptions/listen` wants to hear of. */
interface ListenFilter {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resourcesList: boolean;
  /** URIs, each once. */
  readonly resources: readonly string[];
}

/** Resources that one request may name: each is a subscription upstream. */
const mostResources = 1_000;

/** Reads `params.notifications` (2026-07-28, patterns/subscriptions). Throws PARAMS_INVALID. */
export function parseListenFilter(value: unknown): ListenFilter {
  if (!isJsonObject(value))
    throw new GatewayError("PARAMS_INVALID", "subscriptions/listen needs params.notifications, an object");
  const resources = value["resourceSubscriptions"] ?? [];
  if (!Array.isArray(resources) || resources.some((uri) => typeof uri !== "string"))
    throw new GatewayError("PARAMS_INVALID", "resourceSubscriptions must be an array of strings");
  if (resources.length > mostResources)
    throw new GatewayError("PARAMS_INVALID", `resourceSubscriptions holds more than ${mostResources} resources`);
  return {
    tools: value["toolsListChanged"] === true,
    prompts: value["promptsListChanged"] === true,
    resourcesList: value["resourcesListChanged"] === true,
    resources: [...new Set(resources as readonly string[])],
  };
}

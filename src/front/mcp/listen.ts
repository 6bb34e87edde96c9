import { writeNotification } from "../../wire/mcp/envelope.ts";
import type { View } from "../../catalog/model/view.ts";
import { metaKeys } from "../../wire/mcp/revisions.ts";
import type { Subscriptions } from "../../engine/calls/subscriptions.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { AnswerChannel } from "./answer-channel.ts";
import type { Caller } from "./caller.ts";
import type { ClientRequest } from "../../wire/mcp/client-message.ts";
import { resourceKey, type Notifier } from "./notifier.ts";
import type { OwnInstances } from "./own-instances.ts";
import { toWireError } from "./wire-error.ts";

export interface ListenDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly notifier: Notifier;
  readonly subscriptions: Subscriptions;
  readonly ownInstances: OwnInstances;
  readonly serverInfoText: string;
}

export interface ListenRequests {
  /**
   * Serves one `subscriptions/listen` until its client goes, or the gateway stops (2026-07-28,
   * patterns/subscriptions).
   */
  open(request: ClientRequest, caller: Caller, openChannel: (onGone: () => void) => AnswerChannel): void;
  /** Ends those of the principals for which the predicate holds, each with its completion result. */
  endWhere(gone: (principal: Principal) => boolean): void;
  readonly size: number;
}

const mostResources = 1_000;

interface Stream {
  readonly principal: Principal;
  end(): void;
}

export function createListenRequests(deps: ListenDeps): ListenRequests {
  const streams = new Set<Stream>();

  function open(request: ClientRequest, caller: Caller, openChannel: (onGone: () => void) => AnswerChannel): void {
    const controller = new AbortController();
    const channel = openChannel(() =>
      controller.abort(new GatewayError("CALL_CANCELLED", "the client stopped listening")),
    );
    void serve(request, caller, channel, controller.signal).catch((error: unknown) => {
      const reply = toWireError(toGatewayError(error), "modern", request.method);
      channel.finish(reply.body, reply.status);
    });
  }

  async function serve(
    request: ClientRequest,
    caller: Caller,
    channel: AnswerChannel,
    signal: AbortSignal,
  ): Promise<void> {
    const filter = readFilter(request.params["notifications"]);
    const resources = new Map<string, string>();
    const releases: (() => void)[] = [];
    const { exposure } = caller.endpoint;
    const send = (method: string, params: Readonly<Record<string, unknown>>): void => {
      channel.send(writeNotification(method, { ...params, _meta: { [metaKeys.subscriptionId]: request.id } }));
    };
    const stream: Stream = { principal: caller.principal, end: () => finish() };
    const finish = (): void => {
      if (!streams.delete(stream)) return;
      for (const release of releases) release();
      channel.finish(
        `"result":{"resultType":"complete","_meta":{"${metaKeys.subscriptionId}":${request.idText},"${metaKeys.serverInfo}":${deps.serverInfoText}}}`,
      );
    };
    streams.add(stream);
    signal.addEventListener("abort", finish, { once: true });
    const honoured: string[] = [];
    for (const uri of filter.resources) {
      const release = await watch(caller, uri, resources, signal).catch(() => undefined);
      if (release === undefined) continue;
      if (signal.aborted) release();
      else releases.push(release);
      honoured.push(uri);
    }
    const acknowledged: JsonObject = {
      ...(filter.tools && exposure.toolsChange ? { toolsListChanged: true } : {}),
      ...(filter.prompts ? { promptsListChanged: true } : {}),
      ...(filter.resourcesList ? { resourcesListChanged: true } : {}),
      ...(honoured.length > 0 ? { resourceSubscriptions: honoured } : {}),
    };
    // First of all, and nothing before it (patterns/subscriptions, acknowledgment).
    send("notifications/subscriptions/acknowledged", { notifications: acknowledged });
    const wants = {
      tools: filter.tools && exposure.toolsChange,
      prompts: filter.prompts,
      resources: filter.resourcesList,
    };
    if (!signal.aborted)
      releases.push(deps.notifier.add({ principal: caller.principal, exposure, wants, resources, send }));
  }

  async function watch(
    caller: Caller,
    uri: string,
    resources: Map<string, string>,
    signal: AbortSignal,
  ): Promise<() => void> {
    const intent = caller.endpoint.exposure.resolve(deps.viewOf(caller.principal), { method: "resources/read", uri });
    if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", `there is no resource ${uri.slice(0, 200)}`);
    const { id, leave } = deps.ownInstances.enter(intent.server.instance, caller);
    try {
      const release = await deps.subscriptions.subscribe(id, intent.uri, signal);
      resources.set(resourceKey(id, intent.uri), uri);
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    open,
    endWhere(gone) {
      for (const stream of [...streams]) if (gone(stream.principal)) stream.end();
    },
    get size() {
      return streams.size;
    },
  };
}

interface Filter {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resourcesList: boolean;
  readonly resources: readonly string[];
}

function readFilter(value: unknown): Filter {
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

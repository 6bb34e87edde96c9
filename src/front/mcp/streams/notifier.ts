import type { View } from "../../../catalog/model/view.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { EventOf } from "../../../kernel/events/event.ts";
import type { Exposure } from "../../../catalog/exposure/exposure.ts";
import type { ConnectedClient } from "../../../kernel/call/call-context.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";

/** Somebody who wants to hear of changes: a legacy session, or one `subscriptions/listen`. */
export interface Listener {
  readonly principal: Principal;
  /** Whose own instances it hears of, beside those that others have too. */
  readonly client?: ConnectedClient | undefined;
  readonly exposure: Exposure;
  readonly wants: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
  /** Client's spelling of each resource it subscribed to, by instance and the server's own URI. */
  readonly resources: ReadonlyMap<string, string>;
  /** What else servers have to say that belongs to no call; only a legacy session has a stream for it. */
  readonly relay?: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Sends a notification; `params` is the text of an object. */
  send(method: string, params: Readonly<Record<string, unknown>>): void;
}

/** Which instance of a client's view an instance's news are about; undefined when they are not for that client. */
export interface InstanceNews {
  /** News of its lists. */
  readonly seenAs: (instance: InstanceId, client: ConnectedClient | undefined) => InstanceId | undefined;
  /** What it says beside its answers. */
  readonly heardAs: (instance: InstanceId, client: ConnectedClient | undefined) => InstanceId | undefined;
}

export interface Notifier {
  add(listener: Listener): () => void;
}

const taskStatus = "notifications/tasks/status";
/** What tells of something that a client has seen before, by an id of its own: it is understood behind any exposure. */
const aboutPast: ReadonlySet<string> = new Set(["notifications/elicitation/complete", taskStatus]);

/** Whether this client of the principal began the task. */
export type IsTaskOf = (
  by: { readonly principal: Principal; readonly connected: ConnectedClient },
  task: { readonly instance: InstanceId; readonly id: unknown },
) => boolean;

export function resourceKey(instance: InstanceId, uri: string): string {
  return `${instance}\n${uri}`;
}

/**
 * Tells every listener of what concerns it: changes of instances that its principal can see, at the exposures where
 * they show.
 */
export function createNotifier(
  events: EventBus,
  viewOf: (principal: Principal) => View,
  { seenAs, heardAs }: InstanceNews,
  isTaskOf: IsTaskOf,
): Notifier {
  const listeners = new Set<Listener>();
  /** Of those who come with a profile, what it hid when they last heard of it. */
  const narrowings = new WeakMap<Listener, View["narrowing"]>();

  function onCatalogChanged(event: EventOf<"catalog.changed">): void {
    for (const listener of listeners) {
      const server = viewOf(listener.principal).servers.find((candidate) => candidate.instance === event.instance);
      if (server === undefined) continue;
      const only = listener.exposure.transparent(viewOf(listener.principal));
      if (only !== undefined && only.instance !== event.instance) continue;
      for (const kind of event.kinds) {
        if (kind === "tools" && !listener.exposure.toolsChange) continue;
        if (listener.wants[kind]) listener.send(`notifications/${kind}/list_changed`, {});
      }
    }
  }

  /** At an exposure of several servers nothing has changed; a transparent one says what its server says. */
  function onAnnounced(event: EventOf<"catalog.announced">): void {
    for (const listener of listeners) {
      if (
        !listener.exposure.isTransparent ||
        listener.exposure.transparent(viewOf(listener.principal))?.instance !== seenAs(event.instance, listener.client)
      )
        continue;
      for (const kind of event.kinds) if (listener.wants[kind]) listener.send(`notifications/${kind}/list_changed`, {});
    }
  }

  function onServerNotification(event: EventOf<"server.notification">): void {
    for (const listener of listeners) {
      if (listener.relay === undefined) continue;
      if (event.client !== undefined && event.client !== listener.client?.id) continue;
      const view = viewOf(listener.principal);
      const instance = heardAs(event.instance, listener.client);
      if (event.method === taskStatus && !hearsOfTask(listener, instance, event.params["taskId"])) continue;
      const concerns = listener.exposure.isTransparent
        ? listener.exposure.transparent(view)?.instance === instance
        : aboutPast.has(event.method) && view.servers.some((server) => server.instance === instance);
      if (concerns) listener.relay(event.method, event.params);
    }
  }

  /** A task concerns only the client that began it (2025-11-25, basic/utilities/tasks, "Task Status Notification"). */
  function hearsOfTask({ principal, client }: Listener, instance: InstanceId | undefined, id: unknown): boolean {
    if (client === undefined || instance === undefined) return false;
    return isTaskOf({ principal, connected: client }, { instance, id });
  }

  /** Clients of a profile hear of everything that a change of it may have changed. */
  function onConfigChanged(): void {
    for (const listener of listeners) {
      const { principal, exposure, wants, send } = listener;
      if (principal.profile === undefined) continue;
      const { narrowing } = viewOf(principal);
      if (narrowing === narrowings.get(listener)) continue;
      narrowings.set(listener, narrowing);
      for (const kind of ["tools", "resources", "prompts"] as const)
        if (wants[kind] && (kind !== "tools" || exposure.toolsChange)) send(`notifications/${kind}/list_changed`, {});
    }
  }

  events.on(["catalog.changed"], onCatalogChanged);
  events.on(["catalog.announced"], onAnnounced);
  events.on(["resource.updated"], (event) => onResourceUpdated(listeners, event));
  events.on(["server.notification"], (event) => {
    // A server may report on a task in the same bytes in which it hands it out: that has to be noted first.
    if (event.method === taskStatus) setImmediate(() => onServerNotification(event));
    else onServerNotification(event);
  });
  events.on(["config.changed"], onConfigChanged);
  events.on(["namespace.loaded", "namespace.evicted"], ({ principal }) => onLoadedChanged(listeners, principal));

  return {
    add(listener) {
      listeners.add(listener);
      if (listener.principal.profile !== undefined) narrowings.set(listener, viewOf(listener.principal).narrowing);
      return () => listeners.delete(listener);
    },
  };
}

function onResourceUpdated(listeners: ReadonlySet<Listener>, event: EventOf<"resource.updated">): void {
  const key = resourceKey(event.instance, event.uri);
  for (const listener of listeners) {
    const uri = listener.resources.get(key);
    if (uri !== undefined) listener.send("notifications/resources/updated", { uri });
  }
}

/**
 * The loaded namespaces belong to the principal: all its clients hear of it, at the exposure whose list it changes.
 */
function onLoadedChanged(listeners: ReadonlySet<Listener>, principal: PrincipalId): void {
  for (const listener of listeners) {
    if (listener.principal.id !== principal || !listener.wants.tools) continue;
    if (listener.exposure.toolsDependOn === "loaded namespaces") listener.send("notifications/tools/list_changed", {});
  }
}

import type { View } from "../../../catalog/model/view.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { EventOf } from "../../../kernel/events/event.ts";
import type { Exposure } from "../../../catalog/exposure/exposure.ts";
import type { ConnectedClient } from "../../../kernel/call/call-context.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { slices } from "../../../kernel/runtime/slices.ts";
import { changedSince, isHiddenChange, seenServers, type SeenServers } from "./seen-lists.ts";

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
  /** Rules, profiles or servers may be others than before: tells those whose lists are. */
  follow(): void;
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
  const { begin, tell, follow } = createTelling(listeners, viewOf);

  function onCatalogChanged(event: EventOf<"catalog.changed">): void {
    for (const listener of listeners)
      if (viewOf(listener.principal).servers.some(({ instance }) => instance === event.instance)) tell(listener, event);
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

  events.on(["catalog.changed"], onCatalogChanged);
  events.on(["catalog.announced"], onAnnounced);
  events.on(["resource.updated"], (event) => onResourceUpdated(listeners, event));
  events.on(["server.notification"], (event) => {
    // A server may report on a task in the same bytes in which it hands it out: that has to be noted first.
    if (event.method === taskStatus) setImmediate(() => onServerNotification(event));
    else onServerNotification(event);
  });
  events.on(["config.changed"], follow);
  events.on(["namespace.loaded", "namespace.evicted"], ({ principal }) => onLoadedChanged(listeners, principal));

  return {
    add(listener) {
      listeners.add(listener);
      begin(listener);
      return () => listeners.delete(listener);
    },
    follow,
  };
}

/** Which lists each listener has, so that it is told of every change of them once, and of nothing else. */
function createTelling(listeners: ReadonlySet<Listener>, viewOf: (principal: Principal) => View) {
  const seen = new WeakMap<Listener, SeenServers>();

  /** Tells a listener what differs from what it has. `event`: lists of one server that changed. */
  function tell(listener: Listener, event?: EventOf<"catalog.changed">): void {
    const { principal, exposure, wants, send } = listener;
    const before = seen.get(listener) ?? [];
    const now = seenServers(viewOf(principal), exposure, before);
    seen.set(listener, now);
    const about = event && now.find(({ instance }) => instance === event.instance);
    const changed = new Set(changedSince(before, now, about));
    if (about !== undefined) {
      const isHidden = isHiddenChange(
        before.find(({ slug }) => slug === about.slug),
        about,
      );
      for (const kind of event?.kinds ?? []) if (kind !== "tools" || !isHidden) changed.add(kind);
    }
    for (const kind of changed)
      if (wants[kind] && (kind !== "tools" || exposure.toolsChange)) send(`notifications/${kind}/list_changed`, {});
  }

  /** In turns: a change of the rules makes the view of every principal again. */
  function* telling(): Generator<undefined, void> {
    for (const listener of [...listeners]) {
      if (listeners.has(listener)) tell(listener);
      yield;
    }
  }

  function follow(): void {
    if (listeners.size > 0) void slices.run(telling());
  }

  return {
    begin: (listener: Listener) => void seen.set(listener, seenServers(viewOf(listener.principal), listener.exposure)),
    tell,
    follow,
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

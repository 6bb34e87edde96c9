import type { ServerConfig } from "../../config/config.ts";
import { traitsOf } from "../../config/entry/transports.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Connection } from "../upstream/connection.ts";
import { createAcquire, type Acquire } from "./acquisition.ts";
import { compareLists, createAttempts, type Attempts } from "./starts/attempts.ts";
import { createHeldConnection, type HeldConnection } from "./held-connection.ts";
import { createIdleness, stopIdle } from "./starts/idle-stop.ts";
import type { Instance } from "./instance.ts";
import type { InstanceDeps, Opened } from "./instance-deps.ts";
import { createLife, type Life } from "./instance-state.ts";
import { createListRefresh, type ListRefresh } from "./lists/list-refresh.ts";
import { createLoginNotice } from "./starts/login-notice.ts";
import { createOpening } from "./starts/opening.ts";
import { createOrders, type InstanceCore } from "./starts/instance-actions.ts";
import { createRecovery, type Recovery } from "./starts/recovery.ts";
import { createRefresher } from "./lists/refresh.ts";
import type { Confinement } from "./lists/confinement.ts";
import { createServerEvents, type ServerEvents } from "./lists/server-events.ts";
import { toStatus, adviceOf, stepOf, toReason } from "./state-status.ts";
import { createUsers, type Users } from "./users.ts";
import { createWaiters } from "./waiters.ts";
import type { StatusView } from "../../catalog/model/view.ts";
import type { InstanceState } from "./state.ts";
import { statusTable } from "../../kernel/status-words.ts";

/** What a new instance is made from. */
export interface InstanceOptions {
  readonly id: InstanceId;
  readonly server: ServerConfig;
  readonly owner: PrincipalId | null;
  /** The names of required values that its person has not given. */
  readonly missing: readonly string[];
  /** Where to give them. */
  readonly advice?: string | undefined;
  /** The instance of which this is the copy for one client. */
  readonly installation?: InstanceId | undefined;
  /** The owner's team. */
  readonly team?: string | undefined;
  /** Settles when the instance that this one replaces has ended, so that there are never two processes. */
  readonly after?: Promise<void> | undefined;
  /** The users of the instance that this one replaces. */
  readonly users?: Users | undefined;
}

/**
 * An instance. Each of its parts (starts, recovery and so on) owns its own piece of the state; this object only
 * combines them. They are made when somebody uses the instance: a person has one of every server of the team, and most
 * of them are never used (`bench/teams/run.ts -- --only=members`).
 */
export function createInstance(options: InstanceOptions, deps: InstanceDeps): Instance {
  const core = createCore(options, deps);
  const { life, parts } = core;
  return {
    id: life.id,
    owner: life.owner,
    get server() {
      return life.server;
    },
    get state() {
      return life.state;
    },
    get status() {
      return toStatus(life.state);
    },
    get connection() {
      return core.made?.held.current;
    },
    get waiting() {
      return core.made?.waiters.size ?? 0;
    },
    get pid() {
      return core.made?.held.current?.pid;
    },
    get stderr() {
      return core.made?.serverEvents.stderr ?? noLines;
    },
    get handshake() {
      return core.made?.serverEvents.handshake ?? [];
    },
    get confinement() {
      return core.made?.serverEvents.confinement ?? unconfined;
    },
    about: life.about,
    oddities: life.oddities,
    statusView: createStatusViews(life, () => core.made?.held.current?.replicas?.summary()),
    get users() {
      return core.users();
    },
    acquire: (signal, by) => (core.made ?? parts()).acquire(signal, by),
    async settled(signal) {
      if (life.state.kind === "new") parts().attempts.start("first");
      if (life.state.kind === "needs-login") await parts().recovery.startAfterLogin();
      await life.settled(signal).catch(() => undefined);
    },
    start: (why, by) => parts().attempts.start(why, by),
    async refresh(signal) {
      await parts().listRefresh.refresh(signal);
    },
    noteFailure: (error) => parts().recovery.noteFailure(error),
    hold: () => parts().idleness.hold(),
    tick() {
      // Nothing is due of one that was never used.
      if (core.made === undefined) return;
      const { recovery, listRefresh } = core.made;
      const nowMs = deps.clock.monotonic();
      stopIdle(core.made, deps, nowMs);
      recovery.tick(nowMs);
      if (life.state.kind === "online" && !listRefresh.isRunning && listRefresh.isDue())
        listRefresh.refreshQuietly("due");
    },
    ...createOrders(core, deps),
  };
}

const noLines: readonly string[] = Object.freeze([]);
const unconfined: Confinement = Object.freeze({ unconfinedWhy: undefined, denied: [] });

/** The parts of an unused instance, and access to the rest. */
function createCore(options: InstanceOptions, deps: InstanceDeps): InstanceCore<Parts> {
  const life: Life = createLife({ ...options, stderr: () => made?.serverEvents.stderr ?? noLines }, deps);
  const refresher = createRefresher(life, deps);
  let users = options.users;
  let made: Parts | undefined;
  let earlier: Parameters<Attempts["noteEarlierLife"]> | undefined;
  const core: InstanceCore<Parts> = {
    life,
    refresher,
    users: () => (users ??= createUsers(deps.clock)),
    get made() {
      return made;
    },
    parts() {
      if (made !== undefined) return made;
      made = createParts(options, core, deps);
      if (earlier !== undefined) made.attempts.noteEarlierLife(...earlier);
      return made;
    },
    noteEarlierLife(...noted) {
      earlier = noted;
      made?.attempts.noteEarlierLife(...noted);
    },
    gone: async () => await (made === undefined ? options.after : made.held.gone),
  };
  return core;
}

type Parts = ReturnType<typeof createParts>;

/** Makes the parts. Some refer to each other by closures, which are called only after all parts exist. */
function createParts(
  { id, server: { transport }, after }: InstanceOptions,
  { life, refresher, users: usersOf }: Pick<InstanceCore, "life" | "refresher" | "users">,
  deps: InstanceDeps,
) {
  const users = usersOf();
  const held: HeldConnection = createHeldConnection({
    clock: deps.clock,
    after,
    isAlwaysHeard: traitsOf(transport).isAlwaysHeard,
    onClosed: (closed) => recovery.connectionClosed(closed),
  });
  const waiters = createWaiters<Connection>();
  const login = createLoginNotice(id, deps.loginOf);
  const lifetime = new AbortController();
  const idleness = createIdleness(deps.clock);
  const listRefresh: ListRefresh = createListRefresh(
    {
      life,
      refresher,
      acquire: (signal) => held.current ?? acquire(signal),
      isUp: () => held.current !== undefined,
      isHeard: held.isHeard,
      lifetime: lifetime.signal,
    },
    deps,
  );
  const serverEvents: ServerEvents = createServerEvents(
    {
      life,
      onListChanged: listRefresh.noteAnnouncement,
      onSessionReplaced() {
        users.processEnded("it ended its session");
        users.processStarted();
        life.apply({ kind: "noted", note: undefined });
      },
      onRenewalsExhausted() {
        const note = "it loses its sessions so often that no more are opened for a minute";
        life.oddities.note("sessions.lost", note);
        life.apply({ kind: "noted", note });
      },
      onReplica(change) {
        life.apply({ kind: "noted", note: held.current?.replicas?.summary() });
        // A program that was started again may be another version.
        if (change.kind === "up" && change.isNews) listRefresh.refreshQuietly("revalidate");
      },
    },
    deps,
  );
  const shared = { life, held, users, waiters, login, refresher, listRefresh, serverEvents, idleness, lifetime };
  const onReopened = async (opened: Opened, signal: AbortSignal): Promise<void> =>
    void (await compareLists(shared, deps, opened, signal));
  const openInTurn = createOpening({ ...shared, onReopened }, deps);
  const attempts: Attempts = createAttempts(
    {
      ...shared,
      openInTurn,
      onStart: (isLastTry) => recovery.noteStart(isLastTry),
      onUp: () => recovery.noteUp(),
      onFailed: (cause) => recovery.startFailed(cause),
    },
    deps,
  );
  const recovery: Recovery = createRecovery({ ...shared, attempts }, deps);
  const acquire: Acquire = createAcquire({ ...shared, attempts, recovery }, deps);
  return { ...shared, attempts, recovery, acquire };
}

/**
 * The status of an instance, as views show it; the same object until something changes. `trouble` is that of its
 * replicas, where it has any.
 */
function createStatusViews(
  life: Pick<Life, "id" | "server" | "state">,
  trouble: () => string | undefined,
): () => StatusView {
  let known: { readonly server: ServerConfig; readonly state: InstanceState; readonly view: StatusView } | undefined;
  return () => {
    const { id, server, state } = life;
    if (known?.server !== server || known.state !== state)
      known = { server, state, view: toStatusView(id, server, state) };
    const reason = known.state.kind === "online" ? trouble() : undefined;
    return reason === undefined ? known.view : { ...known.view, reason };
  };
}

function toStatusView(id: InstanceId, server: ServerConfig, state: InstanceState): StatusView {
  const status = toStatus(state);
  return {
    slug: server.slug,
    title: server.displayName,
    namespace: server.namespace,
    category: server.category,
    icon: server.icon,
    priority: server.priority,
    transport: server.transport.kind,
    instance: id,
    status,
    dormant: state.kind === "dormant",
    reason: toReason(state),
    advice: adviceOf(state),
    step: stepOf(state),
    shown: statusTable[status].shown,
  };
}

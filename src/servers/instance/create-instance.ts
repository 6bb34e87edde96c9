import type { ServerConfig } from "../../config/config.ts";
import { toDurationText } from "../../kernel/duration-text.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { Era } from "../../kernel/call-context.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Closed, Connection } from "../upstream/connection.ts";
import { createCrashCount } from "./crashes.ts";
import { copyOf, exitOf, toClosedCause, toEndReason } from "./closed-cause.ts";
import { createIdleness } from "./idleness.ts";
import { createLoginNotice } from "./login-notice.ts";
import { createServerEvents } from "./server-events.ts";
import { listenForChanges, type Listening } from "./listening.ts";
import type { Instance } from "./instance.ts";
import { withLastWords } from "./last-words.ts";
import type { InstanceDeps, KeptCatalog } from "./instance-deps.ts";
import { createRefresher } from "./refresh.ts";
import { startLimits, withStartDeadline } from "./start-deadline.ts";
import { admit, firstState, transition, type InstanceEvent, type InstanceState, type StartReason } from "./state.ts";
import { toStatusView } from "./status-view.ts";
import { toReason, toRefusal, toRemovalError, toStatus } from "./state-status.ts";
import { createListRefresh } from "./list-refresh.ts";
import { createUsers, type Users } from "./users.ts";
import { createWaiters } from "./waiters.ts";

export interface InstanceOptions {
  readonly id: InstanceId;
  readonly server: ServerConfig;
  readonly owner: PrincipalId | null;
  /** What its person has not filled in. */
  readonly missing: readonly string[];
  /** Settles when the instance that this one replaces is gone: there are never two processes. */
  readonly after?: Promise<void> | undefined;
  /** Those of the instance that this one replaces. */
  readonly users?: Users | undefined;
}

export function createInstance(options: InstanceOptions, deps: InstanceDeps): Instance {
  const { id, owner, users = createUsers(deps.clock) } = options;
  let { server } = options;
  const isStdio = server.transport.kind === "stdio";
  const refresher = createRefresher(() => server, id, deps);
  const waiters = createWaiters<Connection>();
  const settling = createWaiters<undefined>();
  const login = createLoginNotice(id, deps.loginOf);
  const lifetime = new AbortController();
  let state: InstanceState = firstState(server.disabledReason, options.missing);
  let connection: (Connection & { readonly pid?: number }) | undefined;
  let listening: Listening | undefined;
  let attempt: AbortController | undefined;
  /** Settles when what the attempt started is up, or gone again. */
  let attemptEnd: Promise<void> = Promise.resolve();
  let stopping: Promise<void> = options.after ?? Promise.resolve();
  let eras: readonly Era[] | undefined = undefined;
  let lastTryMs: number | undefined;
  let everOnline = false;
  const idleness = createIdleness(deps.clock);
  let cancelRetry: (() => void) | undefined;
  const crashes = createCrashCount(deps.settings);
  const listRefresh = createListRefresh(
    {
      instance: id,
      server: server.slug,
      refresher,
      acquire: (signal) => connection ?? acquire(signal),
      isUp: () => connection !== undefined,
      isHeard,
      lifetime: lifetime.signal,
    },
    deps,
  );
  const serverEvents = createServerEvents(
    {
      instance: id,
      server: server.slug,
      onListChanged: listRefresh.noteAnnouncement,
      onSessionReplaced() {
        users.processEnded("it ended its session");
        users.processStarted();
      },
    },
    deps,
  );

  function adopt(kept: KeptCatalog | undefined): void {
    if (state.kind === "disabled" || state.kind === "unconfigured" || state.kind === "removed") return;
    if (kept !== undefined && kept.hash === server.hash && deps.catalog.get(id) === undefined) {
      refresher.adopt(kept.lists);
      eras ??= kept.lists.eras;
      everOnline = true;
      deps.starts.noteInstalled(server.transport);
      if (isStdio) apply({ kind: "idle" });
    }
    if (state.kind === "new") start("first");
  }

  function apply(event: InstanceEvent): void {
    const before = state;
    state = transition(before, event, deps.clock.monotonic());
    if (state === before) return;
    const from = toStatus(before);
    const to = toStatus(state);
    if (from !== to) {
      const reason = toReason(state) || event.kind;
      const fields = { component: "instance", server: server.slug, instance: id, operation: event.kind };
      const line = `${id}: ${from} -> ${to}${reason === "" ? "" : `: ${reason}`}`;
      if (state.kind === "failed") deps.log.warn({ ...fields, stderr: serverEvents.stderr }, line);
      else deps.log.info(fields, line);
      deps.events.emit({ type: "mcp.server.status_changed", ...about(), from, to, reason });
    }
    if (state.kind !== "starting") settling.resolveAll(undefined);
    deps.onChange();
  }

  function about(): { atMs: number; instance: InstanceId; server: ServerConfig["slug"] } {
    return { atMs: deps.clock.now(), instance: id, server: server.slug };
  }

  function acquire(signal: AbortSignal): Connection | Promise<Connection> {
    const nowMs = deps.clock.monotonic();
    idleness.noteUse(nowMs);
    // Nearly always: the table says the same.
    if (state.kind === "online" && connection !== undefined) return connection;
    const { callRetryMs, failedRetryMs } = deps.settings();
    switch (admit(state, { nowMs, lastTryMs, hasConnection: connection !== undefined, callRetryMs, failedRetryMs })) {
      case "call":
        return connection as Connection;
      case "start":
        start("demand");
        return waiters.wait(signal);
      case "wait":
        return waiters.wait(signal);
      case "refuse":
        if (state.kind === "needs-login") return acquireAfterLogin(signal);
        throw toRefusal(server.slug, state);
    }
  }

  async function acquireAfterLogin(signal: AbortSignal): Promise<Connection> {
    const refusal = toRefusal(server.slug, state);
    await startAfterLogin();
    if (state.kind === "needs-login") throw refusal;
    return await acquire(signal);
  }

  /** A login that came since the last try is the cure; without one the server would only refuse again. */
  async function startAfterLogin(): Promise<void> {
    if ((await login.isNew()) && state.kind === "needs-login") start("recovery");
  }

  function start(why: StartReason): void {
    const before = state;
    apply({ kind: "start", why });
    if (state === before || state.kind !== "starting") return;
    cancelRetry?.();
    cancelRetry = undefined;
    crashes.isLastTry = before.kind === "failed" && why === "demand";
    lastTryMs = deps.clock.monotonic();
    const controller = new AbortController();
    attempt = controller;
    const wakes = before.kind === "dormant" && everOnline;
    attemptEnd = runStart(controller, wakes).catch((error: unknown) => startFailed(controller, toGatewayError(error)));
  }

  async function runStart(controller: AbortController, wakes: boolean): Promise<void> {
    const startedMs = deps.clock.monotonic();
    if (deps.starts.waiting >= deps.settings().startQueue)
      throw new GatewayError(
        "START_QUEUE_FULL",
        `${server.slug} is not started: ${deps.starts.waiting} starts are waiting already`,
      );
    const opened = await openInTurn(controller);
    if (controller.signal.aborted) {
      await opened[Symbol.asyncDispose]();
      return;
    }
    takeConnection(opened);
    waiters.resolveAll(opened);
    const isUnknown = deps.lender === undefined && deps.catalog.get(id) === undefined;
    if (isUnknown) {
      apply({ kind: "phase", phase: "discovering" });
      await refresher.refresh(opened, controller.signal);
      apply({ kind: "phase", phase: "syncing" });
    }
    if (attempt !== controller) return;
    attempt = undefined;
    apply({ kind: "started" });
    everOnline = true;
    crashes.isLastTry = false;
    const durationMs = Math.round(deps.clock.monotonic() - startedMs);
    deps.events.emit(
      wakes
        ? { type: "mcp.server.respawned", ...about(), durationMs }
        : { type: "mcp.server.started", ...about(), pid: opened.pid, durationMs },
    );
    // After a failure it may be another server than before; one that only slept is the same.
    if (!isUnknown && (!wakes || listRefresh.isDue())) listRefresh.refreshQuietly("revalidate");
  }

  /** Waits for its turn among all that start, and for the process before it to be gone. */
  async function openInTurn(controller: AbortController): Promise<Connection & { readonly pid?: number }> {
    const starter = { owner, clock: deps.clock, signal: controller.signal };
    return await deps.starts.run(server.transport, starter, async () => {
      await stopping;
      apply({ kind: "phase", phase: "connecting" });
      if (!isStdio) await login.noteUsed();
      serverEvents.begin();
      const deadline = {
        server: server.slug,
        limits: startLimits(server, everOnline, deps.settings()),
        clock: deps.clock,
        stderr: () => serverEvents.sinceStart,
      };
      const opened = await withStartDeadline(
        deadline,
        controller.signal,
        async (signal, onWork) =>
          await deps.open(server, id, { knownEras: eras, events: serverEvents.events, onWork }, signal),
      );
      deps.starts.noteInstalled(server.transport);
      return opened;
    });
  }

  function takeConnection(opened: Connection & { readonly pid?: number }): void {
    connection = opened;
    users.processStarted();
    eras = opened.peer.eras;
    listening = listenForChanges(opened, deps.clock);
    void opened.closed.then((closed) => connectionClosed(opened, closed));
  }

  function startFailed(controller: AbortController, cause: GatewayError): void {
    if (attempt !== controller) return;
    attempt = undefined;
    // It may have changed what it speaks: the next try asks.
    eras = undefined;
    dropConnection();
    if (cause.code === "UPSTREAM_CLOSED" && isStdio) crashed(cause, 0);
    else if (cause.code === "SERVER_NEEDS_LOGIN") apply({ kind: "refused-login", cause });
    else if (cause.code === "CONNECT_FAILED" || cause.code === "UPSTREAM_HTTP" || cause.code === "UPSTREAM_CLOSED")
      apply({ kind: "unreachable", cause });
    else apply({ kind: "start-failed", cause });
    waiters.rejectAll(() =>
      state.kind === "backoff" ? copyOf(cause, withLastWords(cause)) : toRefusal(server.slug, state),
    );
  }

  function connectionClosed(closedOne: Connection, closed: Closed): void {
    if (connection !== closedOne) return;
    connection = undefined;
    listening?.stop();
    users.processEnded(toEndReason(closed));
    if (closed.kind === "asked") return;
    const starting = attempt;
    const cause = toClosedCause(server.slug, isStdio, closed, serverEvents.sinceStart);
    // The server is gone; its descendants and sockets may not be.
    stopping = joined(stopping, closedOne[Symbol.asyncDispose]());
    if (starting !== undefined) {
      startFailed(starting, cause);
      starting.abort(cause);
      return;
    }
    if (!isStdio) {
      apply({ kind: "unreachable", cause });
      return;
    }
    crashed(cause, state.kind === "online" ? deps.clock.monotonic() - state.sinceMs : 0);
  }

  function crashed(cause: GatewayError, uptimeMs: number): void {
    const verdict = crashes.judge(deps.clock.monotonic(), uptimeMs);
    deps.events.emit({
      type: "mcp.server.crashed",
      ...about(),
      ...exitOf(cause),
      crashes: crashes.count,
      stderr: serverEvents.stderr,
    });
    apply({ kind: "crashed", cause, verdict });
    if (state.kind === "failed") {
      deps.events.emit({ type: "mcp.server.permanently_failed", ...about(), reason: toReason(state) });
      waiters.rejectAll(() => toRefusal(server.slug, state));
    } else if (state.kind === "backoff" && verdict.kind === "restart") {
      if (verdict.afterMs === 0) start("recovery");
      else cancelRetry = deps.clock.after(verdict.afterMs, () => start("recovery"));
      deps.events.emit({ type: "mcp.server.restarted", ...about(), reason: cause.message });
    }
  }

  /** Ends the connection; what is started next waits until it is gone, so that there is never a second process. */
  function dropConnection(): void {
    const old = connection;
    connection = undefined;
    listening?.stop();
    if (old !== undefined) stopping = joined(stopping, old[Symbol.asyncDispose]());
  }

  function abandonStart(reason: GatewayError): void {
    cancelRetry?.();
    cancelRetry = undefined;
    const starting = attempt;
    attempt = undefined;
    starting?.abort(reason);
    if (starting !== undefined) stopping = joined(stopping, attemptEnd);
    dropConnection();
  }

  /** A legacy server over HTTP may have no stream to announce anything on: it is asked from time to time all the same. */
  function isHeard(): boolean {
    return connection?.peer.era === "modern" ? listening?.works === true : isStdio;
  }

  function checkIdle(nowMs: number): void {
    if (state.kind !== "online" || !isStdio || connection === undefined || server.idleTimeoutMs === 0) return;
    const isBusy = connection.inFlight - (listening?.open ?? 0) > 0;
    const idleMs = idleness.lastedMs(nowMs, isBusy);
    if (listRefresh.isRunning || idleMs < server.idleTimeoutMs || nowMs - state.sinceMs < deps.settings().idleGraceMs)
      return;
    if (server.staysForClients && users.areConnected) return;
    users.processEnded(`it was stopped after ${toDurationText(idleMs)} without use`);
    apply({ kind: "idle" });
    dropConnection();
    deps.events.emit({ type: "mcp.server.dormant", ...about(), idleMs: Math.round(idleMs) });
  }

  return {
    id,
    owner,
    get server() {
      return server;
    },
    get state() {
      return state;
    },
    get status() {
      return toStatus(state);
    },
    get connection() {
      return connection;
    },
    get pid() {
      return connection?.pid;
    },
    get stderr() {
      return serverEvents.stderr;
    },
    statusView: () => toStatusView(id, server, state),
    users,
    acquire,
    async settled(signal) {
      if (state.kind === "new") start("first");
      if (state.kind === "needs-login") await startAfterLogin();
      if (state.kind === "starting") await settling.wait(signal).catch(() => undefined);
    },
    adopt,
    start,
    async restart(signal) {
      users.processEnded("it was restarted by hand");
      abandonStart(new GatewayError("SERVER_STARTING", `${server.slug} is being restarted`));
      crashes.forget();
      start("restart");
      if (state.kind === "starting")
        deps.events.emit({ type: "mcp.server.restarted", ...about(), reason: "asked for" });
      await acquire(signal);
    },
    async stop() {
      users.processEnded("it was stopped by hand");
      abandonStart(new GatewayError("SERVER_STOPPED", `${server.slug} was stopped by hand`));
      apply({ kind: "stop" });
      waiters.rejectAll(() => toRefusal(server.slug, state));
      await stopping;
    },
    async refresh(signal) {
      await listRefresh.refresh(signal);
    },
    async reconfigure(next) {
      server = next;
      deps.onChange();
      const kept = await deps.keeper.load(id);
      if (kept?.hash === server.hash && deps.catalog.get(id) !== undefined) refresher.adopt(kept.lists);
    },
    noteFailure(error) {
      if (isStdio || state.kind !== "online") return;
      // HTTP 403: this call wants more than the login allows; the others go on.
      if (error.code === "SERVER_NEEDS_LOGIN" && error.data?.["status"] === 403) return;
      if (error.code === "SERVER_NEEDS_LOGIN") apply({ kind: "refused-login", cause: error });
      else if (error.code === "CONNECT_FAILED") apply({ kind: "unreachable", cause: error });
      else return;
      users.processEnded(`its connection was lost: ${error.message}`);
      dropConnection();
    },
    hold: idleness.hold,
    tick() {
      const nowMs = deps.clock.monotonic();
      checkIdle(nowMs);
      const sinceTryMs = nowMs - (lastTryMs ?? 0);
      if ((state.kind === "offline" || state.kind === "error") && sinceTryMs >= deps.settings().probeIntervalMs)
        start("recovery");
      else if (state.kind === "online" && !listRefresh.isRunning && listRefresh.isDue())
        listRefresh.refreshQuietly("due");
      else if (state.kind === "needs-login") void startAfterLogin();
    },
    async remove(why) {
      lifetime.abort(toRemovalError(server.slug, why));
      abandonStart(toRemovalError(server.slug, why));
      apply({ kind: "remove", why });
      waiters.rejectAll(() => toRefusal(server.slug, state));
      deps.catalog.remove(id);
      await stopping;
    },
  };
}

/** Settles when both have, however they end. */
function joined(first: Promise<void>, second: PromiseLike<void>): Promise<void> {
  return Promise.allSettled([first, second]).then(() => undefined);
}

import type { ServerStanding } from "../catalog/view.ts";
import type { ServerConfig } from "../config/config.ts";
import { GatewayError, toGatewayError } from "../shared/gateway-error.ts";
import type { Era } from "../shared/call-context.ts";
import type { InstanceId, PrincipalId } from "../shared/ids.ts";
import type { JsonObject } from "../shared/json-bytes.ts";
import type { InstanceStatus } from "../shared/status.ts";
import type { Closed, Connection, ConnectionEvents } from "../upstream/connection.ts";
import { judgeCrash, recentCrashes } from "./crashes.ts";
import { createCoalescer } from "./coalescer.ts";
import type { InstanceDeps, KeptCatalog } from "./parts.ts";
import { createRefresher } from "./refresh.ts";
import { admit, transition, type InstanceEvent, type InstanceState, type StartReason } from "./state.ts";
import { statusTable, toReason, toRefusal, toStatus } from "./status.ts";
import { createWaiters } from "./waiters.ts";

/** One server as run for one principal, or shared by all: its configuration, its connection or process, its status. */
export interface Instance {
  readonly id: InstanceId;
  readonly server: ServerConfig;
  readonly owner: PrincipalId | null;
  readonly state: InstanceState;
  readonly status: InstanceStatus;
  readonly connection: Connection | undefined;
  /** The last lines of its stderr, oldest first. */
  readonly stderr: readonly string[];
  standing(): ServerStanding;
  /**
   * The connection, at once when there is one; otherwise after a start that all callers share. Throws or rejects with what
   * `toRefusal` says for states in which a call is not admitted, and with the cause when the start fails.
   */
  acquire(signal: AbortSignal): Connection | Promise<Connection>;
  /** Resolves when it is no longer starting, however that ended, or when the signal aborts. */
  settled(signal: AbortSignal): Promise<void>;
  /** Begins its life: with what was kept on disk of it, when that fits the configuration; a stdio server then waits until it is needed. */
  adopt(kept: KeptCatalog | undefined): void;
  start(why: StartReason): void;
  /** Stops what runs, forgets crashes, starts again; resolves when it is up, rejects with the cause when not. */
  restart(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** Fetches its lists again; the old ones stay in force until the new ones are complete. */
  refresh(signal: AbortSignal): Promise<void>;
  /** A call found the server unreachable or wanting a login. */
  noteFailure(error: GatewayError): void;
  /** Keeps it from being stopped for idleness while something listens. Returns the release. */
  hold(): () => void;
  /** Called every few seconds: idle stop, probes, due refreshes. */
  tick(): void;
  remove(): Promise<void>;
}

const keptStderrLines = 20;
/** Launchers that may download before they start (DESIGN.md section 7): until first online they get longer. */
const slowLaunchers = /(^|[\\/])(npx|uvx|docker|podman|pnpm|bunx)(\.cmd|\.exe)?$/i;
const startTimeoutMs = 30_000;
const slowStartTimeoutMs = 120_000;

export function createInstance(options: { id: InstanceId; server: ServerConfig; owner: PrincipalId | null; missing: readonly string[] }, deps: InstanceDeps): Instance {
  const { id, server, owner } = options;
  const refresher = createRefresher(server, id, deps);
  const waiters = createWaiters<Connection>();
  const settling = createWaiters<undefined>();
  let state: InstanceState = firstState(server, options.missing);
  let connection: (Connection & { readonly pid?: number }) | undefined;
  let attempt: AbortController | undefined;
  let stopping: Promise<void> = Promise.resolve();
  let eras: readonly Era[] | undefined = undefined;
  let crashesMs: readonly number[] = [];
  let lastTryMs: number | undefined;
  let everOnline = false;
  let stderr: readonly string[] = [];
  let holds = 0;
  let lastUseMs = deps.clock.monotonic();
  let cancelRetry: (() => void) | undefined;
  let refreshing: Promise<void> | undefined;
  const lifetime = new AbortController();
  const refreshSoon = createCoalescer(deps.clock, 1_000, () => refreshQuietly("list_changed"));

  function adopt(kept: KeptCatalog | undefined): void {
    if (state.kind === "disabled" || state.kind === "unconfigured" || state.kind === "removed") return;
    if (kept !== undefined && kept.hash === server.hash && deps.catalog.get(id) === undefined) {
      refresher.adopt(kept.lists);
      eras ??= kept.lists.eras;
      everOnline = true;
      if (server.transport.kind === "stdio") apply({ kind: "idle" });
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
      deps.log.info({ component: "instance", server: server.slug, instance: id, operation: event.kind }, `${id}: ${from} -> ${to}${reason === "" ? "" : `: ${reason}`}`);
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
    lastUseMs = nowMs;
    switch (admit(state, { nowMs, lastTryMs, hasConnection: connection !== undefined })) {
      case "call":
        return connection as Connection;
      case "start":
        start("demand");
        return waiters.wait(signal);
      case "wait":
        return waiters.wait(signal);
      case "refuse":
        throw toRefusal(server.slug, state);
    }
  }

  function start(why: StartReason): void {
    const before = state;
    apply({ kind: "start", why });
    if (state === before || state.kind !== "starting") return;
    cancelRetry?.();
    cancelRetry = undefined;
    lastTryMs = deps.clock.monotonic();
    const controller = new AbortController();
    attempt = controller;
    void runStart(controller, why).catch((error: unknown) => startFailed(controller, toGatewayError(error)));
  }

  async function runStart(controller: AbortController, why: StartReason): Promise<void> {
    const startedMs = deps.clock.monotonic();
    if (deps.starts.waiting >= deps.settings.startQueue) throw new GatewayError("START_QUEUE_FULL", `${server.slug} is not started: ${deps.starts.waiting} starts are waiting already`);
    const release = await deps.starts.acquire(controller.signal);
    let opened: Connection & { readonly pid?: number };
    try {
      await stopping;
      apply({ kind: "phase", phase: "connecting" });
      opened = await openInTime(controller);
    } finally {
      release();
    }
    if (controller.signal.aborted) {
      await opened[Symbol.asyncDispose]();
      return;
    }
    const wakes = everOnline && why === "demand";
    takeConnection(opened);
    if (deps.catalog.get(id) === undefined) {
      apply({ kind: "phase", phase: "discovering" });
      waiters.resolveAll(opened);
      await refresher.refresh(opened, controller.signal);
      apply({ kind: "phase", phase: "syncing" });
    } else {
      waiters.resolveAll(opened);
    }
    if (attempt !== controller) return;
    attempt = undefined;
    apply({ kind: "started" });
    everOnline = true;
    const durationMs = Math.round(deps.clock.monotonic() - startedMs);
    deps.events.emit(wakes ? { type: "mcp.server.respawned", ...about(), durationMs } : { type: "mcp.server.started", ...about(), pid: opened.pid, durationMs });
    if (isDueForRefresh()) refreshQuietly("revalidate");
  }

  async function openInTime(controller: AbortController): Promise<Connection & { readonly pid?: number }> {
    const limitMs = server.startTimeoutMs ?? (!everOnline && server.transport.kind === "stdio" && slowLaunchers.test(server.transport.command) ? slowStartTimeoutMs : startTimeoutMs);
    const deadline = new AbortController();
    const cancelDeadline = deps.clock.after(limitMs, () => deadline.abort(new GatewayError("START_TIMEOUT", `${server.slug} did not come up within ${limitMs / 1_000} s`, { data: { stderr } })));
    const forward = () => deadline.abort(controller.signal.reason);
    controller.signal.addEventListener("abort", forward, { once: true });
    try {
      return await deps.open(server, id, { knownEras: eras, events: connectionEvents() }, deadline.signal);
    } finally {
      cancelDeadline();
      controller.signal.removeEventListener("abort", forward);
    }
  }

  function takeConnection(opened: Connection & { readonly pid?: number }): void {
    connection = opened;
    eras = opened.peer.eras;
    void opened.closed.then((closed) => connectionClosed(opened, closed));
  }

  function startFailed(controller: AbortController, cause: GatewayError): void {
    if (attempt !== controller) return;
    attempt = undefined;
    dropConnection();
    if (cause.code === "UPSTREAM_CLOSED" && server.transport.kind === "stdio") crashed(cause, 0);
    else if (cause.code === "SERVER_NEEDS_LOGIN") apply({ kind: "refused-login", cause });
    else if (cause.code === "CONNECT_FAILED" || cause.code === "UPSTREAM_HTTP" || cause.code === "UPSTREAM_CLOSED") apply({ kind: "unreachable", cause });
    else apply({ kind: "start-failed", cause });
    waiters.rejectAll(() => (state.kind === "backoff" ? copyOf(cause) : toRefusal(server.slug, state)));
  }

  function connectionClosed(closedOne: Connection, closed: Closed): void {
    if (connection !== closedOne) return;
    connection = undefined;
    if (closed.kind === "asked") return;
    const starting = attempt;
    const cause = closedCause(closed);
    if (starting !== undefined) {
      startFailed(starting, cause);
      starting.abort(cause);
      return;
    }
    if (server.transport.kind !== "stdio") {
      apply({ kind: "unreachable", cause });
      return;
    }
    crashed(cause, state.kind === "online" ? deps.clock.monotonic() - state.sinceMs : 0, closed);
  }

  function crashed(cause: GatewayError, uptimeMs: number, closed?: Closed): void {
    const nowMs = deps.clock.monotonic();
    crashesMs = [...recentCrashes(crashesMs, nowMs), nowMs];
    const verdict = judgeCrash(crashesMs, uptimeMs);
    const exit = closed?.kind === "exited" ? closed : undefined;
    deps.events.emit({ type: "mcp.server.crashed", ...about(), exitCode: exit?.code ?? null, signal: exit?.signal ?? null, crashes: crashesMs.length, stderr });
    apply({ kind: "crashed", cause, verdict });
    if (state.kind === "failed") {
      deps.events.emit({ type: "mcp.server.permanently_failed", ...about(), reason: cause.message });
      waiters.rejectAll(() => toRefusal(server.slug, state));
    } else if (state.kind === "backoff" && verdict.kind === "restart") {
      if (verdict.afterMs === 0) start("recovery");
      else cancelRetry = deps.clock.after(verdict.afterMs, () => start("recovery"));
      deps.events.emit({ type: "mcp.server.restarted", ...about(), reason: cause.message });
    }
  }

  function closedCause(closed: Closed): GatewayError {
    if (closed.kind === "exited") {
      const how = closed.signal === null ? `exited with code ${closed.code}` : `was ended by ${closed.signal}`;
      return new GatewayError("UPSTREAM_CLOSED", `${server.slug} ${how}`, { data: { exitCode: closed.code, signal: closed.signal, stderr: closed.stderr } });
    }
    return new GatewayError(server.transport.kind === "stdio" ? "UPSTREAM_CLOSED" : "CONNECT_FAILED", closed.kind === "lost" ? closed.reason : `${server.slug} was stopped`, { data: { stderr } });
  }

  /** Ends the connection; what is started next waits until it is gone, so that there is never a second process. */
  function dropConnection(): void {
    const old = connection;
    connection = undefined;
    if (old !== undefined) stopping = Promise.all([stopping, old[Symbol.asyncDispose]()]).then(() => undefined, () => undefined);
  }

  function abandonStart(reason: GatewayError): void {
    cancelRetry?.();
    cancelRetry = undefined;
    const starting = attempt;
    attempt = undefined;
    starting?.abort(reason);
    dropConnection();
  }

  function isDueForRefresh(): boolean {
    if (refresher.refreshedAtMs === undefined) return true;
    const part = deps.catalog.get(id);
    const ageMs = deps.clock.monotonic() - refresher.refreshedAtMs;
    if (part?.ttlMs !== undefined && part.ttlMs > 0) return ageMs >= Math.max(part.ttlMs, deps.settings.idleCheckMs);
    return !tellsOfChanges(part?.capabilities) && ageMs >= deps.settings.refreshIntervalMs;
  }

  function refreshQuietly(operation: string): void {
    void refresh(lifetime.signal).catch((error: unknown) => {
      deps.log.warn({ component: "instance", server: server.slug, operation }, `${id}: its lists could not be fetched again, the old ones stay: ${toGatewayError(error).message}`);
    });
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    if (refreshing !== undefined) return await refreshing;
    refreshing = (async () => refresher.refresh(connection ?? (await acquire(signal)), signal))();
    try {
      await refreshing;
    } finally {
      refreshing = undefined;
    }
  }

  function connectionEvents(): ConnectionEvents {
    return {
      onNotification: (method, params) => receive(method, params),
      onStderr(line) {
        stderr = [...stderr.slice(1 - keptStderrLines), line];
        deps.log.debug({ component: "server", server: server.slug, operation: "stderr" }, line);
        deps.events.emit({ type: "mcp.server.logs", ...about(), level: "stderr", line });
      },
      onOddity(kind, detail) {
        deps.log.debug({ component: "upstream", server: server.slug, operation: kind }, detail);
        deps.events.emit({ type: "upstream.oddity", ...about(), kind, detail });
      },
    };
  }

  function receive(method: string, params: JsonObject): void {
    if (method.endsWith("/list_changed")) refreshSoon();
    else if (method === "notifications/resources/updated" && typeof params["uri"] === "string") deps.events.emit({ type: "resource.updated", ...about(), uri: params["uri"] });
    else if (method === "notifications/message") deps.events.emit({ type: "mcp.server.logs", ...about(), level: String(params["level"]), line: JSON.stringify(params["data"] ?? "").slice(0, 4_096) });
  }

  function checkIdle(nowMs: number): void {
    if (state.kind !== "online" || server.transport.kind !== "stdio" || connection === undefined) return;
    if (connection.inFlight > 0 || holds > 0) lastUseMs = nowMs;
    const idleMs = nowMs - lastUseMs;
    if (refreshing !== undefined || idleMs < server.idleTimeoutMs || nowMs - state.sinceMs < deps.settings.idleGraceMs) return;
    apply({ kind: "idle" });
    dropConnection();
    deps.events.emit({ type: "mcp.server.dormant", ...about(), idleMs: Math.round(idleMs) });
  }

  return {
    id,
    server,
    owner,
    get state() {
      return state;
    },
    get status() {
      return toStatus(state);
    },
    get connection() {
      return connection;
    },
    get stderr() {
      return stderr;
    },
    standing() {
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
        shown: statusTable[status].shown,
      };
    },
    acquire,
    async settled(signal) {
      if (state.kind === "new") start("first");
      if (state.kind === "starting") await settling.wait(signal).catch(() => undefined);
    },
    adopt,
    start,
    async restart(signal) {
      abandonStart(new GatewayError("SERVER_STARTING", `${server.slug} is being restarted`));
      crashesMs = [];
      if (state.kind === "online" || state.kind === "starting") apply({ kind: "stop" });
      start("restart");
      deps.events.emit({ type: "mcp.server.restarted", ...about(), reason: "asked for" });
      await acquire(signal);
    },
    async stop() {
      abandonStart(new GatewayError("SERVER_STOPPED", `${server.slug} was stopped by hand`));
      apply({ kind: "stop" });
      waiters.rejectAll(() => toRefusal(server.slug, state));
      await stopping;
    },
    refresh,
    noteFailure(error) {
      if (server.transport.kind === "stdio" || state.kind !== "online") return;
      if (error.code === "SERVER_NEEDS_LOGIN") apply({ kind: "refused-login", cause: error });
      else if (error.code === "CONNECT_FAILED") apply({ kind: "unreachable", cause: error });
      else return;
      dropConnection();
    },
    hold() {
      holds += 1;
      let held = true;
      return () => {
        if (held) holds -= 1;
        held = false;
      };
    },
    tick() {
      const nowMs = deps.clock.monotonic();
      checkIdle(nowMs);
      const sinceTryMs = nowMs - (lastTryMs ?? 0);
      if ((state.kind === "offline" || state.kind === "error") && sinceTryMs >= deps.settings.probeIntervalMs) start("recovery");
      else if (state.kind === "online" && refreshing === undefined && isDueForRefresh()) refreshQuietly("due");
    },
    async remove() {
      lifetime.abort(new GatewayError("SERVER_UNKNOWN", `${server.slug} was removed`));
      abandonStart(new GatewayError("SERVER_UNKNOWN", `${server.slug} was removed`));
      apply({ kind: "remove" });
      waiters.rejectAll(() => toRefusal(server.slug, state));
      deps.catalog.remove(id);
      await stopping;
    },
  };
}

function firstState(server: ServerConfig, missing: readonly string[]): InstanceState {
  if (server.disabledReason !== undefined) return { kind: "disabled", reason: server.disabledReason };
  return missing.length > 0 ? { kind: "unconfigured", missing } : { kind: "new" };
}

function tellsOfChanges(capabilities: JsonObject | undefined): boolean {
  const tools = capabilities?.["tools"];
  return typeof tools === "object" && tools !== null && (tools as JsonObject)["listChanged"] === true;
}

function copyOf(cause: GatewayError): GatewayError {
  return new GatewayError(cause.code, cause.message, cause.data === undefined ? {} : { data: cause.data });
}

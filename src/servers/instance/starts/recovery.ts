import { hasProcess } from "../../../config/entry/transports.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Closed, Connection } from "../../upstream/connection.ts";
import type { Attempts } from "./attempts.ts";
import {
  copyOf,
  exitOf,
  isCleanEnd,
  isElsewhere,
  toClosedCause,
  toEndReason,
  withStartHint,
  withStderrSummary,
} from "./closed-cause.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { LoginNotice } from "./login-notice.ts";
import type { ServerEvents } from "../lists/server-events.ts";
import { atLoginPage, toReason, toRefusal } from "../state-status.ts";
import type { Users } from "../users.ts";
import type { Waiters } from "../waiters.ts";
import type { CrashVerdict, InstanceEvent } from "../state.ts";

/**
 * Handles failed starts, crashes and lost connections: it sets the state, and plans another start where one makes
 * sense.
 */
export interface Recovery {
  /** Call when a start begins, for whatever reason; a planned one is then cancelled. */
  noteStart(isLastTry: boolean): void;
  /** Call when a start has succeeded. */
  noteUp(): void;
  /** Cancels the planned start. */
  cancel(): void;
  /** Forgets earlier crashes. */
  forget(): void;
  /** Call when a start has failed. */
  startFailed(cause: GatewayError): void;
  /** Call when the connection ended. */
  connectionClosed(closed: Closed): void;
  /**
   * Call when a request found the server unreachable, or was refused for want of a login. Returns the failure as it is
   * to be told.
   */
  noteFailure(error: GatewayError): GatewayError;
  /**
   * Starts the server if somebody has logged in since the last start; without a new login it would only be refused
   * again.
   */
  startAfterLogin(): Promise<void>;
  /** Starts servers that have been unreachable for long enough, and those for which somebody has logged in. */
  tick(nowMs: number): void;
}

/** The parts of an instance that recovery needs. */
export interface RecoveryParts {
  readonly life: Life;
  readonly held: HeldConnection;
  readonly users: Users;
  readonly waiters: Waiters<Connection>;
  readonly attempts: Attempts;
  readonly login: LoginNotice;
  readonly serverEvents: ServerEvents;
}

type Deps = Pick<InstanceDeps, "clock" | "events" | "settings" | "loginPage" | "catalog">;

/** No start is planned at first. */
export function createRecovery(parts: RecoveryParts, deps: Deps): Recovery {
  const { life, held, users, waiters, attempts, login, serverEvents } = parts;
  const canCrash = hasProcess(life.server.transport);
  const crashes = createCrashCount(deps.settings);
  let cancelRetry: (() => void) | undefined;
  const toTold = (failure: GatewayError): GatewayError => atLoginPage(failure, deps.loginPage?.(life.id));

  function cancel(): void {
    cancelRetry?.();
    cancelRetry = undefined;
  }

  const leave = (): void => life.apply({ kind: "moved", isKnown: deps.catalog.get(life.id) !== undefined });

  function startFailed(cause: GatewayError): void {
    if (isElsewhere(cause)) leave();
    // What became of it at another node, which looks after it.
    else if (cause.data?.["node"] === undefined && cause.code === "UPSTREAM_CLOSED" && canCrash)
      crashed(withStartHint(cause), 0);
    else life.apply(toStartEvent(cause, toTold));
    waiters.rejectAll(() => toStartRefusal(life, cause));
  }

  function crashed(cause: GatewayError, uptimeMs: number): void {
    const verdict = crashes.judge(deps.clock.monotonic(), uptimeMs);
    const { count } = crashes;
    const { stderr } = serverEvents;
    deps.events.emit({ type: "mcp.server.crashed", ...life.about(), ...exitOf(cause), crashes: count, stderr });
    life.apply({ kind: "crashed", cause, verdict });
    if (life.state.kind === "failed") {
      deps.events.emit({ type: "mcp.server.permanently_failed", ...life.about(), reason: toReason(life.state) });
      waiters.rejectAll(() => toRefusal(life.server.slug, life.state));
    } else if (life.state.kind === "backoff" && verdict.kind === "restart") {
      if (verdict.afterMs === 0) attempts.start("recovery");
      else cancelRetry = deps.clock.after(verdict.afterMs, () => attempts.start("recovery"));
      deps.events.emit({ type: "mcp.server.restarted", ...life.about(), reason: cause.message });
    }
  }

  async function startAfterLogin(): Promise<void> {
    if (!(await login.isNew()) || life.state.kind !== "needs-login") return;
    deps.events.emit({ type: "auth.login", ...life.about() });
    attempts.start("recovery");
  }

  return {
    noteStart(isLastTry) {
      cancel();
      crashes.isLastTry = isLastTry;
    },
    noteUp() {
      crashes.isLastTry = false;
    },
    ...{ cancel, forget: crashes.forget, startFailed },
    connectionClosed(closed) {
      users.processEnded(toEndReason(closed));
      if (closed.kind === "asked") return;
      if (closed.kind === "moved" && life.state.kind === "online") return leave();
      if (isCleanEnd(closed) && life.state.kind === "online") return fallAsleep(life, deps);
      const cause = toClosedCause(life.server.slug, canCrash, closed, serverEvents.sinceStart);
      if (attempts.fail(cause)) return;
      if (canCrash) crashed(cause, life.state.kind === "online" ? deps.clock.monotonic() - life.state.sinceMs : 0);
      else life.apply({ kind: "unreachable", cause });
    },
    noteFailure(error) {
      const told = toTold(error);
      // With a process, the end of the process tells what happened.
      if (canCrash || life.state.kind !== "online" || isForMore(told) || isOfOne(told, held)) return told;
      if (told.code === "SERVER_NEEDS_LOGIN") life.apply({ kind: "refused-login", cause: told });
      else if (told.code === "CONNECT_FAILED") life.apply({ kind: "unreachable", cause: told });
      else return told;
      users.processEnded(`its connection was lost: ${error.message}`);
      held.drop();
      return told;
    },
    startAfterLogin,
    tick(nowMs) {
      const { kind } = life.state;
      if (kind === "needs-login") void startAfterLogin();
      const isDue = nowMs - (attempts.lastTryMs ?? 0) >= deps.settings().probeIntervalMs;
      if (!isDue || (kind !== "offline" && kind !== "error")) return;
      attempts.start("recovery");
    },
  };
}

function toStartEvent(cause: GatewayError, toTold: (failure: GatewayError) => GatewayError): InstanceEvent {
  if (cause.data?.["node"] !== undefined || unreachable.has(cause.code)) return { kind: "unreachable", cause };
  if (cause.code === "SERVER_NEEDS_LOGIN") return { kind: "refused-login", cause: toTold(cause) };
  return { kind: "start-failed", cause };
}

const unreachable: ReadonlySet<string> = new Set(["CONNECT_FAILED", "UPSTREAM_HTTP", "UPSTREAM_CLOSED"]);

/** What those are told who wait for a start that failed. */
function toStartRefusal({ state, server }: Pick<Life, "state" | "server">, cause: GatewayError): GatewayError {
  if (isElsewhere(cause)) return copyOf(cause);
  return state.kind === "backoff" ? copyOf(state.cause, withStderrSummary(cause)) : toRefusal(server.slug, state);
}

/** A server that ended in good order is started again by the next call. */
function fallAsleep(life: Life, { events }: Pick<Deps, "events">): void {
  life.apply({ kind: "idle" });
  events.emit({ type: "mcp.server.dormant", ...life.about(), idleMs: 0 });
}

/** HTTP 403: this call needs more than the login permits; other calls are not affected. */
function isForMore({ code, data }: GatewayError): boolean {
  return code === "SERVER_NEEDS_LOGIN" && data?.["status"] === 403;
}

/** Of several addresses, each is given up for itself. */
function isOfOne({ code }: GatewayError, { current }: HeldConnection): boolean {
  return code === "CONNECT_FAILED" && current?.replicas !== undefined;
}

/** What happens after crashes (docs/design.md, "Crashes"). */
export interface CrashPolicy {
  /**
   * Delays before the restarts after the first, second, ... crash. With one more crash than that within the window,
   * the server is given up.
   */
  readonly restartDelaysMs: readonly number[];
  /** A server that was up for this long is restarted without delay. */
  readonly steadyUptimeMs: number;
  readonly crashWindowMs: number;
}

/** The crashes within the window. */
export function recentCrashes(crashesMs: readonly number[], nowMs: number, policy: CrashPolicy): readonly number[] {
  return crashesMs.filter((atMs) => nowMs - atMs < policy.crashWindowMs);
}

/** What to do after the newest of `crashesMs` (all within the window), when the server was up for `uptimeMs`. */
export function judgeCrash(crashesMs: readonly number[], uptimeMs: number, policy: CrashPolicy): CrashVerdict {
  const delayMs = policy.restartDelaysMs[Math.max(0, crashesMs.length - 1)];
  if (delayMs === undefined) return { kind: "give-up" };
  return { kind: "restart", afterMs: uptimeMs >= policy.steadyUptimeMs ? 0 : delayMs };
}

/** Counts the crashes of one instance. */
export interface CrashCount {
  /** Notes a crash and decides what to do. */
  judge(nowMs: number, uptimeMs: number): CrashVerdict;
  /** The number of crashes within the window. */
  readonly count: number;
  /** True while a server that had been given up is tried once more: a single crash then gives it up again. */
  isLastTry: boolean;
  /** Forgets all crashes. */
  forget(): void;
}

/** No crashes yet. `policy` is asked at every crash, because the configuration may change. */
export function createCrashCount(policy: () => CrashPolicy): CrashCount {
  let crashesMs: readonly number[] = [];
  const crashes: CrashCount = {
    isLastTry: false,
    judge(nowMs, uptimeMs) {
      const current = policy();
      crashesMs = [...recentCrashes(crashesMs, nowMs, current), nowMs];
      return crashes.isLastTry ? { kind: "give-up" } : judgeCrash(crashesMs, uptimeMs, current);
    },
    get count() {
      return crashesMs.length;
    },
    forget() {
      crashesMs = [];
    },
  };
  return crashes;
}

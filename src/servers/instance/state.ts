import type { GatewayError } from "../../kernel/gateway-error.ts";

/** Where an instance stands inside. Times are monotonic ms. */
export type InstanceState =
  /** The configuration does not want it. */
  | { readonly kind: "disabled"; readonly reason: string }
  /** Its person has not given what it requires; nothing is started. */
  | { readonly kind: "unconfigured"; readonly missing: readonly string[] }
  /** Never started in this life of the gateway, and its tools are not known. */
  | { readonly kind: "new" }
  | {
      readonly kind: "starting";
      readonly phase: StartPhase;
      readonly sinceMs: number;
      readonly why: StartReason;
      /** It was down, and nobody knows yet whether this try helps: until it answers it is shown as it was. */
      readonly down?: DownState;
    }
  | { readonly kind: "online"; readonly sinceMs: number }
  /** Tools known, no process: a call starts it. */
  | { readonly kind: "dormant"; readonly sinceMs: number }
  /** Crashed; started again at `retryAtMs`. */
  | { readonly kind: "backoff"; readonly retryAtMs: number; readonly cause: GatewayError }
  /** A remote server that does not answer; a call or a probe tries again. */
  | { readonly kind: "offline"; readonly cause: GatewayError; readonly sinceMs: number }
  /** It could not be started, or does not speak MCP; a call tries again. */
  | { readonly kind: "error"; readonly cause: GatewayError; readonly sinceMs: number }
  | { readonly kind: "needs-login"; readonly cause: GatewayError; readonly sinceMs: number }
  /** Given up after too many crashes. */
  | { readonly kind: "failed"; readonly cause: GatewayError; readonly sinceMs: number }
  /** Stopped by a person. */
  | { readonly kind: "stopped"; readonly sinceMs: number }
  /** Gone for good. */
  | { readonly kind: "removed"; readonly why: RemovalReason };

/**
 * It is no longer in the configuration, it is replaced by one as the configuration is now, its only client has gone,
 * or the gateway ends.
 */
export type RemovalReason = "unconfigured" | "reconfigured" | "client-gone" | "stopping";

/** What a call, a probe, or a restart after a crash, tries to change. */
export type DownState = Extract<InstanceState, { kind: "backoff" | "offline" | "error" | "needs-login" | "failed" }>;

/** How an instance begins: as its configuration and its person allow. */
export function firstState(disabledReason: string | undefined, missing: readonly string[]): InstanceState {
  if (disabledReason !== undefined) return { kind: "disabled", reason: disabledReason };
  return missing.length > 0 ? { kind: "unconfigured", missing } : { kind: "new" };
}

export type StartPhase = "commanded" | "queued" | "connecting" | "discovering" | "syncing";
export type StartReason = "first" | "demand" | "restart" | "recovery";

export type InstanceEvent =
  | { readonly kind: "start"; readonly why: StartReason }
  | { readonly kind: "phase"; readonly phase: StartPhase }
  | { readonly kind: "started" }
  | { readonly kind: "start-failed"; readonly cause: GatewayError }
  | { readonly kind: "crashed"; readonly cause: GatewayError; readonly verdict: CrashVerdict }
  | { readonly kind: "unreachable"; readonly cause: GatewayError }
  | { readonly kind: "refused-login"; readonly cause: GatewayError }
  | { readonly kind: "idle" }
  | { readonly kind: "stop" }
  | { readonly kind: "remove"; readonly why: RemovalReason };

export type CrashVerdict = { readonly kind: "restart"; readonly afterMs: number } | { readonly kind: "give-up" };

/**
 * The next state, or the same one where the event has come too late to matter. Pure and exhaustive: a new state or
 * event does not compile until it is handled.
 */
export function transition(state: InstanceState, event: InstanceEvent, nowMs: number): InstanceState {
  if (state.kind === "removed") return state;
  if (event.kind === "remove") return { kind: "removed", why: event.why };
  if (state.kind === "disabled" || state.kind === "unconfigured") return state;
  switch (event.kind) {
    case "start":
      // A restart by hand is one from any state; the one before it has been abandoned.
      if (event.why !== "restart" && (state.kind === "online" || state.kind === "starting")) return state;
      return {
        kind: "starting",
        phase: event.why === "restart" ? "commanded" : "queued",
        sinceMs: nowMs,
        why: event.why,
        ...(event.why !== "restart" && isDown(state) ? { down: state } : {}),
      };
    case "phase":
      return state.kind === "starting" ? { ...state, phase: event.phase } : state;
    case "started":
      return state.kind === "starting" ? { kind: "online", sinceMs: nowMs } : state;
    case "start-failed":
      return { kind: "error", cause: event.cause, sinceMs: nowMs };
    case "crashed":
      if (state.kind === "stopped" || state.kind === "dormant") return state;
      return event.verdict.kind === "give-up"
        ? { kind: "failed", cause: event.cause, sinceMs: nowMs }
        : { kind: "backoff", retryAtMs: nowMs + event.verdict.afterMs, cause: event.cause };
    case "unreachable":
      return state.kind === "stopped" ? state : { kind: "offline", cause: event.cause, sinceMs: nowMs };
    case "refused-login":
      return state.kind === "stopped" ? state : { kind: "needs-login", cause: event.cause, sinceMs: nowMs };
    case "idle":
      return state.kind === "online" || state.kind === "new" ? { kind: "dormant", sinceMs: nowMs } : state;
    case "stop":
      return { kind: "stopped", sinceMs: nowMs };
  }
}

function isDown(state: InstanceState): state is DownState {
  return "cause" in state;
}

/** What a call for an instance in this state does. */
export type Admission = "call" | "start" | "wait" | "refuse";

export interface AdmissionFacts {
  readonly nowMs: number;
  /** When a start was last tried; undefined when never. */
  readonly lastTryMs: number | undefined;
  readonly hasConnection: boolean;
  /** A call for a server that is down tries at once, but not more often than this. */
  readonly callRetryMs: number;
  /** A call for a server that was given up tries once in this time. */
  readonly failedRetryMs: number;
}

export function admit(state: InstanceState, facts: AdmissionFacts): Admission {
  const sinceTryMs = facts.lastTryMs === undefined ? Number.POSITIVE_INFINITY : facts.nowMs - facts.lastTryMs;
  switch (state.kind) {
    case "online":
      return facts.hasConnection ? "call" : "wait";
    case "starting":
      return facts.hasConnection ? "call" : "wait";
    case "backoff":
      return "wait";
    case "new":
    case "dormant":
      return "start";
    case "offline":
    case "error":
      return sinceTryMs >= facts.callRetryMs ? "start" : "refuse";
    case "failed":
      return facts.nowMs - state.sinceMs >= facts.failedRetryMs ? "start" : "refuse";
    case "needs-login":
    case "disabled":
    case "unconfigured":
    case "stopped":
    case "removed":
      return "refuse";
  }
}

import type { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** The internal state of an instance. Times are monotonic ms. */
export type InstanceState =
  /** Disabled in the configuration. */
  | { readonly kind: "disabled"; readonly reason: string }
  /** Its person has not given all required values, so it is not started. */
  | { readonly kind: "unconfigured"; readonly missing: readonly string[]; readonly advice?: string | undefined }
  /** Not started yet in this run of the gateway, and without known tools. */
  | { readonly kind: "new" }
  | {
      readonly kind: "starting";
      readonly phase: StartPhase;
      readonly sinceMs: number;
      readonly why: StartReason;
      /**
       * Set when it was down before. Until the start succeeds it is shown with the old status, because it may fail
       * again.
       */
      readonly down?: DownState;
    }
  /** `note` is a problem of it although it answers. */
  | { readonly kind: "online"; readonly sinceMs: number; readonly note?: string | undefined }
  /** Its tools are known but it has no process; a call starts it. */
  | { readonly kind: "dormant"; readonly sinceMs: number }
  /** It crashed, and is started again at `retryAtMs`. */
  | { readonly kind: "backoff"; readonly retryAtMs: number; readonly cause: GatewayError }
  /** A remote server that does not answer. A call or a probe tries again. */
  | { readonly kind: "offline"; readonly cause: GatewayError; readonly sinceMs: number }
  /** It could not be started, or does not speak MCP. A call tries again. */
  | { readonly kind: "error"; readonly cause: GatewayError; readonly sinceMs: number }
  | { readonly kind: "needs-login"; readonly cause: GatewayError; readonly sinceMs: number }
  /** Given up after too many crashes. */
  | { readonly kind: "failed"; readonly cause: GatewayError; readonly sinceMs: number }
  /** Stopped by a person. */
  | { readonly kind: "stopped"; readonly sinceMs: number }
  /** Removed for good. */
  | { readonly kind: "removed"; readonly why: RemovalReason };

/**
 * Why an instance is removed: its server is no longer in the configuration, another instance with the changed
 * configuration replaces it, its only client has disconnected, or the gateway is stopping.
 */
export type RemovalReason = "unconfigured" | "reconfigured" | "client-gone" | "stopping";

/** States that end with a successful start, which a call, a probe or a planned restart may attempt. */
export type DownState = Extract<InstanceState, { kind: "backoff" | "offline" | "error" | "needs-login" | "failed" }>;

/** The state of a new instance, given its configuration and its person's values. */
export function firstState(
  disabledReason: string | undefined,
  missing: readonly string[],
  advice?: string,
): InstanceState {
  if (disabledReason !== undefined) return { kind: "disabled", reason: disabledReason };
  return missing.length > 0 ? { kind: "unconfigured", missing, advice } : { kind: "new" };
}

/** How far a start has come. */
export type StartPhase = "commanded" | "queued" | "connecting" | "discovering" | "syncing";
/** Why a start was begun: it is the first, a call needs the server, somebody requested a restart, or it was down. */
export type StartReason = "first" | "demand" | "restart" | "recovery";

/** What can happen to an instance. */
export type InstanceEvent =
  | { readonly kind: "start"; readonly why: StartReason }
  | { readonly kind: "phase"; readonly phase: StartPhase }
  | { readonly kind: "started" }
  | { readonly kind: "start-failed"; readonly cause: GatewayError }
  | { readonly kind: "crashed"; readonly cause: GatewayError; readonly verdict: CrashVerdict }
  | { readonly kind: "unreachable"; readonly cause: GatewayError }
  | { readonly kind: "refused-login"; readonly cause: GatewayError }
  | { readonly kind: "noted"; readonly note: string | undefined }
  | { readonly kind: "idle" }
  /** Its process is another node's from now on; `isKnown`: its tools are. */
  | { readonly kind: "moved"; readonly isKnown: boolean }
  | { readonly kind: "stop" }
  | { readonly kind: "remove"; readonly why: RemovalReason };

/** What to do after a crash. */
export type CrashVerdict = { readonly kind: "restart"; readonly afterMs: number } | { readonly kind: "give-up" };

/**
 * The next state, or the same one when the event comes too late to matter. Pure and exhaustive: a new state or event
 * does not compile until it is handled.
 */
export function transition(state: InstanceState, event: InstanceEvent, nowMs: number): InstanceState {
  if (state.kind === "removed") return state;
  if (event.kind === "remove") return { kind: "removed", why: event.why };
  if (state.kind === "disabled" || state.kind === "unconfigured") return state;
  switch (event.kind) {
    case "start":
      // A restart by hand begins again from any state; a start that was running has been aborted.
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
    case "noted":
      return state.kind === "online" && state.note !== event.note ? { ...state, note: event.note } : state;
    case "idle":
      return state.kind === "online" || state.kind === "new" ? { kind: "dormant", sinceMs: nowMs } : state;
    case "moved":
      if (state.kind === "stopped" || state.kind === "failed") return state;
      return event.isKnown ? { kind: "dormant", sinceMs: nowMs } : { kind: "new" };
    case "stop":
      return { kind: "stopped", sinceMs: nowMs };
  }
}

function isDown(state: InstanceState): state is DownState {
  return "cause" in state;
}

/** What a call does when it needs the connection of an instance. */
export type AcquireDecision = "call" | "start" | "wait" | "refuse";

/** What the decision depends on besides the state. */
export interface AcquireFacts {
  readonly nowMs: number;
  /** Monotonic ms at which the last start began; undefined before the first. */
  readonly lastTryMs: number | undefined;
  readonly hasConnection: boolean;
  /** A call for a server that is down starts it, but not more often than this. */
  readonly callRetryMs: number;
  /** A call for a server that was given up starts it, but not more often than this. */
  readonly failedRetryMs: number;
}

/** What a call does in this state. Pure. */
export function decideAcquire(state: InstanceState, facts: AcquireFacts): AcquireDecision {
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

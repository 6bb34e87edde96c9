import { GatewayError } from "../shared/gateway-error.ts";
import type { InstanceStatus } from "../shared/status.ts";
import type { InstanceState } from "./state.ts";

/** What the outside is told, and what follows from it (DESIGN.md section 7). One table, so that no two places disagree. */
export interface StatusRow {
  /** Lists and searches show its tools. */
  readonly shown: boolean;
  /** What execute_mcp_tool does. */
  readonly execute: "calls" | "waits" | "tries" | "refuses";
  /** What discover_mcp_tools says of it when its tools are not shown, or while it is not ready. Empty: nothing. */
  readonly discover: string;
}

export const statusTable: Readonly<Record<InstanceStatus, StatusRow>> = Object.freeze({
  awaiting_user_config: { shown: false, execute: "refuses", discover: "needs values from you before it can start" },
  provisioning: { shown: true, execute: "waits", discover: "has not been started yet" },
  command_received: { shown: true, execute: "waits", discover: "is being restarted" },
  connecting: { shown: true, execute: "waits", discover: "is starting" },
  discovering_tools: { shown: true, execute: "calls", discover: "is starting: its tools are being listed" },
  syncing_tools: { shown: true, execute: "calls", discover: "is starting: its tools are being indexed" },
  online: { shown: true, execute: "calls", discover: "" },
  restarting: { shown: true, execute: "waits", discover: "ended unexpectedly and is started again" },
  offline: { shown: false, execute: "tries", discover: "does not answer" },
  error: { shown: false, execute: "tries", discover: "could not be started" },
  requires_reauth: { shown: false, execute: "refuses", discover: "needs you to log in" },
  permanently_failed: { shown: false, execute: "tries", discover: "was given up after too many crashes" },
  disabled: { shown: false, execute: "refuses", discover: "is disabled" },
});

export function toStatus(state: InstanceState): InstanceStatus {
  switch (state.kind) {
    case "disabled":
    case "stopped":
    case "removed":
      return "disabled";
    case "unconfigured":
      return "awaiting_user_config";
    case "new":
      return "provisioning";
    case "starting":
      return startingStatus(state);
    case "online":
    case "dormant":
      return "online";
    case "backoff":
      return "restarting";
    case "offline":
      return "offline";
    case "error":
      return "error";
    case "needs-login":
      return "requires_reauth";
    case "failed":
      return "permanently_failed";
  }
}

function startingStatus(state: Extract<InstanceState, { kind: "starting" }>): InstanceStatus {
  switch (state.phase) {
    case "commanded":
      return "command_received";
    case "queued":
    case "connecting":
      return "connecting";
    case "discovering":
      return "discovering_tools";
    case "syncing":
      return "syncing_tools";
  }
}

/** One sentence: why the instance stands as it does. */
export function toReason(state: InstanceState): string {
  switch (state.kind) {
    case "disabled":
      return state.reason;
    case "unconfigured":
      return `missing: ${state.missing.join(", ")}`;
    case "new":
      return "not started yet";
    case "starting":
      return state.why === "restart" ? "restarting on request" : "starting";
    case "online":
      return "";
    case "dormant":
      return "stopped while idle; a call starts it";
    case "stopped":
      return "stopped by hand";
    case "removed":
      return "removed from the configuration";
    case "backoff":
    case "offline":
    case "error":
    case "needs-login":
    case "failed":
      return state.cause.message;
  }
}

/** The error that a call gets which is not admitted. */
export function toRefusal(server: string, state: InstanceState): GatewayError {
  switch (state.kind) {
    case "disabled":
      return new GatewayError("SERVER_DISABLED", `${server} is disabled: ${state.reason}`);
    case "removed":
      return new GatewayError("SERVER_UNKNOWN", `${server} is no longer configured`);
    case "unconfigured":
      return new GatewayError("SERVER_NEEDS_CONFIG", `${server} needs values from you: ${state.missing.join(", ")}`, { data: { missing: state.missing } });
    case "stopped":
      return new GatewayError("SERVER_STOPPED", `${server} was stopped by hand`);
    case "needs-login":
      return new GatewayError("SERVER_NEEDS_LOGIN", `${server} needs you to log in: ${state.cause.message}`, { hint: `Run \`toolyard login ${server}\`.` });
    case "offline":
      return new GatewayError("SERVER_OFFLINE", `${server} does not answer: ${state.cause.message}`);
    case "error":
      return withSameFacts(state.cause);
    case "failed":
      return new GatewayError("SERVER_FAILED", `${server} was given up after too many crashes: ${state.cause.message}`, dataOf(state.cause));
    case "new":
    case "starting":
    case "online":
    case "dormant":
    case "backoff":
      return new GatewayError("SERVER_STARTING", `${server} is starting`);
  }
}

/** A new error object for every caller: each has its own stack and may be decorated on its way. */
function withSameFacts(cause: GatewayError): GatewayError {
  return new GatewayError(cause.code, cause.message, { ...dataOf(cause), hint: cause.hint });
}

function dataOf(cause: GatewayError): { data?: Record<string, unknown> } {
  return cause.data === undefined ? {} : { data: cause.data };
}

import { GatewayError } from "../shared/gateway-error.ts";
import { copyOf } from "./closed-cause.ts";
import type { InstanceStatus } from "../shared/status.ts";
import { withLastWords } from "./last-words.ts";
import type { InstanceState, RemovalReason } from "./state.ts";

/** What the outside is told, and what follows from it (DESIGN.md section 7). One table, so that no two places disagree. */
export interface StatusRow {
  /** Lists and searches show its tools. */
  readonly shown: boolean;
  /** What execute_mcp_tool does: calls it, waits for its start, tries to start it, or refuses with the reason. */
  readonly execute: "calls" | "waits" | "tries" | "refuses";
  /** What discover_mcp_tools says of it where nothing more exact is known. */
  readonly reason: string;
  /** What discover_mcp_tools says can be done; `{server}` stands for its slug. */
  readonly action: string;
}

const searchAgain = "Search again in a few seconds.";
const starting = { shown: true, reason: "It is starting; its tools are not known yet.", action: searchAgain } as const;

export const statusTable: Readonly<Record<InstanceStatus, StatusRow>> = Object.freeze({
  awaiting_user_config: {
    shown: false,
    execute: "refuses",
    reason: "Values that it requires are missing.",
    action: "Ask the user to fill them in; the configuration of {server} lists them.",
  },
  provisioning: { ...starting, execute: "waits" },
  command_received: { ...starting, execute: "waits" },
  connecting: { ...starting, execute: "waits" },
  discovering_tools: { ...starting, execute: "calls" },
  syncing_tools: { shown: true, execute: "calls", reason: "Its tools are being read.", action: searchAgain },
  online: { shown: true, execute: "calls", reason: "It is online.", action: "Call it with execute_mcp_tool." },
  restarting: { shown: true, execute: "waits", reason: "It ended and is being started again.", action: searchAgain },
  offline: {
    shown: false,
    execute: "tries",
    reason: "It does not answer.",
    action: "Try again in a minute; the gateway keeps trying to reach it.",
  },
  error: {
    shown: false,
    execute: "tries",
    reason: "It failed to start.",
    action: "Ask the user to look at its log, and to run `toolyard restart {server}` when it is mended.",
  },
  requires_reauth: {
    shown: false,
    execute: "refuses",
    reason: "It needs a login.",
    action: "Ask the user to run `toolyard login {server}`.",
  },
  permanently_failed: {
    shown: false,
    execute: "tries",
    reason: "It crashed too often and was given up.",
    action: "Ask the user to mend it and to run `toolyard restart {server}`.",
  },
  disabled: {
    shown: false,
    execute: "refuses",
    reason: "It is switched off.",
    action:
      "Ask the user to enable {server} in the configuration, to set the variable that it lacks, or to run `toolyard restart {server}` if it was stopped.",
  },
});

/** A dormant instance is `online` without a process: a call starts it. */
export const dormantRow: StatusRow = Object.freeze({
  shown: true,
  execute: "waits",
  reason: "It sleeps and starts when it is called.",
  action: "Call it with execute_mcp_tool as usual.",
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
      return state.down === undefined ? "connecting" : toStatus(state.down);
    case "discovering":
      return "discovering_tools";
    case "syncing":
      return "syncing_tools";
  }
}

const removalReasons: Readonly<Record<RemovalReason, string>> = {
  unconfigured: "removed from the configuration",
  reconfigured: "its configuration changed",
  "client-gone": "the client that it was for has gone",
  stopping: "the gateway is stopping",
};

/** What a call gets that waits for an instance that goes for good. */
export function toRemovalError(server: string, why: RemovalReason): GatewayError {
  return why === "stopping"
    ? new GatewayError("DRAINING", `${server} is not available: the gateway is stopping`)
    : new GatewayError("SERVER_UNKNOWN", `${server} is no longer configured as it was`);
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
      if (state.down !== undefined) return toReason(state.down);
      return state.why === "restart" ? "restarting on request" : "starting";
    case "online":
      return "";
    case "dormant":
      return "stopped while idle; a call starts it";
    case "stopped":
      return "stopped by hand";
    case "removed":
      return removalReasons[state.why];
    case "backoff":
    case "failed":
    case "error":
      return withLastWords(state.cause);
    case "offline":
    case "needs-login":
      return state.cause.message;
  }
}

/** The error that a call gets which is not admitted. */
export function toRefusal(server: string, state: InstanceState): GatewayError {
  switch (state.kind) {
    case "disabled":
      return new GatewayError("SERVER_DISABLED", `${server} is disabled: ${state.reason}`);
    case "removed":
      return toRemovalError(server, state.why);
    case "unconfigured":
      return new GatewayError("SERVER_NEEDS_CONFIG", `${server} needs values from you: ${state.missing.join(", ")}`, {
        data: { missing: state.missing },
      });
    case "stopped":
      return new GatewayError("SERVER_STOPPED", `${server} was stopped by hand`);
    case "needs-login":
      return new GatewayError("SERVER_NEEDS_LOGIN", `${server} needs you to log in: ${state.cause.message}`, {
        hint: `Run \`toolyard login ${server}\`.`,
      });
    case "offline":
      return new GatewayError("SERVER_OFFLINE", `${server} does not answer: ${state.cause.message}`);
    case "error":
      return copyOf(state.cause, withLastWords(state.cause));
    case "failed":
      return new GatewayError(
        "SERVER_FAILED",
        `${server} was given up after too many crashes: ${withLastWords(state.cause)}`,
        dataOf(state.cause),
      );
    case "new":
    case "starting":
    case "online":
    case "dormant":
    case "backoff":
      return new GatewayError("SERVER_STARTING", `${server} is starting`);
  }
}

function dataOf(cause: GatewayError): { data?: Record<string, unknown> } {
  return cause.data === undefined ? {} : { data: cause.data };
}

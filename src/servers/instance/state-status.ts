import type { StatusView } from "../../catalog/model/view.ts";
import { switchedOff } from "../../config/entry/servers.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { copyOf, withStderrSummary } from "./starts/closed-cause.ts";
import type { InstanceStatus } from "../../kernel/status-words.ts";
import type { InstanceState, RemovalReason } from "./state.ts";

/** The status under which a state is shown to the outside. */
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
  "client-gone": "the client that it was started for has disconnected",
  stopping: "the gateway is stopping",
};

/** The failure that waiting calls get when their instance is removed. */
export function toRemovalError(server: string, why: RemovalReason): GatewayError {
  return why === "stopping"
    ? new GatewayError("DRAINING", `${server} is not available: the gateway is stopping`)
    : new GatewayError("SERVER_UNKNOWN", `${server} was removed, or its configuration has changed`);
}

/** Why the instance is in this state, as one sentence. */
export function toReason(state: InstanceState): string {
  switch (state.kind) {
    case "disabled":
      return state.reason;
    case "unconfigured":
      return `missing: ${state.missing.join(", ")}${state.advice === undefined ? "" : ` (${state.advice})`}`;
    case "new":
      return "not started yet";
    case "starting":
      if (state.down !== undefined) return toReason(state.down);
      return state.why === "restart" ? "restarting on request" : "starting";
    case "online":
      return state.note ?? "";
    case "dormant":
      return "stopped while idle; a call starts it";
    case "stopped":
      return "stopped by hand";
    case "removed":
      return removalReasons[state.why];
    case "backoff":
    case "failed":
    case "error":
      return withStderrSummary(state.cause);
    case "offline":
    case "needs-login":
      return state.cause.message;
  }
}

/** The failure that a call gets when the state does not allow calls. */
export function toRefusal(server: string, state: InstanceState): GatewayError {
  switch (state.kind) {
    case "disabled":
      return new GatewayError("SERVER_DISABLED", `${server} is disabled: ${state.reason}`);
    case "removed":
      return toRemovalError(server, state.why);
    case "unconfigured":
      return new GatewayError(
        "SERVER_NEEDS_CONFIG",
        `${server} needs values that you have not set: ${state.missing.join(", ")}`,
        {
          data: { missing: state.missing },
          ...(state.advice === undefined ? {} : { hint: `${state.advice}.` }),
        },
      );
    case "stopped":
      return new GatewayError("SERVER_STOPPED", `${server} was stopped by hand`);
    case "needs-login":
      return new GatewayError("SERVER_NEEDS_LOGIN", `${server} needs you to log in: ${state.cause.message}`, {
        hint: adviceOf(state) ?? `Run \`toolyard login ${server}\`.`,
        ...dataOf(state.cause),
      });
    case "offline":
      return new GatewayError("SERVER_OFFLINE", `${server} does not answer: ${state.cause.message}`);
    case "error":
      return copyOf(state.cause, withStderrSummary(state.cause));
    case "failed":
      return new GatewayError(
        "SERVER_FAILED",
        `${server} failed too often and is no longer restarted: ${withStderrSummary(state.cause)}`,
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

/**
 * What the person can do about it, where that is known more exactly than the status says: the page where values or a
 * login are given.
 */
export function adviceOf(state: InstanceState): string | undefined {
  if (state.kind === "unconfigured") return state.advice;
  const page = state.kind === "needs-login" ? state.cause.data?.["connect"] : undefined;
  return typeof page === "string" ? loginAdvice(page) : undefined;
}

/** What has to be done before it runs again, of one that is off; undefined for any other. */
export function stepOf(state: InstanceState): StatusView["step"] {
  if (state.kind === "stopped") return "start";
  if (state.kind !== "disabled") return undefined;
  return state.reason === switchedOff ? "enable" : "correct";
}

/** The failure for want of a login, with the page where the person can log in; any other as it is. */
export function atLoginPage(failure: GatewayError, page: string | undefined): GatewayError {
  if (page === undefined || failure.code !== "SERVER_NEEDS_LOGIN" || failure.data?.["connect"] === page) return failure;
  const { code, message, data, cause } = failure;
  return new GatewayError(code, message, { data: { ...data, connect: page }, hint: loginAdvice(page), cause });
}

const loginAdvice = (page: string): string => `Ask the user to log in at ${page} in a browser.`;

function dataOf(cause: GatewayError): { data?: Record<string, unknown> } {
  return cause.data === undefined ? {} : { data: cause.data };
}

import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Closed } from "../../upstream/connection.ts";

/** The failure that a call gets when its connection ended. */
export function toClosedCause(
  server: string,
  hasProcess: boolean,
  closed: Closed,
  stderr: readonly string[],
): GatewayError {
  if (closed.kind === "exited") {
    const how = closed.signal === null ? `exited with code ${closed.code}` : `was killed by ${closed.signal}`;
    return new GatewayError("UPSTREAM_CLOSED", `${server} ${how}`, {
      data: { exitCode: closed.code, signal: closed.signal, stderr: closed.stderr },
    });
  }
  const message = closed.kind === "lost" ? closed.reason : `${server} was stopped`;
  return hasProcess
    ? new GatewayError("UPSTREAM_CLOSED", message, { data: { stderr } })
    : new GatewayError("CONNECT_FAILED", message);
}

/** Whether a process ended in good order: such servers serve one call, or end when they are not used. */
export function isCleanEnd(closed: Closed): boolean {
  return closed.kind === "exited" && closed.code === 0 && closed.signal === null && closed.inFlight === 0;
}

/** Why a server's state is lost, as a sentence that begins with "it". */
export function toEndReason(closed: Closed): string {
  if (isCleanEnd(closed)) return "it ended on its own: exit code 0";
  if (closed.kind === "exited")
    return closed.signal === null ? `it crashed: exit code ${closed.code}` : `it crashed: killed by ${closed.signal}`;
  return closed.kind === "lost" ? `its connection was lost: ${closed.reason}` : "it was stopped";
}

/** A new error object for each caller, because each needs its own stack and may be changed on its way. */
export function copyOf(cause: GatewayError, message: string = cause.message): GatewayError {
  return new GatewayError(cause.code, message, {
    hint: cause.hint,
    ...(cause.data === undefined ? {} : { data: cause.data }),
  });
}

/** No call can have taken effect in a process that ended while it was started. */
export function withStartHint({ code, message, data }: GatewayError): GatewayError {
  return new GatewayError(code, message, {
    hint: "Its last output says why it ended; run its command in a terminal to see all of it.",
    ...(data === undefined ? {} : { data }),
  });
}

/** Exit code and signal of the server's process; null where unknown. */
export function exitOf(cause: GatewayError): { readonly exitCode: number | null; readonly signal: string | null } {
  const { exitCode, signal } = cause.data ?? {};
  return {
    exitCode: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal : null,
  };
}

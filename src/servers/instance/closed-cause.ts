import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Closed } from "../upstream/connection.ts";

/** Why a connection ended, as the error that follows from it. */
export function toClosedCause(
  server: string,
  hasProcess: boolean,
  closed: Closed,
  stderr: readonly string[],
): GatewayError {
  if (closed.kind === "exited") {
    const how = closed.signal === null ? `exited with code ${closed.code}` : `was ended by ${closed.signal}`;
    return new GatewayError("UPSTREAM_CLOSED", `${server} ${how}`, {
      data: { exitCode: closed.code, signal: closed.signal, stderr: closed.stderr },
    });
  }
  const message = closed.kind === "lost" ? closed.reason : `${server} was stopped`;
  return hasProcess
    ? new GatewayError("UPSTREAM_CLOSED", message, { data: { stderr } })
    : new GatewayError("CONNECT_FAILED", message);
}

/** The same in a sentence that says why what the server held is gone. */
export function toEndReason(closed: Closed): string {
  if (closed.kind === "exited")
    return closed.signal === null ? `it crashed: exit code ${closed.code}` : `it crashed: ended by ${closed.signal}`;
  return closed.kind === "lost" ? `its connection was lost: ${closed.reason}` : "it was stopped";
}

/** A new error object for every caller: each has its own stack and may be decorated on its way. */
export function copyOf(cause: GatewayError, message: string = cause.message): GatewayError {
  return new GatewayError(cause.code, message, {
    hint: cause.hint,
    ...(cause.data === undefined ? {} : { data: cause.data }),
  });
}

/** Exit code and signal of the process behind it, where there was one. */
export function exitOf(cause: GatewayError): { readonly exitCode: number | null; readonly signal: string | null } {
  const { exitCode, signal } = cause.data ?? {};
  return {
    exitCode: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal : null,
  };
}

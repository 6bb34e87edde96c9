import { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { TransportFailure } from "../../../../wire/http/http-client.ts";

/** What a request ends with whose connection failed; one that never came about is tried again first. */
export function toTransportError(
  server: string,
  { kind, reason }: { readonly kind: Exclude<TransportFailure["kind"], "connect">; readonly reason: string },
): GatewayError {
  switch (kind) {
    case "closed":
      return new GatewayError(
        "UPSTREAM_CLOSED",
        `${server} closed the connection before it had answered${inBrackets(reason)}`,
      );
    case "malformed":
      return new GatewayError("UPSTREAM_PROTOCOL", `${server} answered with malformed HTTP: ${reason}`);
    case "unsendable":
      return new GatewayError("CONNECT_FAILED", `the request to ${server} cannot be sent: ${reason}`);
    case "disposed":
      return new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`);
  }
}

/** A detail behind what it belongs to; nothing for none. */
export function inBrackets(detail: string): string {
  return detail === "" ? "" : ` (${detail})`;
}

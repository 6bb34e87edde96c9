import { longestMs } from "../../../kernel/limits.ts";
import type { PendingRequest, Reply, UpstreamRequest } from "../connection.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** Requests to one server in one era. A server of both eras has two channels over the same wire. */
export interface Channel {
  request(request: UpstreamRequest): Promise<Reply>;
  failAll(error: () => GatewayError): void;
  readonly size: number;
  /** Clients' requests that wait. */
  pending(): readonly PendingRequest[];
}

/** The same request with a timeout that a timer can hold: subscriptions have an infinite one. */
export function withFiniteTimeouts(request: UpstreamRequest): UpstreamRequest {
  if (request.timeoutMs <= longestMs) return request;
  return { ...request, timeoutMs: longestMs };
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Whether the gateway should get requests, and what it cannot do meanwhile. */
export interface Readiness {
  /** Why it should get none; undefined where it should. */
  readonly unready: string | undefined;
  /** Why nothing, or not everything, is recorded; undefined where everything is. */
  readonly unrecorded: string | undefined;
}

export function isHealth(path: string | undefined): boolean {
  return path === "/healthz" || path === "/readyz";
}

/**
 * `GET /healthz`: 200, the process is there and answers. `GET /readyz`: 503 where the gateway should get no requests
 * now. Reasons and details are for those who know a name of the gateway: kubelets and load balancers, which ask by a
 * pod's address or without any name, get the status alone. So does a page whose site's name leads here, which nothing
 * tells from them. Throws HTTP_METHOD_UNSUPPORTED.
 */
export function answerHealth(
  request: IncomingMessage,
  response: ServerResponse,
  { readiness, isDetailed }: { readonly readiness: Readiness | undefined; readonly isDetailed: boolean },
): void {
  if (!isRead(request)) throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "only GET is served here");
  const isReady = readiness?.unready === undefined;
  const status = readiness === undefined ? "ok" : isReady ? "ready" : "unready";
  const text = JSON.stringify({ status, ...(isDetailed && readiness !== undefined && toDetails(readiness)) });
  response.writeHead(isReady ? 200 : 503, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

/** Whether it changes nothing. */
export function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

function toDetails({ unready, unrecorded }: Readiness): object {
  const reason = unready ?? unrecorded;
  return {
    ...(unrecorded === undefined ? {} : { records: "degraded" }),
    ...(reason === undefined ? {} : { reason }),
  };
}

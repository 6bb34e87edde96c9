import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** `GET /healthz`: the process is there and answers. Throws HTTP_METHOD_UNSUPPORTED. */
export function answerHealth(request: IncomingMessage, response: ServerResponse): void {
  answerPlainly(request, response, 200, { status: "ok" });
}

/** Whether the gateway should get requests, and what it cannot do meanwhile. */
export interface Readiness {
  /** Why it should get none; undefined where it should. */
  readonly unready: string | undefined;
  /** Why nothing, or not everything, is recorded; undefined where everything is. */
  readonly unrecorded: string | undefined;
}

/** `GET /readyz`: 503 with the reason why the gateway should get no requests now. Throws HTTP_METHOD_UNSUPPORTED. */
export function answerReadiness(request: IncomingMessage, response: ServerResponse, readiness: Readiness): void {
  const { unready, unrecorded } = readiness;
  const reason = unready ?? unrecorded;
  const body = {
    status: unready === undefined ? "ready" : "unready",
    ...(unrecorded === undefined ? {} : { records: "degraded" }),
    ...(reason === undefined ? {} : { reason }),
  };
  answerPlainly(request, response, unready === undefined ? 200 : 503, body);
}

function answerPlainly(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "only GET is served here");
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

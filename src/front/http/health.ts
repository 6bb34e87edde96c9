import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";

/** `GET /healthz`: the process is there and answers. Throws HTTP_METHOD_UNSUPPORTED. */
export function answerHealth(request: IncomingMessage, response: ServerResponse): void {
  answerPlainly(request, response, 200, { status: "ok" });
}

/** `GET /readyz`: 503 with the reason why the gateway should get no requests now. Throws HTTP_METHOD_UNSUPPORTED. */
export function answerReadiness(request: IncomingMessage, response: ServerResponse, reason: string | undefined): void {
  if (reason === undefined) answerPlainly(request, response, 200, { status: "ready" });
  else answerPlainly(request, response, 503, { status: "unready", reason });
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

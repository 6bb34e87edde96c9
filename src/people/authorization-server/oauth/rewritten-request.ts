import { IncomingMessage } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** Registrations and token requests are a few hundred bytes. */
const mostBytes = 56 * 1024;

/** Rejects with BODY_TOO_LARGE. */
export async function readSmallBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new GatewayError("BODY_TOO_LARGE", `the body has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The same request with another body. */
export function withBody(request: IncomingMessage, body: string): IncomingMessage {
  const rewritten = new IncomingMessage(request.socket);
  const { method, url, httpVersion, headers } = request;
  const length = String(Buffer.byteLength(body));
  Object.assign(rewritten, { method, url, httpVersion, complete: true });
  rewritten.headers = { ...headers, "content-length": length };
  delete rewritten.headers["transfer-encoding"];
  rewritten.push(body);
  rewritten.push(null);
  return rewritten;
}

/**
 * Makes a request look as if it had come to the gateway's own address: the library makes its URLs from the headers of a
 * request, and anybody can write there what they like.
 */
export function asReachedAt(request: IncomingMessage, base: string, target: string): void {
  const { host, protocol, pathname } = new URL(base);
  for (const name of Object.keys(request.headers)) if (name.startsWith("x-forwarded-")) delete request.headers[name];
  delete request.headers["forwarded"];
  Object.assign(request.headers, { host, "x-forwarded-proto": protocol.slice(0, -1) });
  request.url = target;
  const prefix = pathname === "/" ? "" : pathname;
  Object.assign(request, { originalUrl: `${prefix}${target}` });
}

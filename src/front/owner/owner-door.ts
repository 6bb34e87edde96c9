import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** What a connection with the lock's secret is used for. */
export type OwnerPurpose = "bridge" | "rest" | "stop";

export interface OwnerConnection {
  readonly purpose: OwnerPurpose;
  /** Path of the MCP endpoint that a bridge connects to. */
  readonly endpoint: string;
  readonly socket: Duplex;
}

export interface OwnerDoorOptions {
  readonly secret: string;
  /** Headers of the answer, which describe the gateway to the caller. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly onConnection: (connection: OwnerConnection) => void;
  /** Told of requests that do not know the secret. */
  readonly onDenied?: (request: IncomingMessage) => void;
}

/**
 * The entrance for the owner of the data directory: `CONNECT bridge:1`, `CONNECT rest:1` or `CONNECT stop:1`, with
 * the lock's secret as bearer token. CONNECT is used because browsers cannot send it, proxies do not pass it on by
 * accident, and after the answer the socket carries nothing but the bytes of both sides: an MCP client's, or REST.
 */
export function createOwnerDoor({
  secret,
  headers,
  onConnection,
  onDenied,
}: OwnerDoorOptions): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const expected = createHash("sha256").update(`Bearer ${secret}`).digest();
  return (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const given = createHash("sha256")
      .update(request.headers.authorization ?? "")
      .digest();
    const purpose = /^(bridge|rest|stop):1$/.exec(request.url ?? "")?.[1];
    if (purpose === undefined || !timingSafeEqual(given, expected)) {
      onDenied?.(request);
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${encodeURIComponent(value)}\r\n`);
    socket.write(`HTTP/1.1 200 OK\r\n${lines.join("")}\r\n`);
    if (head.length > 0) socket.unshift(head);
    const endpoint = request.headers["toolyard-endpoint"];
    onConnection({
      purpose: purpose as OwnerPurpose,
      endpoint: typeof endpoint === "string" ? endpoint : "/mcp",
      socket,
    });
  };
}

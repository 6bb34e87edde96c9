import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** What somebody who knows the lock's secret may open a connection for. */
export type OwnerPurpose = "bridge" | "control";

export interface OwnerConnection {
  readonly purpose: OwnerPurpose;
  /** Path of the MCP endpoint that a bridge is to. */
  readonly endpoint: string;
  readonly socket: Duplex;
}

export interface OwnerDoorOptions {
  readonly secret: string;
  /** Headers of the answer: what the visitor should know of the gateway. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly onConnection: (connection: OwnerConnection) => void;
}

/**
 * The door for the owner of the data directory: `CONNECT bridge:1` or `CONNECT control:1` with the lock's secret as
 * bearer token. CONNECT, because no browser can send it, no proxy passes it on by accident, and after the answer the
 * socket carries bytes and nothing else.
 */
export function createOwnerDoor({
  secret,
  headers,
  onConnection,
}: OwnerDoorOptions): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const expected = createHash("sha256").update(`Bearer ${secret}`).digest();
  return (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const given = createHash("sha256")
      .update(request.headers.authorization ?? "")
      .digest();
    const purpose = /^(bridge|control):1$/.exec(request.url ?? "")?.[1];
    if (purpose === undefined || !timingSafeEqual(given, expected)) {
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

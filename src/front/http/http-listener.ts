import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ConnectionRoom } from "./guards/body-room.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { settingNow } from "../../kernel/text/number-text.ts";
import { problemHeaders, problemTitle, toProblem } from "./problem.ts";

export interface HttpListenerOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers a request whose rest does not arrive, or is not HTTP. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, failure: GatewayError) => void;
  /** Takes CONNECT requests; without it they are refused. */
  readonly onConnect?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  /** How long a body may take to arrive (limits.bodyTimeoutMs). */
  readonly bodyTimeoutMs: number;
  readonly room: ConnectionRoom;
}

/** The port: sockets, their timers, and what comes in that is not HTTP. It knows no paths. */
export interface HttpListener {
  /** Resolves to the address once requests are answered. Throws PORT_TAKEN and ADDRESS_UNUSABLE. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Serves on, and closes each connection with its next answer, so that clients come by another one from now on. */
  leave(): void;
  /** After it has left: takes no new connections; those that are idle end, the others after their answer. */
  drain(): void;
  /** Ends the remaining connections. */
  close(): void;
}

/** Headers must be there by then (fault 24: sockets that trickle are closed), all of them within Node's 16 KB. */
const headersTimeoutMs = 10_000;
const connectionCheckMs = 5_000;
const keepAliveTimeoutMs = 65_000;
/** Connections that the kernel keeps until they are accepted: a burst of clients must not be turned away. */
const backlog = 4_096;
/**
 * Real requests have a dozen. Node silently drops headers beyond its own count, an Origin among them, so requests with
 * more are counted and refused (fault 20).
 */
export const mostHeaders = 200;

const tooMany = toRawRefusal(
  new GatewayError("TOO_MANY_CONNECTIONS", "this gateway, or your address, has as many connections as there may be"),
);

export function createHttpListener(options: HttpListenerOptions): HttpListener {
  const { handle, refuse, onConnect, bodyTimeoutMs, room } = options;
  const sockets = new Set<Duplex>();
  let leaving = false;
  // A whole request must be there within bodyTimeoutMs; it is looked at this often (faults 24, 25).
  const checkMs = Math.min(connectionCheckMs, Math.ceil(bodyTimeoutMs / 6));
  const requestTimeout = Math.max(checkMs, bodyTimeoutMs - checkMs);
  const server = createServer(
    {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      maxHeaderSize: 16_384,
      // Load balancers look without one whether the gateway is there. Everything else without one is refused by us.
      requireHostHeader: false,
    },
    (request, response) => {
      if (leaving) response.setHeader("Connection", "close");
      handle(request, response);
    },
  );
  server.maxHeadersCount = mostHeaders;
  server.on("connection", (socket) => {
    const leave = room.take(socket.remoteAddress ?? "");
    if (leave === undefined) {
      socket.end(tooMany, () => socket.destroy());
      return;
    }
    socket.once("close", leave);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  if (onConnect !== undefined) server.on("connect", onConnect);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const response = responseOn(socket);
    const failure = toClientFailure(error, { headersTimeoutMs, bodyTimeoutMs });
    if (!socket.writable) socket.destroy();
    else if (response == null) socket.end(toRawRefusal(failure));
    else if (response.req.complete) response.once("finish", () => socket.end());
    else if (response.headersSent) socket.destroy();
    else refuse(response.req, response, failure);
  });

  function leave(): void {
    leaving = true;
    for (const socket of sockets) {
      const response = responseOn(socket);
      if (response?.headersSent === false) response.setHeader("Connection", "close");
    }
  }

  return {
    listen: async (host, port) =>
      await new Promise((resolve, reject) => {
        server.once("error", (error: NodeJS.ErrnoException) => reject(toListenFailure(error, `${host}:${port}`)));
        server.listen({ host, port, backlog }, () => resolve(server.address() as AddressInfo));
      }),
    leave,
    drain() {
      server.close();
      server.closeIdleConnections();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The answer in progress, where Node's own handler finds it. In a table of ours, it would outlive its request. */
function responseOn(socket: Duplex): ServerResponse | null | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
}

function toListenFailure(error: NodeJS.ErrnoException, address: string): Error {
  const fail = (code: "PORT_TAKEN" | "ADDRESS_UNUSABLE", why: string) =>
    new GatewayError(code, `cannot listen on ${address}: ${why}`, { cause: error });
  switch (error.code) {
    case "EADDRINUSE":
      return fail("PORT_TAKEN", "the port is taken");
    case "EACCES":
      return fail("PORT_TAKEN", "not allowed");
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "EINVAL":
      return fail("ADDRESS_UNUSABLE", "this machine does not have that address");
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return fail("ADDRESS_UNUSABLE", "no address is known for that name");
    default:
      return error;
  }
}

/** A request that Node's HTTP parser or its timers refused, as a failure of our table. */
function toClientFailure(
  error: NodeJS.ErrnoException,
  { headersTimeoutMs, bodyTimeoutMs }: { readonly headersTimeoutMs: number; readonly bodyTimeoutMs: number },
): GatewayError {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new GatewayError("BODY_TIMEOUT", "the rest of the request did not arrive in time", {
        hint:
          `Send the head of a request within ${headersTimeoutMs / 1_000} s, and all of it within ` +
          `${settingNow("limits.bodyTimeoutMs", bodyTimeoutMs)}.`,
      });
    case "HPE_HEADER_OVERFLOW":
      return new GatewayError("HEADERS_TOO_LARGE", "the headers of the request are larger than 16 KB");
    default:
      return new GatewayError("REQUEST_INVALID", `the request is not valid HTTP: ${error.message}`, {
        hint: "Send HTTP/1.1 requests (RFC 9112).",
      });
  }
}

/** A complete response for a connection that has no request to answer. The connection is closed after it. */
function toRawRefusal(failure: GatewayError): string {
  const { http } = failure.row;
  const text = asciiJson(toProblem(failure));
  const headers = { ...problemHeaders(failure), Connection: "close", "Content-Length": String(text.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${http} ${problemTitle(http)}\r\n${lines.join("")}\r\n${text}`;
}

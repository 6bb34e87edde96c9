import type { HttpClient, HttpClientOptions, HttpRequest, ResponseHandler } from "./http-client.ts";
import { HttpSocket, type HttpSocketOwner } from "./http-socket.ts";
import { createIdleSockets } from "./idle-sockets.ts";
import { isHeaderName, isHeaderValue } from "../../kernel/text/header-value.ts";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

interface Waiting {
  readonly request: HttpRequest;
  readonly handler: ResponseHandler;
}

/**
 * Keep-alive connections to one origin. Our own, because this is where most of a call over HTTP is spent: node:http's
 * client takes 1.6 to 1.9 times as much (bench/http-upstream), and with undici's pool a whole call cost as much as in
 * the raw forwarder of bench/overhead, with this one 0.85 of it. It knows no proxies, and only the certificates that
 * Node trusts.
 */
export function createSocketPool(options: HttpClientOptions): HttpClient {
  const url = new URL(options.origin);
  const sockets = new Set<HttpSocket>();
  const idle = createIdleSockets();
  const waiting: Waiting[] = [];
  const toHead = createHeadWriter(url.host);
  let reserve: HttpClient | undefined;
  /** What this turn of the event loop asked for. */
  let ready: Waiting[] = [];
  let isClosed = false;

  const owner: HttpSocketOwner = {
    onFree(socket) {
      idle.noteAnswered(socket);
      if (idle.isClosedBehindAnswers && waiting.length > 0) {
        // A waiting request gets a fresh connection once this one has ended.
        socket.destroy();
        return;
      }
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) if (write(socket, next)) return;
      idle.keep(socket);
    },
    onGone(socket) {
      sockets.delete(socket);
      idle.remove(socket);
      const next = isClosed ? undefined : waiting.shift();
      if (next !== undefined) connect(next);
    },
  };
  const open = createSocketOpener({ url, owner, ...options });

  /** False when the handler does not want it any more, or it cannot be sent: the socket is still free. */
  function write(socket: HttpSocket, { request, handler }: Waiting): boolean {
    let head: string;
    try {
      head = toHead(request);
    } catch (error) {
      handler.onTransportFailure({ kind: "unsendable", reason: error instanceof Error ? error.message : "" });
      return false;
    }
    if (!handler.onConnected(socket)) return false;
    socket.send(handler, head, request.body);
    return true;
  }

  function connect(first: Waiting): void {
    const socket = open(
      (connected) => sendOrFree(connected, first),
      (reason) => first.handler.onTransportFailure(isClosed ? disposed : { kind: "connect", reason }),
    );
    sockets.add(socket);
  }

  /**
   * After the sockets were looked at: the end of an idle one may have arrived, and a request written to it would be
   * lost. It also brings together what many calls write, so that the server is woken up once.
   */
  function dispatchReady(): void {
    const wanted = ready;
    ready = [];
    for (const one of wanted) dispatch(one);
  }

  function dispatch(wanted: Waiting): void {
    const socket = isClosed ? undefined : idle.take();
    if (socket !== undefined) sendOrFree(socket, wanted);
    else if (isClosed) wanted.handler.onTransportFailure(disposed);
    else if (sockets.size < options.connections) connect(wanted);
    else if (wanted.request.isUrgent === true && options.reserved > 0) dispatchUrgent(wanted);
    else waiting.push(wanted);
  }

  /**
   * The sockets of this pool may all be held by calls that wait for this very message: an answer, or their
   * cancellation.
   */
  function dispatchUrgent({ request, handler }: Waiting): void {
    reserve ??= createSocketPool({ ...options, connections: options.reserved, reserved: 0 });
    reserve.send(request, handler);
  }

  function sendOrFree(socket: HttpSocket, wanted: Waiting): void {
    if (!write(socket, wanted)) owner.onFree(socket);
  }

  return {
    send(request, handler) {
      if (ready.length === 0) setImmediate(dispatchReady);
      ready.push({ request, handler });
    },
    close() {
      isClosed = true;
      idle.stop();
      reserve?.close();
      for (const socket of sockets) socket.destroy(disposed);
      for (const { handler } of waiting.splice(0)) handler.onTransportFailure(disposed);
    },
  };
}

const disposed = Object.freeze({ kind: "disposed", reason: "" } as const);

/**
 * Writes a request's head, its empty line included (RFC 9112, section 3). Throws for what no header may hold: it could
 * be taken for another request.
 */
export type WriteHead = (request: HttpRequest) => string;

/**
 * `host` is said where the request does not say it. A list of headers is checked and written once, however often
 * sent.
 */
function createHeadWriter(host: string): WriteHead {
  const texts = new WeakMap<readonly string[], string>();

  return ({ method, path, headers, body }) => {
    let own = texts.get(headers);
    if (own === undefined) texts.set(headers, (own = writeHeaders(headers, host)));
    const start = `${method} ${path} HTTP/1.1\r\nconnection: keep-alive\r\n`;
    return body === null ? `${start}${own}\r\n` : `${start}${own}content-length: ${body.length}\r\n\r\n`;
  };
}

function writeHeaders(headers: readonly string[], host: string): string {
  let text = headers.some((name, at) => at % 2 === 0 && name === "host") ? "" : `host: ${host}\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (!isHeaderName(name) || !isHeaderValue(value))
      throw new Error(`the header ${JSON.stringify(name.slice(0, 100))} holds a character that no header may hold`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

const readBytes = 65_536;
const tcpKeepAliveMs = 60_000;

export interface SocketOpenerOptions {
  readonly url: URL;
  readonly connectTimeoutMs: number;
  readonly owner: HttpSocketOwner;
  readonly lookup?: LookupFunction | undefined;
}

/** Begins a connection. Exactly one of the two is called, once; `onFailed` with a code such as ECONNREFUSED. */
export type OpenSocket = (onConnected: (socket: HttpSocket) => void, onFailed: (code: string) => void) => HttpSocket;

function createSocketOpener({ url, connectTimeoutMs, owner, lookup }: SocketOpenerOptions): OpenSocket {
  const openRaw = createRawOpener(url, lookup);

  return (onConnected, onFailed) => {
    let isConnecting = true;
    let reason = "";
    const raw = openRaw(
      (bytes) => socket.receive(bytes),
      () => {
        if (end()) onConnected(socket);
      },
    );
    const timer = setTimeout(() => fail("ETIMEDOUT"), connectTimeoutMs);
    raw.once("error", (error: NodeJS.ErrnoException) => {
      reason = error.code ?? error.message;
    });
    raw.once("close", () => fail(reason));
    const socket = new HttpSocket(raw, owner);
    return socket;

    function fail(code: string): void {
      if (!end()) return;
      socket.destroy();
      onFailed(code);
    }

    /** False when it was over before. */
    function end(): boolean {
      const wasConnecting = isConnecting;
      isConnecting = false;
      clearTimeout(timer);
      return wasConnecting;
    }
  };
}

type OpenRaw = (onBytes: (bytes: Buffer) => void, onConnect: () => void) => Socket;

/**
 * How a socket to this URL is opened. All of a pool read into the same memory, because each piece is dealt with
 * before the next is read: a buffer of 64 KB per read is what makes reading expensive.
 */
function createRawOpener(url: URL, lookup: LookupFunction | undefined): OpenRaw {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const memory = Buffer.allocUnsafeSlow(readBytes);
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  const place = lookup === undefined ? { host, port } : { host, port, lookup };
  let session: Buffer | undefined;

  return (onBytes, onConnect) => {
    const onread = {
      buffer: memory,
      callback: (count: number) => {
        onBytes(count === memory.length ? memory : memory.subarray(0, count));
        return true;
      },
    };
    let socket: Socket;
    if (isTls) {
      const given = { ...place, onread, ALPNProtocols: ["http/1.1"] };
      const resumed = session === undefined ? {} : { session };
      const secure = connectTls({ ...given, ...resumed, ...(isIP(host) === 0 ? { servername: host } : {}) }, onConnect);
      secure.on("session", (ticket) => (session = ticket));
      socket = secure;
    } else socket = connectTcp({ ...place, onread }, onConnect);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, tcpKeepAliveMs);
    return socket;
  };
}

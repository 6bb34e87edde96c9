import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { HttpClient, HttpClientOptions, HttpRequest, ResponseHandler } from "./http-client.ts";
import { HttpSocket, type HttpSocketOwner } from "./http-socket.ts";
import { isHeaderName, isHeaderValue } from "../../kernel/header-value.ts";

interface Waiting {
  readonly request: HttpRequest;
  readonly handler: ResponseHandler;
}

/** How long a connection is kept that the server says nothing about. Most keep them for 5 s. */
const defaultIdleS = 4;
/** A server closes when its time is over; a request must not meet that on its way. */
const safetyS = 1;
const mostIdleS = 300;
const sweepMs = 1_000;
/**
 * Some servers close right behind each answer, without a word before: what is sent meanwhile is lost. After so many
 * that went so soon, only connections that outlived this time are used again.
 */
const soonMs = 100;
const mostSoonGone = 2;
const readBytes = 65_536;
const tcpKeepAliveMs = 60_000;

/**
 * Keep-alive connections to one origin. Our own, because this is where most of a call over HTTP is spent: node:http's
 * client takes 1.6 to 1.9 times as much (bench/http-upstream), and with undici's pool a whole call cost as much as in
 * the raw forwarder of bench/overhead, with this one 0.85 of it. It knows no proxies, and only the certificates that
 * Node trusts.
 */
export function createSocketPool(options: HttpClientOptions): HttpClient {
  const url = new URL(options.origin);
  const sockets = new Set<HttpSocket>();
  const idle: HttpSocket[] = [];
  const waiting: Waiting[] = [];
  const headTexts = new WeakMap<readonly string[], string>();
  const open = createOpener(url);
  let reserve: HttpClient | undefined;
  /** What this turn of the event loop asked for. */
  let ready: Waiting[] = [];
  let soonGone = 0;
  let isClosed = false;
  let sweep: NodeJS.Timeout | undefined;

  const owner: HttpSocketOwner = {
    onFree(socket) {
      // A second answer on the same connection: this server does keep connections open.
      if (socket.freedAtMs > 0) soonGone = 0;
      if (soonGone < mostSoonGone) {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) if (write(socket, next)) return;
      } else if (waiting.length > 0) {
        socket.destroy();
        return;
      }
      const nowMs = performance.now();
      socket.freedAtMs = nowMs;
      const idleS = Math.min(socket.idleS === undefined ? defaultIdleS : socket.idleS - safetyS, mostIdleS);
      if (idleS <= 0) {
        socket.destroy();
        return;
      }
      socket.idleUntilMs = nowMs + idleS * 1_000;
      idle.push(socket);
      sweep ??= setTimeout(closeExpired, sweepMs).unref();
    },
    onGone(socket) {
      sockets.delete(socket);
      const place = idle.indexOf(socket);
      if (place !== -1) idle.splice(place, 1);
      if (!isClosed && performance.now() - socket.freedAtMs < soonMs) soonGone += 1;
      const next = isClosed ? undefined : waiting.shift();
      if (next !== undefined) connect(next);
    },
  };

  /** Idle ones that the server is about to close. The longest idle stand first. */
  function closeExpired(): void {
    sweep = undefined;
    const nowMs = performance.now();
    for (const socket of idle.filter((candidate) => candidate.idleUntilMs <= nowMs)) socket.destroy();
    if (idle.some((socket) => socket.isOpen)) sweep = setTimeout(closeExpired, sweepMs).unref();
  }

  function takeIdle(nowMs: number): HttpSocket | undefined {
    if (soonGone >= mostSoonGone && nowMs - (idle[0]?.freedAtMs ?? nowMs) < soonMs) return undefined;
    for (let socket = takeOne(); socket !== undefined; socket = takeOne()) {
      if (socket.isOpen && socket.idleUntilMs > nowMs) return socket;
      socket.destroy();
    }
    return undefined;
  }

  /**
   * The last one was used most lately: the others can be closed sooner. Where the server closes, the first is the
   * safest.
   */
  function takeOne(): HttpSocket | undefined {
    return soonGone < mostSoonGone ? idle.pop() : idle.shift();
  }

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

  function toHead({ method, path, headers, body }: HttpRequest): string {
    const start = `${method} ${path} HTTP/1.1\r\nconnection: keep-alive\r\n`;
    const own = headTexts.get(headers) ?? writeHeaders(headers);
    return body === null ? `${start}${own}\r\n` : `${start}${own}content-length: ${body.length}\r\n\r\n`;
  }

  /** Throws for what no header may hold: it could be taken for another request. */
  function writeHeaders(headers: readonly string[]): string {
    let text = headers.some((name, at) => at % 2 === 0 && name === "host") ? "" : `host: ${url.host}\r\n`;
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = headers[at] as string;
      const value = headers[at + 1] as string;
      if (!isHeaderName(name) || !isHeaderValue(value))
        throw new Error(`the header ${JSON.stringify(name.slice(0, 100))} holds a character that no header may hold`);
      text += `${name}: ${value}\r\n`;
    }
    headTexts.set(headers, text);
    return text;
  }

  function connect(first: Waiting): void {
    let isConnecting = true;
    const done = (): void => {
      if (!isConnecting) return;
      isConnecting = false;
      clearTimeout(timer);
    };
    const raw = open((bytes) => socket.receive(bytes), onConnect);
    const timer = setTimeout(() => fail("ETIMEDOUT"), options.connectTimeoutMs);
    let reason = "";
    raw.once("error", (error: NodeJS.ErrnoException) => {
      reason = error.code ?? error.message;
    });
    raw.once("close", () => {
      if (isConnecting) fail(reason);
    });
    const socket = new HttpSocket(raw, owner);
    sockets.add(socket);

    function onConnect(): void {
      done();
      sendOrFree(socket, first);
    }

    function fail(code: string): void {
      if (!isConnecting) return;
      done();
      socket.destroy();
      first.handler.onTransportFailure(isClosed ? disposed : { kind: "connect", reason: code });
    }
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
    const socket = isClosed ? undefined : takeIdle(performance.now());
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
      clearTimeout(sweep);
      reserve?.close();
      for (const socket of sockets) socket.destroy(disposed);
      for (const { handler } of waiting.splice(0)) handler.onTransportFailure(disposed);
    },
  };
}

const disposed = Object.freeze({ kind: "disposed", reason: "" } as const);

/**
 * How a socket to this URL is opened. All of a pool read into the same memory, because each piece is dealt with
 * before the next is read: a buffer of 64 KB per read is what makes reading expensive.
 */
function createOpener(url: URL): (onBytes: (bytes: Buffer) => void, onConnect: () => void) => Socket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const memory = Buffer.allocUnsafeSlow(readBytes);
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
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
      const given = { host, port, onread, ALPNProtocols: ["http/1.1"] };
      const resumed = session === undefined ? {} : { session };
      const secure = connectTls({ ...given, ...resumed, ...(isIP(host) === 0 ? { servername: host } : {}) }, onConnect);
      secure.on("session", (ticket) => (session = ticket));
      socket = secure;
    } else socket = connectTcp({ host, port, onread }, onConnect);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, tcpKeepAliveMs);
    return socket;
  };
}

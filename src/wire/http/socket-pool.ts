import type { HttpClient, HttpClientOptions, HttpRequest, ResponseHandler } from "./http-client.ts";
import type { HttpSocket, HttpSocketOwner } from "./http-socket.ts";
import { createIdleSockets } from "./idle-sockets.ts";
import { createHeadWriter } from "./request-head.ts";
import { createSocketOpener } from "./socket-opener.ts";

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

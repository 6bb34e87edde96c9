import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { HttpSocket, type HttpSocketOwner } from "./http-socket.ts";

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

export function createSocketOpener({ url, connectTimeoutMs, owner, lookup }: SocketOpenerOptions): OpenSocket {
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

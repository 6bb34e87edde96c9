import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";

/** What nobody but the proxy may be told. */
export const proxyPassword = "proxy-password";

export interface ConnectProxy extends AsyncDisposable {
  /** The proxy's URL; with the right user and password unless another `user:password@` is given. */
  url(login?: string): string;
  /** Heads of the requests, oldest first. */
  readonly heads: string[];
}

/** A CONNECT proxy that wants a password, on plain sockets. Every name leads to this machine. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const expected = `basic ${Buffer.from(`me:${proxyPassword}`).toString("base64")}`.toLowerCase();
  const heads: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes) => {
      const head = bytes.toString("latin1");
      heads.push(head);
      const port = /^CONNECT \S+:(\d+) HTTP\/1\.1\r\n/.exec(head)?.[1];
      if (port === undefined || !head.toLowerCase().includes(`proxy-authorization: ${expected}`)) {
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
        return;
      }
      const target = connect(Number(port), "127.0.0.1").on("error", () => socket.destroy());
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(target).pipe(socket);
      socket.on("close", () => target.destroy());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: (login = `me:${proxyPassword}@`) => `http://${login}127.0.0.1:${(server.address() as AddressInfo).port}`,
    heads,
    [Symbol.asyncDispose]: async () => await new Promise((resolve) => server.close(() => resolve())),
  };
}

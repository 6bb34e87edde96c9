import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { createServer, type PeerCertificate, type TLSSocket } from "node:tls";
import type { Certificates } from "../harness/certificates.ts";

export interface TlsFront extends AsyncDisposable {
  readonly port: number;
  /** Common name of the certificate that each connection showed; undefined for none. */
  readonly shown: (string | undefined)[];
  /** Where what is decrypted goes: a port of this machine. */
  target: number;
}

/** Ends TLS before a plain server, and asks for a certificate; with `isStrict` nobody comes in without one. */
export async function startTlsFront(certificates: Certificates, isStrict = false): Promise<TlsFront> {
  const shown: (string | undefined)[] = [];
  const sockets = new Set<TLSSocket>();
  const options = {
    key: certificates.read("server-key"),
    cert: certificates.read("server"),
    ca: certificates.read("ca"),
    requestCert: true,
    rejectUnauthorized: isStrict,
  };
  const server = createServer(options, (socket) => {
    sockets.add(socket);
    // Who resumes a session shows no certificate again.
    const { subject } = socket.getPeerCertificate() as Partial<PeerCertificate>;
    const name: unknown = socket.authorized ? subject?.CN : undefined;
    shown.push(typeof name === "string" ? name : undefined);
    const behind = connect(front.target, "127.0.0.1").on("error", () => socket.destroy());
    socket.on("error", () => behind.destroy());
    socket.pipe(behind).pipe(socket);
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const front: TlsFront = {
    port: (server.address() as AddressInfo).port,
    shown,
    target: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;
}

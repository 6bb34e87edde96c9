import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** A port of this machine behind which something else is: where it leads can be changed, and it can fall silent. */
export interface SwitchProxy extends AsyncDisposable {
  readonly port: number;
  /** New connections lead there. Those that are open stay. */
  leadTo(port: number): void;
  /** Nothing comes through any more, and nobody is told: as when a cable is cut. New connections are accepted. */
  cut(): void;
  /** What is open from before the cut stays silent for ever; what is opened now comes through. */
  mend(): void;
}

export async function startSwitchProxy(first = 0): Promise<SwitchProxy> {
  let target = first;
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const keep = (socket: Socket): void => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => sockets.delete(socket));
    };
    keep(client);
    if (isCut) return void client.resume();
    const behind = connect(target, "127.0.0.1");
    keep(behind);
    client.pipe(behind).pipe(client);
    client.once("close", () => behind.destroy());
    behind.once("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port) {
      target = port;
    },
    cut() {
      isCut = true;
      for (const socket of sockets) {
        socket.unpipe();
        socket.removeAllListeners("data");
        socket.pause();
      }
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

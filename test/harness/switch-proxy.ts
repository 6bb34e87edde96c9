import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** A port of this machine behind which something else is: where it leads can be changed, and it can fall silent. */
export interface SwitchProxy extends AsyncDisposable {
  readonly port: number;
  /** New connections lead there. Those that are open stay. */
  leadTo(port: number): void;
  /**
   * Nothing comes through any more, and nobody is told: as when a cable is cut. New connections are accepted. With a
   * name, only what that one has connected.
   */
  cut(from?: string): void;
  /** What is open from before the cut stays silent for ever; what is opened now comes through. */
  mend(from?: string): void;
  /** New connections are refused, as where no process listens any more. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
}

const everybody = "";

interface Pair {
  readonly name: string;
  readonly sockets: readonly Socket[];
  isSilent: boolean;
}

/** `nameOf` says who has connected, for cuts of one of them. At any port, where none is named. */
export async function startSwitchProxy(
  first = 0,
  nameOf: (client: Socket) => string = () => everybody,
  at = 0,
): Promise<SwitchProxy> {
  let target = first;
  const cuts = new Set<string>();
  const pairs = new Set<Pair>();
  const server = createServer((client) => {
    const name = nameOf(client);
    client.on("error", () => undefined);
    if (cuts.has(everybody) || cuts.has(name)) {
      const pair = { name, sockets: [client], isSilent: true };
      pairs.add(pair);
      client.once("close", () => pairs.delete(pair)).resume();
      return;
    }
    const behind = connect(target, "127.0.0.1");
    behind.on("error", () => undefined);
    const pair: Pair = { name, sockets: [client, behind], isSilent: false };
    pairs.add(pair);
    client.pipe(behind).pipe(client);
    client.once("close", () => {
      pairs.delete(pair);
      behind.destroy();
    });
    behind.once("close", () => {
      if (!pair.isSilent) client.destroy();
    });
  });
  server.listen(at, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    leadTo(next) {
      target = next;
    },
    cut(from = everybody) {
      cuts.add(from);
      for (const pair of pairs) {
        if (from !== everybody && from !== pair.name) continue;
        pair.isSilent = true;
        for (const socket of pair.sockets) {
          socket.unpipe();
          socket.removeAllListeners("data");
          socket.pause();
        }
      }
    },
    mend: (from = everybody) => void cuts.delete(from),
    async refuse() {
      if (server.listening) server.close();
    },
    async accept() {
      if (server.listening) return;
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    async [Symbol.asyncDispose]() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
}

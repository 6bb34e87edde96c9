import { createServer, type AddressInfo } from "node:net";

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Those that Linux gives nobody who asks for any: from 32,768 on it does. */
const [firstSteady, steadyPorts] = [12_000, 20_000];

/**
 * A port that stays free while nobody listens at it: for what ends and begins again there, on a machine where others
 * are given any that is free.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = firstSteady + Math.floor(Math.random() * steadyPorts);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

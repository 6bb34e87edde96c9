import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { CreateHttpClient, ResponseHandler } from "../../../wire/http/http-client.ts";
import { createUndiciClient } from "../../../wire/http/undici-client.ts";
import { createPublicClient } from "./public-client.ts";

const refused = expect.objectContaining({ code: "LOGIN_FAILED" }) as Error;

test("addresses of this machine and of private networks are refused, and names that a proxy would look up", async () => {
  for (const address of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]"])
    await expect(createPublicClient(address, { createClient: undefined, isProxied: false })).rejects.toThrow(refused);
  await expect(createPublicClient("localhost", { createClient: undefined, isProxied: true })).rejects.toThrow(refused);
  // Otherwise it is looked up when a connection is made.
  await createPublicClient("localhost", { createClient: undefined, isProxied: false });
});

test.each<readonly [string, CreateHttpClient | undefined]>([
  ["our own client", undefined],
  ["undici's", (options) => createUndiciClient({ ...options, proxy: undefined, tls: undefined })],
])("%s connects to no name that leads to this machine, and says why", async (_whose, given) => {
  let connections = 0;
  const server = createServer(() => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const createClient = await createPublicClient("localhost", { createClient: given, isProxied: false });
  const client = createClient({
    origin: `http://localhost:${port}`,
    ...{ connections: 1, reserved: 0, connectTimeoutMs: 10_000 },
  });
  const failure = await new Promise((resolve) => {
    const handler = { onConnected: () => true, onTransportFailure: resolve };
    client.send({ method: "GET", path: "/", headers: [], body: null }, handler as unknown as ResponseHandler);
  });
  expect(failure).toMatchObject({ kind: "connect", reason: expect.stringContaining("into a private network") });
  expect(connections).toBe(0);
  client.close();
  await new Promise((resolve) => server.close(resolve));
});

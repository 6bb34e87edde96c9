import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { whenFound } from "./when-found.ts";

interface Case {
  /** Whether the client leaves before its principal is known. */
  readonly leaves?: boolean;
  /** Whether no principal is found. */
  readonly fails?: boolean;
  /** Whether the request can no longer continue when its principal is known. */
  readonly isLate?: boolean;
}

/** What happened to a request that waited for its principal. */
async function outcomeOf({ leaves = false, fails = false, isLate = false }: Case): Promise<readonly string[]> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = get({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, agent: false });
  client.on("error", () => undefined);
  const [, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  const seen: string[] = [];
  const left = leaves ? once(response, "close") : undefined;
  if (leaves) client.destroy();
  const found = (async (): Promise<Principal> => {
    await left;
    if (fails) throw new Error("nobody");
    return localPrincipal;
  })();
  whenFound({
    found,
    response,
    enter: ({ id }) => {
      seen.push(`enter ${id}`);
      if (isLate) throw new Error("draining");
    },
    refuse: ({ message }) => seen.push(`refuse ${message}`),
  });
  await found.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  client.destroy();
  server.close();
  return seen;
}

test("a request goes on with whoever was found, or is refused", async () => {
  expect(await outcomeOf({})).toEqual(["enter local"]);
  expect(await outcomeOf({ fails: true })).toEqual(["refuse nobody"]);
});

test("what fails on entering is refused too", async () => {
  expect(await outcomeOf({ isLate: true })).toEqual(["enter local", "refuse draining"]);
});

test("when its client has gone nothing is entered, and nobody is refused", async () => {
  expect(await outcomeOf({ leaves: true })).toEqual([]);
  expect(await outcomeOf({ leaves: true, fails: true })).toEqual([]);
});

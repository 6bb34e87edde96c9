import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { findGateway } from "./running-gateways.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-running-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const context = (): CommandContext => ({
  ...{ flags: {}, positionals: [], isBare: false, env: {}, version: "1" },
  mainFile: "",
  unlocked: {},
  ...{ cwd: directory, home: directory },
  homeDirectories: { config: join(directory, "config"), data: join(directory, "data") },
});

/** This process as a gateway that has no door yet. */
async function begin() {
  const store = storeIn(join(directory, "data"), context());
  const claimed = await store.lock.claim({ configFile: null, directory: null, variables: {} }, "1");
  if (claimed.kind !== "held") throw new Error("another gateway is there");
  return claimed.lock;
}

test("a command right after the start waits until the gateway has a door", async () => {
  await using lock = await begin();
  const found = findGateway(context());
  let isFound = false;
  void found.then(() => (isFound = true));
  // It has looked by then, and looks again.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(isFound).toBe(false);
  await lock.announce("http://127.0.0.1:1", false);
  expect((await found).url).toBe("http://127.0.0.1:1");
});

test("one that ends meanwhile is none", async () => {
  const lock = await begin();
  const found = findGateway(context()).catch((error: unknown) => error);
  await lock[Symbol.asyncDispose]();
  expect(await found).toMatchObject({
    code: "GATEWAY_UNREACHABLE",
    message: expect.stringContaining("no gateway runs"),
  });
});

import { afterEach, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { isAlive } from "../processes/survivors.ts";
import { callAt, effectsServer, startNodes, type Nodes } from "./nodes.ts";

const counting = { command: process.execPath, args: [effectsServer] };

/** Its count and process, once the call succeeds: a server may have to be started first, or its tools learned. */
const counted = async (gateway: RunningGateway, server: string): Promise<{ readonly count: number; pid: number }> =>
  await until(async () => await callAt(gateway, `${server}:count`).catch(() => undefined));

describe.skipIf(hasNoPostgres)("where a server may run", () => {
  let nodes: Nodes;
  afterEach(async () => await nodes[Symbol.asyncDispose]());

  test("an exclusive server ends when no node can renew its lease, while others go on; both serve afterwards", async () => {
    nodes = await startNodes({ plain: counting, only: { ...counting, exclusive: true } });
    const cluster = { leaseMs: 3_000 };
    const one = await nodes.start("one", { cluster });
    const two = await nodes.start("two", { cluster });
    const plain = await counted(one, "plain");
    const only = await counted(one, "only");
    expect((await counted(two, "only")).pid).toBe(only.pid);
    await nodes.postgres.kill();
    await until(() => !isAlive(only.pid));
    for (const gateway of [one, two]) {
      expect((await callAt(gateway, "plain:count")).pid).toBe(plain.pid);
      await expect(callAt(gateway, "only:count")).rejects.toThrow(/NODE_FENCED.*exclusive/);
    }
    expect((await fetch(`${one.url}/readyz`)).status).toBe(200);
    await nodes.postgres.start();
    expect((await counted(two, "only")).count).toBe(1);
    expect((await counted(two, "plain")).pid).toBe(plain.pid);
  });
});

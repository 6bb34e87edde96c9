import { afterEach, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { isAlive } from "../processes/survivors.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

describe.skipIf(hasNoPostgres)("a server goes on at another node", () => {
  let nodes: Nodes;
  afterEach(async () => await nodes[Symbol.asyncDispose]());

  /** The first of them runs the server. */
  async function start(leaseMs = 10_000): Promise<readonly [one: RunningGateway, two: RunningGateway]> {
    nodes = await startNodes();
    return [await nodes.start("one", { cluster: { leaseMs } }), await nodes.start("two", { cluster: { leaseMs } })];
  }

  test("when its node is killed: the next call of another one starts it there", async () => {
    const [one, two] = await start();
    const before = await callAt(one, "count");
    expect(await callAt(two, "count")).toEqual({ count: 2, pid: before.pid });
    await one.stop("SIGKILL");
    // A call may be sent before the other node hears that the connection has ended.
    const after = await until(async () => await callAt(two, "count").catch(() => undefined));
    expect(after.count).toBe(1);
    expect(after.pid).not.toBe(before.pid);
  });

  test("a call that ran there when it was killed is not repeated, and is said to be unknown", async () => {
    const [one, two] = await start();
    await callAt(one, "count");
    const running = callAt(two, "sleep", { ms: 60_000, id: "long" }).then(
      () => "answered",
      (error: Error) => error.message,
    );
    await until(async () => (await fetchPending(one)) > 0);
    await one.stop("SIGKILL");
    expect(await running).toContain("OUTCOME_UNKNOWN");
    expect((await nodes.effects()).map(({ id }) => id)).not.toContain("long");
  });

  test("when its node stops: running calls are answered, and it begins at the other one", async () => {
    const [one, two] = await start();
    const before = await callAt(one, "count");
    const running = callAt(two, "sleep", { ms: 6_000, id: "last" });
    await until(async () => (await fetchPending(one)) > 0);
    const stopped = one.stop("SIGTERM");
    const during = callAt(two, "count");
    expect(await running).toEqual({ id: "last", pid: before.pid });
    expect(await stopped).toBe(0);
    await during;
    expect((await callAt(two, "count")).pid).not.toBe(before.pid);
    expect((await nodes.effects()).map(({ id }) => id)).toEqual(["began last", "last"]);
  });

  test("where there is no other node, clients are served by what runs until the listener closes", async () => {
    nodes = await startNodes();
    const only = await nodes.start("only", { settings: { noticeMs: 3_000 } });
    const { pid } = await callAt(only, "count");
    const stopped = only.stop("SIGTERM");
    await until(async () => (await fetch(`${only.url}/readyz`)).status === 503);
    expect(await callAt(only, "count")).toEqual({ count: 2, pid });
    expect(await stopped).toBe(0);
  });

  test("when its node hangs: after its lease, and it serves nothing when it wakes", async () => {
    const [one, two] = await start(4_000);
    const before = await callAt(one, "count");
    one.process.kill("SIGSTOP");
    const after = await until(async () => await callAt(two, "count").catch(() => undefined));
    expect(after.pid).not.toBe(before.pid);
    one.process.kill("SIGCONT");
    expect((await callAt(one, "count")).pid).toBe(after.pid);
    expect(one.stderr()).toContain("serves none of its servers");
  });

  test("when its node hung: what the process worked on ends with it", async () => {
    nodes = await startNodes(undefined, { STUBBORN: "1" });
    const one = await nodes.start("one", { settings: { instances: { stopTimeoutMs: 120_000 } } });
    const { pid } = await callAt(one, "count");
    const two = await nodes.start("two");
    const running = callAt(one, "sleep", { ms: 30_000, id: "of the old process" }).catch(() => undefined);
    await until(async () => (await fetchPending(one)) > 0);
    one.process.kill("SIGSTOP");
    await until(async () => await callAt(two, "count").catch(() => undefined));
    one.process.kill("SIGCONT");
    await running;
    await until(() => !isAlive(pid));
    expect((await nodes.effects()).map(({ id }) => id)).toEqual(["began of the old process"]);
  });

  test("a node that loses the database while another one is silent serves nothing, and says so", async () => {
    const [one, two] = await start(4_000);
    await callAt(one, "count");
    const statusOf = async (): Promise<number> => (await fetch(`${one.url}/readyz`)).status;
    expect(await statusOf()).toBe(200);
    two.process.kill("SIGSTOP");
    try {
      await nodes.postgres.kill();
      await until(async () => (await statusOf()) === 503);
      await expect(callAt(one, "count")).rejects.toThrow(/NODE_FENCED|INSTANCE_MOVED/);
    } finally {
      two.process.kill("SIGCONT");
    }
    await nodes.postgres.start();
    await until(async () => (await statusOf()) === 200);
    await until(async () => await callAt(one, "count").catch(() => undefined));
  });

  test("while the database is away, what runs goes on at every node", async () => {
    const [one, two] = await start(4_000);
    const { pid } = await callAt(one, "count");
    await nodes.postgres.kill();
    const begun = Date.now();
    for (let count = 2; Date.now() - begun < 8_000; count += 2) {
      expect(await callAt(two, "count")).toEqual({ count, pid });
      expect(await callAt(one, "count")).toEqual({ count: count + 1, pid });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (const { url } of [one, two]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await nodes.postgres.start();
    expect((await callAt(two, "count")).pid).toBe(pid);
  });
});

/** Calls that servers of a node work on. */
async function fetchPending({ url }: RunningGateway): Promise<number> {
  const answer = await fetch(`${url}/api/status/activity`);
  const { pending } = (await answer.json()) as { readonly pending: readonly unknown[] };
  return pending.length;
}

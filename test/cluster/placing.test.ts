import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import type { RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { freePort } from "../harness/free-port.ts";
import { get } from "../harness/rest.ts";
import { startSwitchProxy, type SwitchProxy } from "../harness/switch-proxy.ts";
import { until } from "../harness/until.ts";
import { isAlive } from "../processes/survivors.ts";
import { callAt, clusterKey, effectsServer, startNodes, type Nodes } from "./nodes.ts";

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

  test("a server runs where its labels are, also for clients of other nodes, and nowhere else when that node ends", async () => {
    nodes = await startNodes({ far: { ...counting, place: { labels: { site: "berlin" } } } });
    const plain = await nodes.start("plain", { cluster: { labels: { site: "rome" } } });
    await expect(callAt(plain, "far:count")).rejects.toThrow(/labels site=berlin, and there are plain \(site=rome\)/);
    const berlin = await nodes.start("berlin", { cluster: { labels: { site: "berlin", disk: "fast" } } });
    const { pid } = await counted(plain, "far");
    expect((await counted(berlin, "far")).pid).toBe(pid);
    expect(await runnerOf(plain, "far")).toBe("berlin");
    const { json } = await get(`${plain.url}/api/nodes`);
    expect(json.nodes.map(({ labels }: { labels: object }) => labels)).toEqual([
      { site: "berlin", disk: "fast" },
      { site: "rome" },
    ]);
    // What no other node may run is not handed over.
    await askOwner(join(plain.directory, "data"), "POST", "/api/nodes/berlin/drain", {});
    await until(async () => (await fetch(`${berlin.url}/readyz`)).status === 503);
    expect((await callAt(plain, "far:count")).pid).toBe(pid);
    await berlin.stop();
    await expect(callAt(plain, "far:count")).rejects.toThrow(/NO_ROOM|NODE_SILENT|INSTANCE_MOVED/);
    await nodes.start("berlin", { cluster: { labels: { site: "berlin" } } });
    expect((await counted(plain, "far")).pid).not.toBe(pid);
  });

  test("a server that keeps files runs where it ran first, is refused while that node is away, and moves by an order", async () => {
    nodes = await startNodes({ kept: { ...counting, files: "node" }, free: counting });
    const one = await nodes.start("one");
    const first = await counted(one, "kept");
    const two = await nodes.start("two");
    expect((await counted(two, "kept")).pid).toBe(first.pid);
    // Drained, that node goes on with it; others get what keeps no files.
    const free = await counted(one, "free");
    const [oneData, twoData] = [one, two].map(({ directory }) => join(directory, "data"));
    await askOwner(oneData as string, "POST", "/api/nodes/one/drain", {});
    await until(async () => (await counted(two, "free")).pid !== free.pid);
    expect((await callAt(two, "kept:count")).pid).toBe(first.pid);
    await one.stop();
    await expect(callAt(two, "kept:count")).rejects.toThrow(/FILES_ELSEWHERE.*the node one, which is away.*--files-at/);
    const again = await nodes.start("one");
    const second = await counted(two, "kept");
    expect(second.pid).not.toBe(first.pid);
    expect(await runnerOf(two, "kept")).toBe("one");
    const place = ["--config", two.configFile, "--data-dir", twoData as string];
    const env = { YARD_DATABASE: nodes.database, TOOLYARD_KEY: clusterKey };
    const unknown = await runCommand(["restart", "kept", "--files-at", "three", ...place], env);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining("no node of the cluster is called three"),
    ]);
    expect((await runCommand(["restart", "kept", "--files-at", "two", ...place], env)).code).toBe(0);
    await until(async () => (await counted(again, "kept")).pid !== second.pid);
    await until(async () => (await runnerOf(again, "kept")) === "two");
    const { pid } = await callAt(again, "kept:count");
    await again.stop();
    expect((await callAt(two, "kept:count")).pid).toBe(pid);
  });

  test("a server may run at every node, for the calls of its own clients, and is restarted at all of them", async () => {
    nodes = await startNodes({ each: { ...counting, place: { everyNode: true } } });
    const [one, two] = [await nodes.start("one"), await nodes.start("two")];
    const [first, second] = [await counted(one, "each"), await counted(two, "each")];
    expect(first.pid).not.toBe(second.pid);
    expect([await runnerOf(one, "each"), await runnerOf(two, "each")]).toEqual(["one", "two"]);
    await askOwner(join(one.directory, "data"), "POST", "/api/instances/each/restart", {});
    await until(() => !isAlive(first.pid) && !isAlive(second.pid));
    expect((await counted(two, "each")).pid).not.toBe((await counted(one, "each")).pid);
    await two.stop("SIGKILL");
    expect((await counted(one, "each")).count).toBeGreaterThan(1);
  });

  test("two nodes that cannot reach each other, and hold their leases: the one with calls gets the server, once", async () => {
    nodes = await startNodes({ it: counting });
    await using links = await createLinks();
    const [one, two] = [await nodes.start("one", await links.next()), await nodes.start("two", await links.next())];
    const first = await counted(one, "it");
    expect((await counted(two, "it")).pid).toBe(first.pid);
    links.cut();
    const moved = await counted(two, "it");
    expect(moved).toMatchObject({ count: 1 });
    expect(moved.pid).not.toBe(first.pid);
    expect(isAlive(first.pid)).toBe(false);
    // It is not thrown back at once.
    await expect(callAt(one, "it:count")).rejects.toThrow(/NODE_SILENT/);
    await expect(callAt(one, "it:count")).rejects.toThrow(/NODE_SILENT/);
    expect(await callAt(two, "it:count")).toEqual({ count: 2, pid: moved.pid });
    for (const { url } of [one, two]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    links.mend();
    expect((await counted(one, "it")).pid).toBe(moved.pid);
  });
});

/** Links between nodes that can be cut: each node tells the others the address of one. */
async function createLinks() {
  const all: SwitchProxy[] = [];
  return {
    async next(): Promise<{ readonly cluster: object }> {
      const port = await freePort();
      const link = await startSwitchProxy(port);
      all.push(link);
      return { cluster: { leaseMs: 3_000, listen: `127.0.0.1:${port}`, advertise: `127.0.0.1:${link.port}` } };
    },
    cut: () => all.forEach((link) => link.cut()),
    mend: () => all.forEach((link) => link.mend()),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(all.map(async (link) => await link[Symbol.asyncDispose]()))),
  };
}

/** The node that runs a server's instance, as that gateway says. */
async function runnerOf({ url }: RunningGateway, name: string): Promise<string | null> {
  const { json } = await get(`${url}/api/instances`);
  return json.instances.find(({ server }: { server: string }) => server === name).node;
}

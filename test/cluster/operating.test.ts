import { availableParallelism } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { startWebhookReceiver, webhookSettings, type WebhookReceiver } from "../records/webhook-receiver.ts";
import { callAt, clusterKey, startNodes, type Nodes } from "./nodes.ts";

const dataOf = ({ directory }: RunningGateway): string => join(directory, "data");

/** As the owner of that gateway. */
async function ask(gateway: RunningGateway, method: "GET" | "POST", path: string): Promise<any> {
  const { status, text } = await askOwner(dataOf(gateway), method, path, method === "POST" ? {} : undefined);
  return { status, ...JSON.parse(text) };
}

describe.skipIf(hasNoPostgres)("two nodes and those who run them", () => {
  let nodes: Nodes;
  let hook: WebhookReceiver;
  let [one, two]: RunningGateway[] = [];

  beforeAll(async () => {
    nodes = await startNodes();
    hook = await startWebhookReceiver();
    one = await nodes.start("one", { settings: { events: webhookSettings(hook) } });
    two = await nodes.start("two");
  });
  afterAll(async () => {
    await nodes[Symbol.asyncDispose]();
    await hook[Symbol.asyncDispose]();
  });

  /** Node one runs the server. */
  beforeEach(async () => {
    for (const name of ["one", "two"]) await ask(at("one"), "POST", `/api/nodes/${name}/resume`);
    for (const name of ["one", "two"] as const) await untilState(name, "ready");
    if ((await runner(at("one"))) === "one") return;
    await callAt(at("one"), "count");
    if ((await runner(at("one"))) === "one") return;
    await ask(at("two"), "POST", "/api/nodes/two/drain");
    await until(async () => (await callAt(at("two"), "count")) && (await runner(at("two"))) === "one");
    await ask(at("two"), "POST", "/api/nodes/two/resume");
    await untilState("two", "ready");
  });

  const at = (name: "one" | "two"): RunningGateway => (name === "one" ? one : two) as RunningGateway;

  /** The node that runs the server, as that gateway says. */
  async function runner(gateway: RunningGateway): Promise<string | null> {
    const { json } = await get(`${gateway.url}/api/instances`);
    return json.instances.find(({ server }: { server: string }) => server === "effects").node;
  }

  async function listed(from: "one" | "two"): Promise<any[]> {
    return (await get(`${at(from).url}/api/nodes`)).json.nodes;
  }

  /** Both nodes say so of it. */
  async function untilState(name: "one" | "two", state: string): Promise<void> {
    for (const from of ["one", "two"] as const)
      await until(async () => (await listed(from)).some((node) => node.id === name && node.state === state));
  }

  async function typed(...args: string[]): Promise<CommandResult> {
    const place = ["--config", at("two").configFile, "--data-dir", dataOf(at("two"))];
    return await runCommand([...args, ...place], { YARD_DATABASE: nodes.database, TOOLYARD_KEY: clusterKey });
  }

  const hasEvent = async (type: string, data: object): Promise<void> =>
    void (await until(() => hook.events.find((event) => event.type === type && isPartOf(data, event.data))));

  test("each lists both: what they run, their leases, and which one it is", async () => {
    await until(async () => (await listed("two")).some(({ id, instances }) => id === "one" && instances === 1));
    const [first, second] = await listed("two");
    expect(first).toMatchObject({ id: "one", this: false, state: "ready", instances: 1, differs: false });
    expect(first.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(first.config).toMatch(/^[0-9a-f]{64}$/);
    expect(first.leaseLeftMs).toBeGreaterThan(0);
    expect(second).toMatchObject({ id: "two", this: true, state: "ready", instances: 0 });
    expect(Date.parse(second.started)).toBeLessThanOrEqual(Date.now());
  });

  test("an instance says which node runs it, in lists and in the status", async () => {
    await callAt(at("two"), "count");
    expect([await runner(at("one")), await runner(at("two"))]).toEqual(["one", "one"]);
    const { servers } = await ask(at("two"), "GET", "/api/status");
    expect(servers[0]).toMatchObject({ server: "effects", node: "one" });
  });

  test("a node that another one is told to drain hands over, and answers its clients all the same", async () => {
    const before = await callAt(at("one"), "count");
    expect(await ask(at("two"), "POST", "/api/nodes/one/drain")).toMatchObject({ id: "one", state: "draining" });
    await untilState("one", "draining");
    const after = await until(async () => {
      const now = await callAt(at("one"), "count");
      return now.pid === before.pid ? undefined : now;
    });
    expect((await callAt(at("two"), "count")).pid).toBe(after.pid);
    expect(await runner(at("one"))).toBe("two");
    await until(async () => (await listed("one")).every(({ id, instances }) => instances === (id === "one" ? 0 : 1)));
    const ready = await get(`${at("one").url}/readyz`);
    expect([ready.status, JSON.stringify(ready.json)]).toEqual([503, expect.stringContaining("drained")]);
    expect((await get(`${at("two").url}/readyz`)).status).toBe(200);
    await hasEvent("node.draining", { node: "one" });
    expect(await ask(at("two"), "POST", "/api/nodes/one/resume")).toMatchObject({ state: "ready" });
    expect((await get(`${at("one").url}/readyz`)).status).toBe(200);
  });

  test("calls that run when a node is drained are answered, and none fails", async () => {
    const running = callAt(at("two"), "sleep", { ms: 5_000, id: "running" });
    await until(async () => (await ask(at("one"), "GET", "/api/status/activity")).pending.length > 0);
    await ask(at("one"), "POST", "/api/nodes/one/drain");
    const others = Array.from({ length: 20 }, async (_, nth) => await callAt(nth % 2 ? at("one") : at("two"), "count"));
    expect((await running).id).toBe("running");
    // By the process before, or the one after it.
    expect(new Set((await Promise.all(others)).map(({ pid }) => pid)).size).toBeLessThanOrEqual(2);
  });

  test("the node that takes over tells it, counts it, and counts what it forwards", async () => {
    await ask(at("two"), "POST", "/api/nodes/one/drain");
    await until(async () => (await callAt(at("two"), "count")) && (await runner(at("two"))) === "two");
    await callAt(at("one"), "count");
    await ask(at("one"), "POST", "/api/nodes/one/resume");
    await ask(at("one"), "POST", "/api/nodes/two/drain");
    await until(async () => (await callAt(at("one"), "count")) && (await runner(at("one"))) === "one");
    await hasEvent("instance.moved", { node: "one", why: "handed over" });
    await until(async () => {
      const text = await (await fetch(`${at("one").url}/metrics`)).text();
      expect(text).toMatch(/toolyard_cluster_takeovers_total\{why="handed over"\} [1-9]/);
      expect(text).toMatch(/toolyard_cluster_gap_seconds_count [1-9]/);
      expect(text).toMatch(/toolyard_cluster_forwarded_total\{outcome="ok"\} [1-9]/);
      expect(text).toMatch(/toolyard_cluster_lease_left_seconds [1-9]/);
      // Others are known by the last renewal.
      return (
        text.includes('toolyard_cluster_nodes{state="draining"} 1') && text.includes("toolyard_cluster_instances 1")
      );
    });
  });

  test("the commands: a list, a drain, and its end", async () => {
    expect((await typed("nodes")).stdout).toMatch(
      /^NODE +STATE +INSTANCES .*\none +ready +1 .*\ntwo +ready .*this one/,
    );
    const { nodes: all } = JSON.parse((await typed("nodes", "--json")).stdout);
    expect(all.map(({ id }: { id: string }) => id)).toEqual(["one", "two"]);
    expect((await typed("drain", "one")).stdout).toContain("one is drained");
    await untilState("one", "draining");
    const last = await typed("drain", "two");
    expect([last.code, last.stderr]).toEqual([1, expect.stringContaining("no other node is ready")]);
    expect((await typed("drain", "one", "--resume")).stdout).toBe("one takes part again\n");
    expect((await typed("drain")).code).toBe(2);
  });

  test("the doctor finds an address that no one listens at, and too few connections for the nodes", async () => {
    const good = await typed("doctor", "--json");
    expect(good.stdout).toContain("nodes of the cluster: one (ready), two (ready)");
    expect(good.stdout).toContain("PostgreSQL takes 40 connections, and 2 nodes may need 42");
    expect(good.stdout).not.toMatch(/cannot be reached at|TOOLYARD_KEY/);
    const lost = await nodes.start("lost", { cluster: { advertise: "127.0.0.1:1" } });
    await until(async () => (await listed("two")).some(({ id }) => id === "lost"));
    const config = ["--config", at("two").configFile, "--data-dir", dataOf(at("two"))];
    const bad = await runCommand(["doctor", ...config], {
      YARD_DATABASE: nodes.database,
      TOOLYARD_KEY: "a passphrase",
    });
    await lost.stop();
    expect(bad.stdout).toMatch(/the node lost cannot be reached at 127\.0\.0\.1:1/);
    expect(bad.stdout).toContain("TOOLYARD_KEY is no 32 bytes in base64");
  });

  test("unknown nodes are refused, and what was ordered is in the audit", async () => {
    expect(await ask(at("one"), "POST", "/api/nodes/three/drain")).toMatchObject({ status: 404, code: "NODE_UNKNOWN" });
    await ask(at("one"), "POST", "/api/nodes/two/drain");
    const { entries } = await ask(at("one"), "GET", "/api/audit?action=node.drain");
    expect(entries[0]).toMatchObject({ action: "node.drain", object: "two" });
  });

  test("an order over plain HTTP takes a login where no credentials are asked for", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${at("one").url}/api/nodes/two/drain`, { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(403);
  });

  test("the record of a call says which node served it, and which one ran the server", async () => {
    await callAt(at("two"), "count");
    await callAt(at("one"), "count");
    for (const from of ["one", "two"] as const)
      await until(async () => {
        const { calls } = await ask(at(from), "GET", "/api/calls?tool=effects:count&limit=2");
        const [last, before] = calls;
        return last?.node === "one" && !("serverNode" in last) && before?.node === "two" && before.serverNode === "one";
      });
    const { calls } = await ask(at("one"), "GET", "/api/calls?node=two&limit=1000");
    expect(new Set(calls.map(({ node }: any) => node))).toEqual(new Set(["two"]));
    const one = await ask(at("one"), "GET", `/api/calls/${calls[0].id}`);
    expect(one).toMatchObject({ node: "two", serverNode: "one" });
    expect((await typed("calls")).stdout).toMatch(/^TIME .* NODE\n[^]* two > one\n.* one\n/);
    expect((await typed("calls", "--node", "one", "--json")).stdout).not.toContain('"node":"two"');
  });

  test("each tells what the nodes have to do, and of those that say nothing any more nothing", async () => {
    await until(async () => {
      await callAt(at("two"), "count");
      const rows = await listed("one");
      const [first, second] = ["one", "two"].map((name) => rows.find(({ id }) => id === name));
      // Node two takes the calls, and node one has the process.
      if (!(second.load?.forwardedPerSecond > 0) || !(first.load?.memoryBytes > 10 * 1024 ** 2)) return false;
      expect(second.load.callsPerSecond).toBeGreaterThanOrEqual(second.load.forwardedPerSecond);
      expect(second.load).toMatchObject({ waitingStarts: 0, cores: availableParallelism() });
      expect(first.load.machineBytes).toBeGreaterThan(first.load.memoryBytes);
      return first.load.cpuCores > 0 && second.load.memoryBytes === 0;
    });
    const dead = await nodes.start("dead");
    await until(async () => (await listed("one")).some(({ id, load }) => id === "dead" && load !== null));
    await dead.stop();
    await until(async () => (await listed("one")).some((node) => node.id === "dead" && node.state === "dead"));
    expect((await listed("one")).find(({ id }) => id === "dead").load).toBeNull();
    expect((await typed("nodes")).stdout).toMatch(
      /^NODE .* CALLS\/S +FORWARDED\/S +CPU +MEMORY .*\ndead +dead +0 +- +-/,
    );
  });
});

describe.skipIf(hasNoPostgres)("what becomes of nodes", () => {
  test("joins, ends, silence and a lost lease are events of the nodes that see them", async () => {
    await using nodes = await startNodes();
    await using hook = await startWebhookReceiver();
    const seen = (type: string, node: string) => hook.events.find((one) => one.type === type && one.data.node === node);
    await nodes.start("one", { settings: { events: webhookSettings(hook) } });
    await until(() => seen("node.joined", "one"));
    const two = await nodes.start("two");
    expect((await until(() => seen("node.joined", "two"))).data.address).toMatch(/^127\.0\.0\.1:\d+$/);
    await two.stop();
    await until(() => seen("node.left", "two"));
    const three = await nodes.start("three", { settings: { events: webhookSettings(hook) } });
    await until(() => seen("node.joined", "three"));
    three.process.kill("SIGSTOP");
    await until(() => seen("node.silent", "three"));
    three.process.kill("SIGCONT");
    await until(() => seen("node.fenced", "three"));
  });

  test("a gateway with another configuration is marked, by each of the others", async () => {
    await using nodes = await startNodes();
    const one = await nodes.start("one");
    const two = await nodes.start("two", { servers: { bad: badServer() } });
    for (const gateway of [one, two])
      await until(async () => {
        const { json } = await get(`${gateway.url}/api/nodes`);
        return json.nodes.length === 2 && json.nodes.every((node: any) => node.differs === !node.this);
      });
  });
});

test("a gateway that is alone says so, and how it becomes a node", async () => {
  await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
  const { status, json } = await get(`${gateway.url}/api/nodes`);
  expect([status, json.code]).toEqual([409, "NO_CLUSTER"]);
  expect(json.hint).toContain("toolyard.cluster");
  expect((await get(`${gateway.url}/api/instances`)).json.instances[0].node).toBeNull();
});

const isPartOf = (part: object, whole: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(part).every(([key, value]) => whole[key] === value);

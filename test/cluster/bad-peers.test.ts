import { hkdfSync } from "node:crypto";
import { once } from "node:events";
import { connect as connectPlain, createServer, type AddressInfo } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createFrameStream, type FrameHead } from "../../src/cluster/peers/frames.ts";
import { freePort } from "../harness/free-port.ts";
import { badServer, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { callAt, clusterKey, startNodes, type Nodes } from "./nodes.ts";

const tls: ConnectionOptions = { minVersion: "TLSv1.3", ciphers: "TLS_AES_128_GCM_SHA256" };

/** The key of the wire, made from the gateways' as they do. */
const wireKey = ["toolyard audit", "toolyard peers"].reduce<Uint8Array>(
  (key, use) => new Uint8Array(hkdfSync("sha256", key, "", use, 32)),
  Buffer.from(clusterKey, "base64"),
);

/** A node with the right key, which sends what it is told to; `heard` is what it was sent. */
async function joinWire(port: number) {
  const psk = Buffer.from(wireKey);
  const pskCallback = () => ({ psk, identity: "toolyard" });
  const socket = connect({ host: "127.0.0.1", port, ...tls, pskCallback, checkServerIdentity: () => undefined });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  const heard: FrameHead[] = [];
  const frames = createFrameStream(socket, { bodyBytes: 1_000_000, onFrame: (head) => void heard.push(head) });
  return { frames, heard };
}

/** A port that leads to another one, and keeps what those who connect say. */
async function startRecorder(to: number) {
  const said: Buffer[] = [];
  const server = createServer((client) => {
    const behind = connectPlain(to, "127.0.0.1");
    for (const socket of [client, behind]) socket.on("error", () => undefined);
    client.on("data", (chunk: Buffer) => void said.push(chunk));
    client.pipe(behind).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { said, port: (server.address() as AddressInfo).port };
}

describe.skipIf(hasNoPostgres)("the port for other nodes", () => {
  let nodes: Nodes;
  let node: RunningGateway;
  let port: number;

  beforeAll(async () => {
    nodes = await startNodes();
    port = await freePort();
    node = await nodes.start("one", { cluster: { listen: `127.0.0.1:${port}` } });
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());

  /** Whether the database knows the node. */
  const isListed = async (id: string): Promise<boolean> =>
    (await nodes.postgres.run(`select 1 from toolyard_cluster.nodes where id = '${id}'`, "yard")).length > 0;

  const ended = async (psk: Buffer | undefined, identity = "toolyard"): Promise<string> => {
    const more =
      psk === undefined ? {} : { pskCallback: () => ({ psk, identity }), checkServerIdentity: () => undefined };
    const socket = connect({ host: "127.0.0.1", port, ...tls, ...more });
    const [error] = await once(socket, "error");
    return String((error as Error).message);
  };

  test("lets no one in with another key, another name, or none", async () => {
    expect(await ended(Buffer.alloc(32, 9))).toMatch(/alert|reset|closed|disconnected/i);
    expect(await ended(Buffer.alloc(32, 9), "somebody")).toMatch(/alert|reset|closed|disconnected/i);
    expect(await ended(undefined)).toMatch(/alert|reset|closed|disconnected/i);
    expect((await callAt(node, "count")).count).toBeGreaterThan(0);
  });

  test("ends a connection that sends junk", async () => {
    const socket = connectPlain({ host: "127.0.0.1", port });
    socket.on("error", () => undefined);
    socket.write(Buffer.alloc(1_000_000, 0xff));
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await callAt(node, "count")).count).toBeGreaterThan(0);
  });

  test("a node of an older version of the wire is told which one is spoken here, and let go", async () => {
    const { frames, heard } = await joinWire(port);
    frames.send({ k: "hello", wire: 0, id: "older", epoch: 1 });
    await frames.closed;
    expect(heard).toEqual([expect.objectContaining({ k: "hello", wire: 1, id: "one" })]);
  });

  test("a node of a newer version hears which one is spoken here, and is answered in it", async () => {
    const { frames, heard } = await joinWire(port);
    frames.send({ k: "hello", wire: 2, id: "newer", epoch: 1, more: { than: "is known" } });
    frames.send({ k: "tell", id: 1, question: "reach" });
    await until(() => heard.length === 2);
    expect(heard).toEqual([
      expect.objectContaining({ k: "hello", wire: 1, id: "one" }),
      { k: "told", id: 1, reaches: true },
    ]);
  });

  test.each([
    ["no hello", { k: "tell", id: 1, question: "drain" }],
    ["no version", { k: "hello", id: "none", epoch: 1 }],
    ["no name", { k: "hello", wire: 1, epoch: 1 }],
  ])("with the right key, but %s, nothing is taken", async (_what, head) => {
    const { frames, heard } = await joinWire(port);
    frames.send(head);
    frames.send({ k: "tell", id: 2, question: "drain" });
    await frames.closed;
    expect(heard.map(({ k }) => k)).toEqual(["hello"]);
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
  });

  test("a gateway with another key does not start beside it", async () => {
    const env = { TOOLYARD_KEY: Buffer.alloc(32, 3).toString("base64") };
    await expect(nodes.start("two", { env })).rejects.toThrow(/the node one has another key than this one/);
    expect((await callAt(node, "count")).count).toBeGreaterThan(0);
  });

  test("a node without a database does not start, and says what is missing", async () => {
    await expect(nodes.start("none", { settings: { database: undefined } })).rejects.toThrow(/Set toolyard.database/);
  });

  test("a second node of the same name does not start, and the first goes on", async () => {
    await expect(nodes.start("again", { cluster: { node: "one" } })).rejects.toThrow(/another node is called one/);
    expect((await callAt(node, "count")).count).toBeGreaterThan(0);
    expect(node.stderr()).not.toContain("serves none of its servers");
  });

  test("a node that starts is unready until it takes part, although it listens before", async () => {
    const at = await freePort();
    let hasStarted = false;
    const starting = nodes.start("late", { port: at }).finally(() => (hasStarted = true));
    const seen = new Set<number>();
    while (!hasStarted) {
      const { status } = await fetch(`http://127.0.0.1:${at}/readyz`).catch(() => ({ status: 0 }));
      if (!hasStarted && !(await isListed("late"))) seen.add(status);
    }
    await using late = await starting;
    expect(seen).not.toContain(200);
    await until(async () => (await fetch(`${late.url}/readyz`)).status === 200);
  });

  test("a node that never saw a server is ready when it knows its tools, so that no call is told that there are none", async () => {
    await using fresh = await nodes.start("fresh", { servers: { slow: badServer("--start-delay", "5000") } });
    await until(async () => (await fetch(`${fresh.url}/readyz`)).status === 200);
    expect((await execute(fresh.url, "slow:echo", { text: "at once" })).isError).not.toBe(true);
  });

  test("what was recorded on the way to it and is sent again has no effect", async () => {
    const recorder = await startRecorder(port);
    const cluster = { advertise: `127.0.0.1:${recorder.port}` };
    // The same node, at the address where it is listened in on.
    await node.stop();
    node = await nodes.start("one", { cluster: { listen: `127.0.0.1:${port}`, ...cluster } });
    await callAt(node, "count");
    await using two = await nodes.start("two");
    await callAt(two, "note", { id: "once" });
    const before = await callAt(node, "count");
    const recorded = Buffer.concat(recorder.said);
    expect(recorded.length).toBeGreaterThan(500);
    for (const pieces of [[recorded], recorder.said.slice()]) {
      const socket = connectPlain({ host: "127.0.0.1", port });
      socket.on("error", () => undefined);
      for (const piece of pieces) socket.write(piece);
      socket.resume();
      await new Promise((resolve) => socket.once("close", resolve));
    }
    expect(await callAt(node, "count")).toEqual({ count: before.count + 1, pid: before.pid });
    expect((await nodes.effects()).filter(({ id }) => id === "once")).toHaveLength(1);
  });
});

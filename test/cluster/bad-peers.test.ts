import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

const tls: ConnectionOptions = { minVersion: "TLSv1.3", ciphers: "TLS_AES_128_GCM_SHA256" };

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
});

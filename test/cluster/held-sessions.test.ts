import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openStream, type OpenStream } from "../protocol/stream.ts";
import { startNodes, type Nodes } from "./nodes.ts";

const server = { ...badServer("--behaviours=resource-updated,log,canary", "--resources"), scope: "shared" };

describe.skipIf(hasNoPostgres)("what a client sets in its session", () => {
  let nodes: Nodes;
  let all: RunningGateway[];
  let lastId = 0;

  const start = async (name: string): Promise<RunningGateway> => {
    const node = await nodes.start(name, { servers: { bad: server }, settings: { principals: knownPeople } });
    const canary = { name: "canary" };
    await until(
      async () =>
        (await rpc(`${node.url}/mcp/server/bad`, "tools/call", canary, as("alice"))).json?.result !== undefined,
    );
    return node;
  };

  beforeAll(async () => {
    nodes = await startNodes();
    all = [];
    for (const name of ["one", "two", "three"]) all.push(await start(name));
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());

  const at = (turn: number): RunningGateway => all[turn % all.length] as RunningGateway;

  async function post(node: RunningGateway, body: object, headers: Record<string, string>): Promise<OpenStream> {
    const message = { jsonrpc: "2.0", ...body };
    return await openStream(`${node.url}/mcp/server/bad`, { headers, body: message });
  }

  /** A client with a session, which says with each request at which node. */
  async function connect() {
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const first = await post(at(0), { id: 0, method: "initialize", params }, as("alice"));
    const id = String(first.headers["mcp-session-id"]);
    const headers = { ...as("alice"), "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
    return {
      headers,
      async call(node: RunningGateway, method: string, sent: object = {}): Promise<OpenStream> {
        lastId += 1;
        const stream = await post(node, { id: lastId, method, params: sent }, headers);
        await until(() => stream.ended);
        return stream;
      },
      listen: async (node: RunningGateway): Promise<OpenStream> =>
        await openStream(`${node.url}/mcp/server/bad`, {
          method: "GET",
          headers: { ...headers, accept: "text/event-stream" },
        }),
    };
  }

  const updates = ({ messages }: OpenStream): number =>
    messages.filter(({ method }) => method === "notifications/resources/updated").length;
  const uri = "bad://text";
  const announce = { name: "resource-updated" };

  test("a resource that is watched at one node is told of on the stream at another, whatever node hears of it", async () => {
    const client = await connect();
    const stream = await client.listen(at(2));
    expect((await client.call(at(0), "resources/subscribe", { uri })).messages).toMatchObject([{ result: {} }]);
    for (let turn = 0; turn < 3; turn += 1) {
      await client.call(at(turn), "tools/call", announce);
      await until(() => updates(stream) === turn + 1);
    }
    await client.call(at(1), "resources/unsubscribe", { uri });
    await client.call(at(0), "tools/call", announce);
    const other = await connect();
    const heard = await other.listen(at(2));
    await other.call(at(1), "resources/subscribe", { uri });
    await until(async () => {
      await other.call(at(0), "tools/call", announce);
      return updates(heard) > 0;
    });
    expect(updates(stream)).toBe(3);
    stream.close();
    heard.close();
  });

  test("a log level that is set at one node holds at the others", async () => {
    const client = await connect();
    const logged = async (node: RunningGateway, level: string): Promise<unknown[]> => {
      const { messages } = await client.call(node, "tools/call", { name: "log", arguments: { level } });
      return messages.filter(({ method }) => method === "notifications/message");
    };
    await client.call(at(1), "tools/list");
    await client.call(at(0), "logging/setLevel", { level: "error" });
    for (const node of all) {
      expect(await logged(node, "info")).toHaveLength(0);
      expect(await logged(node, "error")).toHaveLength(1);
    }
  });

  test("holds at a node that began later, and when the node that was asked is killed", async () => {
    const client = await connect();
    await client.call(at(1), "resources/subscribe", { uri });
    await client.call(at(1), "logging/setLevel", { level: "error" });
    all.push(await start("four"));
    const stream = await client.listen(at(3));
    await until(async () => {
      await client.call(at(0), "tools/call", announce);
      return updates(stream) > 0;
    });
    await at(1).stop("SIGKILL");
    const before = updates(stream);
    await until(async () => {
      await client.call(at(0), "tools/call", announce);
      return updates(stream) > before;
    });
    const { messages } = await client.call(at(3), "tools/call", { name: "log", arguments: { level: "info" } });
    expect(messages.filter(({ method }) => method === "notifications/message")).toEqual([]);
    stream.close();
  });

  test("is nothing that another person can set or hear", async () => {
    const client = await connect();
    await client.call(at(0), "resources/subscribe", { uri });
    const headers = { ...client.headers, ...as("bob") };
    const url = `${at(2).url}/mcp/server/bad`;
    const stream = await openStream(url, { method: "GET", headers: { ...headers, accept: "text/event-stream" } });
    expect(stream.status).toBe(404);
    const body = { jsonrpc: "2.0", id: 1, method: "logging/setLevel", params: { level: "debug" } };
    expect((await openStream(url, { headers, body })).status).toBe(404);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startNodes, type Nodes } from "./nodes.ts";

const server = badServer("--behaviours=in-flight", "--tasks", "--tool-name", "start-task");
const servers = { tasks: { ...server, scope: "shared" } };

describe.skipIf(hasNoPostgres)("a task that was begun at one node", () => {
  let nodes: Nodes;
  /** The first of them runs the server. */
  let all: RunningGateway[];

  const start = async (name: string): Promise<RunningGateway> => {
    const node = await nodes.start(name, { servers, settings: { principals: knownPeople } });
    await until(
      async () => (await send(node, "alice", "tools/call", { name: "in-flight" })).json?.result !== undefined,
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

  async function send(node: RunningGateway, who: string, method: string, params: object): Promise<RawAnswer> {
    return await rpc(`${node.url}/mcp/server/tasks`, method, params, as(who));
  }

  async function begin(node: RunningGateway, who = "alice"): Promise<string> {
    const { json } = await send(node, who, "tools/call", { name: "start-task", task: {} });
    return json.result.task.taskId as string;
  }

  const listed = async (node: RunningGateway, who: string): Promise<readonly string[]> =>
    (await send(node, who, "tasks/list", {})).json.result.tasks.map(({ taskId }: { taskId: string }) => taskId);

  test("is asked about, listed and cancelled at the others, at endpoints of one server and of all", async () => {
    for (const turn of [0, 1, 2]) {
      const taskId = await begin(at(turn));
      for (const path of ["/mcp/server/tasks", "/mcp", "/mcp/flat"]) {
        const { json } = await rpc(`${at(turn + 1).url}${path}`, "tasks/get", { taskId }, as("alice"));
        expect([path, json.result?.status]).toEqual([path, "working"]);
      }
      expect(await listed(at(turn + 2), "alice")).toContain(taskId);
      const cancelled = await rpc(`${at(turn + 2).url}/mcp/flat`, "tasks/cancel", { taskId }, as("alice"));
      expect(cancelled.json.result?.status).toBe("cancelled");
    }
  });

  test("is nobody else's at any node, in the same words as one that there is not", async () => {
    const taskId = await begin(at(1));
    for (const node of all) {
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        const theirs = await send(node, "bob", method, { taskId });
        const none = await send(node, "bob", method, { taskId: crypto.randomUUID() });
        expect(theirs.json.error).toMatchObject({ code: -32602 });
        expect(theirs.json.error).toEqual(none.json.error);
      }
      expect(await listed(node, "bob")).not.toContain(taskId);
      expect(await listed(node, "alice")).toContain(taskId);
    }
  });

  test("is known to a node that began later, and when the one that it was begun at was killed", async () => {
    const taskId = await begin(at(1));
    all.push(await start("four"));
    expect((await send(at(3), "alice", "tasks/get", { taskId })).json.result?.status).toBe("working");
    expect(await listed(at(3), "alice")).toContain(taskId);
    const last = await begin(at(1));
    await until(async () => (await listed(at(2), "alice")).includes(last));
    await at(1).stop("SIGKILL");
    for (const node of [at(0), at(2), at(3)])
      expect((await send(node, "alice", "tasks/get", { taskId: last })).json.result?.status).toBe("working");
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

describe.skipIf(hasNoPostgres)("three nodes of one cluster", () => {
  let nodes: Nodes;
  let all: RunningGateway[];

  beforeAll(async () => {
    nodes = await startNodes();
    all = await Promise.all(["one", "two", "three"].map(async (name) => await nodes.start(name)));
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());

  test("a server is one process with one state, whichever node is called", async () => {
    const counts: { count: number; pid: number }[] = [];
    for (let round = 0; round < 3; round += 1) for (const node of all) counts.push(await callAt(node, "count"));
    expect(counts.map(({ count }) => count)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(counts.map(({ pid }) => pid)).size).toBe(1);
  });

  test("a restart at any node restarts it, and a stop at any node stops it for all", async () => {
    const order = async (node: RunningGateway, name: string): Promise<number> =>
      (await post(`${node.url}/api/instances/effects/${name}`, {})).status;
    const { pid } = await callAt(all[0]!, "count");
    const pids = new Set([pid]);
    for (const node of all) {
      expect(await order(node, "restart")).toBe(200);
      const next = await Promise.all(all.map(async (one) => (await callAt(one, "count")).pid as number));
      expect(new Set(next).size).toBe(1);
      expect(pids.has(next[0]!)).toBe(false);
      pids.add(next[0]!);
    }
    expect(await order(all[1]!, "stop")).toBe(200);
    for (const node of all) await expect(callAt(node, "count")).rejects.toThrow("SERVER_STOPPED");
    expect(await order(all[2]!, "restart")).toBe(200);
    const again = await Promise.all(all.map(async (one) => (await callAt(one, "count")).pid as number));
    expect(new Set(again).size).toBe(1);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
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
});

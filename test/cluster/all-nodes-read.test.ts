import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { as, knownPeople } from "../harness/known-people.ts";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { readEvents, type EventReader } from "../records/event-reader.ts";
import { effectsServer, startNodes, type Nodes } from "./nodes.ts";

describe.skipIf(hasNoPostgres)("who reads at one node what happens at all of them", () => {
  let nodes: Nodes;
  let one: RunningGateway;
  let two: RunningGateway;

  beforeAll(async () => {
    const servers = { effects: { command: process.execPath, args: [effectsServer], scope: "shared" } };
    nodes = await startNodes(servers);
    one = await nodes.start("one", { settings: { principals: knownPeople } });
    await until(async () => (await call(one, "alice", "count")).status === 200);
    two = await nodes.start("two", { settings: { principals: knownPeople } });
    await until(async () => (await call(two, "alice", "count")).status === 200);
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());

  const call = async (gateway: RunningGateway, who: string, tool: string, args: object = {}) =>
    await run(gateway.url, `effects:${tool}`, args, as(who));
  const listen = async (gateway: RunningGateway, who: string): Promise<EventReader> =>
    await readEvents(`${gateway.url}/api/events?types=mcp.request.logs`, as(who));
  const isOf =
    (who: string) =>
    ({ data }: EventReader["events"][number]): boolean =>
      data.principal === who;

  /** What a list that is followed sends, line by line. */
  async function follow(gateway: RunningGateway, path: string, who: string) {
    const leaving = new AbortController();
    const { body } = await fetch(`${gateway.url}${path}`, { headers: as(who), signal: leaving.signal });
    const lines: any[] = [];
    const reading = (async () => {
      let rest = "";
      for await (const text of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)) {
        const parts = (rest + String(text)).split("\n");
        rest = parts.pop() ?? "";
        lines.push(...parts.filter((line) => line !== "").map((line) => JSON.parse(line)));
      }
    })().catch(() => undefined);
    return {
      lines,
      async leave() {
        leaving.abort();
        await reading;
      },
    };
  }

  test("everybody sees of other nodes what they would see there, with the node", async () => {
    const [alice, bob, root] = [await listen(two, "alice"), await listen(two, "bob"), await listen(two, "root")];
    // The other node tells from when it was asked to.
    const far = await until(async () => {
      await call(one, "alice", "count");
      return alice.events.find(isOf("alice"));
    });
    expect(far.data).toMatchObject({ node: "one", server: "effects", data: { path: "effects:count", outcome: "ok" } });
    const seen = (await root.next(isOf("alice"))).data;
    expect(seen).toMatchObject({ node: "one", principal: "alice", data: { outcome: "ok" } });
    expect(seen.data).not.toHaveProperty("path");
    await call(two, "bob", "count");
    const own = await bob.next(isOf("bob"));
    expect(own.data).not.toHaveProperty("node");
    // It ran at the other node, and is told once, where it was made.
    expect(own.data.data).toMatchObject({ node: "one" });
    await root.next(isOf("bob"));
    expect(root.events.filter(isOf("bob"))).toHaveLength(1);
    expect(bob.events.filter(isOf("alice"))).toEqual([]);
    for (const reader of [alice, bob, root]) reader.close();
  });

  test("a node that joins is heard, and readers are told that they may have missed something of it", async () => {
    const root = await listen(two, "root");
    const three = await nodes.start("three", { settings: { principals: knownPeople } });
    await root.next(({ event }) => event === "reset");
    await until(async () => {
      await call(three, "alice", "count");
      return root.events.some(({ data }) => (data as { node?: string }).node === "three");
    });
    await three.stop();
    root.close();
  });

  test("lines of a server and calls of another node come to those who follow them", async () => {
    const logs = await follow(two, "/api/logs?follow=true&server=effects&newest=0", "alice");
    const calls = await follow(two, "/api/calls?follow=true&tool=effects:note&newest=0", "root");
    // The process is at node one.
    expect((await get(`${two.url}/api/instances`, as("root"))).json.instances[0].node).toBe("one");
    for (const id of ["first", "second"]) {
      await call(one, "alice", "note", { id });
      await until(() => logs.lines.some(({ line }) => line === `noted ${id}`));
    }
    await call(two, "alice", "note", { id: "third" });
    await until(() => logs.lines.some(({ line }) => line === "noted third"));
    await until(() => calls.lines.length >= 3);
    // In whatever order the nodes write them, each is told once.
    expect(calls.lines.map(({ node }) => String(node)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      ...["one", "one", "two"],
    ]);
    expect(new Set(calls.lines.map(({ id }) => id)).size).toBe(calls.lines.length);
    expect(logs.lines.filter(({ line }) => line === "noted first")).toHaveLength(1);
    await logs.leave();
    await calls.leave();
  });
});

import { expect, test } from "vitest";
import { createNodeChanges } from "./node-changes.ts";
import type { KnownNode } from "./node-membership.ts";

const node = (id: string, facts: Partial<KnownNode> = {}): KnownNode => ({
  ...{ id, epoch: 1, address: `${id}:7300`, state: "ready", leasedUntilMs: 1_000 },
  info: { version: "1.0.0", startedAtMs: 0, key: "k", config: "", instances: 0 },
  ...facts,
});

/** What is told at each look, as `type id epoch`. */
function told(...looks: readonly (readonly KnownNode[])[]): string[][] {
  const look = createNodeChanges("me");
  return looks.map((nodes) => look(nodes, 500).map((one) => `${one.type} ${one.node.id} ${one.node.epoch}`));
}

const me = node("me");

test("at the first look only this node is new, and what does not change is not told again", () => {
  expect(told([me, node("other")], [me, node("other")])).toEqual([["node.joined me 1"], []]);
});

test("a node joins, drains, is ready again, and leaves", () => {
  const looks = [
    [me],
    [me, node("other")],
    [me, node("other", { state: "draining" })],
    [me, node("other")],
    [me, node("other", { state: "dead" })],
    [me, node("other", { state: "dead", leasedUntilMs: 0 })],
    [me],
  ];
  expect(told(...looks).slice(1)).toEqual([
    ["node.joined other 1"],
    ["node.draining other 1"],
    ["node.joined other 1"],
    ["node.left other 1"],
    [],
    [],
  ]);
});

test("a node whose lease runs out is silent, once, and its next life begins after the former has ended", () => {
  const looks = [
    [me, node("other")],
    [me, node("other", { leasedUntilMs: 0 })],
    [me, node("other", { leasedUntilMs: 0 })],
    [me, node("other", { epoch: 2 })],
  ];
  expect(told(...looks).slice(1)).toEqual([["node.silent other 1"], [], ["node.left other 1", "node.joined other 2"]]);
});

test("a node that was dead at the first look is not told to leave, and its next life joins", () => {
  const dead = node("other", { state: "dead" });
  expect(told([me, dead], [me, dead], [me, node("other", { epoch: 2 })]).slice(1)).toEqual([
    [],
    ["node.joined other 2"],
  ]);
});

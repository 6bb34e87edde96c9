import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { fakeServer } from "../../../test/harness/fake-server.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import { heirOf, hostOf, mayLeave, mayRun, toRoomText } from "./place-rules.ts";

const info = { version: "1", startedAtMs: 0, config: "", key: "", instances: 0 };
const node = (id: string, epoch: number, labels?: Readonly<Record<string, string>>, state = "ready"): KnownNode =>
  ({ id, epoch, state, address: "a:1", leasedUntilMs: 9e9, info: { ...info, ...(labels && { labels }) } }) as KnownNode;
const nodes = [
  node("me", 5, { gpu: "yes" }),
  node("old", 1, { gpu: "yes", site: "berlin" }),
  node("new", 4, { gpu: "yes" }),
  node("other", 6),
  node("ended", 7, { gpu: "yes" }, "dead"),
];
const membership = { me: { id: "me", epoch: 5 }, nodes: () => nodes } as unknown as Membership;
const clock = createManualClock();
const asking = (labels: Readonly<Record<string, string>>) => fakeServer({ place: { everyNode: false, labels } });

test("a node may run a server when it has all of its labels, with their values", () => {
  expect(mayRun(asking({}), undefined)).toBe(true);
  expect(mayRun(fakeServer(), {})).toBe(true);
  expect(mayRun(asking({ gpu: "yes", site: "berlin" }), { site: "berlin", gpu: "yes", more: "x" })).toBe(true);
  expect(mayRun(asking({ gpu: "yes" }), { gpu: "no" })).toBe(false);
  expect(mayRun(asking({ gpu: "yes" }), undefined)).toBe(false);
});

test("an heir is the newest of those that may run it, and there may be none", () => {
  expect(heirOf(membership, clock)?.id).toBe("other");
  expect(heirOf(membership, clock, asking({ gpu: "yes" }))?.id).toBe("new");
  expect(heirOf(membership, clock, asking({ site: "berlin" }))?.id).toBe("old");
  expect(heirOf(membership, clock, asking({ site: "rome" }))).toBeUndefined();
});

test("instances are divided among the nodes that may run them", () => {
  const server = asking({ gpu: "yes" });
  const hosts = Array.from(
    { length: 40 },
    (_, nth) => hostOf(membership, clock, { instance: `i${nth}`, server, home: undefined })?.id,
  );
  expect(new Set(hosts)).toEqual(new Set(["old", "new"]));
  expect(
    hostOf(membership, clock, { instance: "i", server: asking({ site: "rome" }), home: undefined }),
  ).toBeUndefined();
});

test("which labels are asked for and which there are is told, of ten nodes at most", () => {
  expect(toRoomText(asking({ site: "rome" }), nodes)).toBe(
    "it asks for a node with the labels site=rome, and there are " +
      "me (gpu=yes), new (gpu=yes), old (gpu=yes, site=berlin), other (no labels)",
  );
  const many = Array.from({ length: 12 }, (_, nth) => node(`n${nth + 10}`, nth));
  expect(toRoomText(asking({ site: "rome" }), many)).toMatch(/n19 \(no labels\), 2 more$/);
});

test("what keeps files, or asks for labels that no other node has, stays where it is", () => {
  expect(mayLeave(fakeServer(), { ...membership, nodes: () => [] })).toBe(true);
  expect(mayLeave(asking({ site: "berlin" }), membership)).toBe(true);
  expect(mayLeave(asking({ site: "rome" }), membership)).toBe(false);
  expect(mayLeave(fakeServer({ files: "node" }), membership)).toBe(false);
});

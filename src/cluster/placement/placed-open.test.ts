import { expect, test } from "vitest";
import type { InstanceId } from "../../kernel/ids.ts";
import type { OpenOptions, Opened } from "../../servers/instance/instance-deps.ts";
import type { ClusterStore } from "../../store/shared.ts";
import { fakeServer } from "../../../test/harness/fake-server.ts";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { Membership } from "../leases/node-membership.ts";
import { createPlacedInstances } from "./placed-open.ts";

const instance = "notes" as InstanceId;
const server = fakeServer();
const { signal } = new AbortController();

/** A node whose server has just ended, and whose database said that when it was to take the instance back. */
async function ended(said: Awaited<ReturnType<ClusterStore["release"]>>) {
  const life = { id: "one", epoch: 1 };
  const claim = { instance, node: { ...life }, epoch: 7 };
  const done: string[] = [];
  const opened = {
    closed: new Promise(() => undefined),
    pending: () => [],
    kill: () => void done.push("killed"),
    async [Symbol.asyncDispose]() {
      done.push("asked to end");
    },
  } as unknown as Opened;
  const placed = createPlacedInstances({
    openHere: async () => opened,
    store: { release: async () => said },
    membership: { me: life, isLeased: true, isDraining: false } as unknown as Membership,
    placement: { place: async () => ({ kind: "here", claim }) },
    host: { tellEvent: () => undefined, goAway: () => () => undefined },
    clock: createManualClock(),
    ownerOf: () => null,
    onTaken: () => undefined,
  });
  const connection = await placed.open(server, instance, { events: {} } as unknown as OpenOptions, signal);
  return { placed, life, claim, connection, done };
}

test("what the database was not asked to take back is the node's own, until another life of it begins", async () => {
  const { placed, life, claim, connection } = await ended("unasked");
  await connection[Symbol.asyncDispose]();
  expect(placed.kept(instance)).toBe(claim);
  life.epoch = 2;
  expect(placed.kept(instance)).toBeUndefined();
});

test("what may have been taken back is not, because another node may have it", async () => {
  const { placed, connection } = await ended("unknown");
  await connection[Symbol.asyncDispose]();
  expect(placed.kept(instance)).toBeUndefined();
});

test("what a node is fenced from is killed, not asked to end", async () => {
  const { placed, connection, done } = await ended("released");
  placed.loseAll();
  expect(done).toEqual(["killed"]);
  expect(await connection.closed).toEqual({ kind: "moved", node: "one" });
});

import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { ClusterStore, NodeRow, Renewed } from "../../store/shared.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { createMembership, type KnownNode } from "./node-membership.ts";

const info = { version: "1", startedAtMs: 0, config: "c", key: "k", instances: 0 };
const row = (id: string, more: Partial<NodeRow> = {}): NodeRow => ({
  ...{ id, epoch: 1, address: "127.0.0.1:1", state: "ready", leftMs: 5_000, info },
  ...more,
});

/** A node with leases of five seconds, and a database that answers when it is told to. */
function create(others: readonly NodeRow[] = []) {
  const clock = createManualClock();
  const renewals: { readonly answer: (renewed?: Renewed) => void; readonly fail: () => void }[] = [];
  const asked: (readonly string[])[] = [];
  const told: string[] = [];
  let epoch = 0;
  let areAllCutOff = false;
  const store = {
    join: async () => (epoch += 1),
    renew: async () =>
      await new Promise<Renewed>((resolve, reject) =>
        renewals.push({
          answer: (renewed = { isMine: true, owned: 0, nodes: others, wanted: [] }) => resolve(renewed),
          fail: () => reject(new Error("away")),
        }),
      ),
    markDead: async () => undefined,
  } as unknown as ClusterStore;
  const log = { info: () => undefined, warn: () => undefined } as unknown as Log;
  const membership = createMembership({
    ...{ store, clock, log, id: "one", leaseMs: 5_000, address: () => "127.0.0.1:2", info: () => info },
    areAllCutOff: async (nodes: readonly KnownNode[]) => {
      asked.push(nodes.map(({ id }) => id));
      return areAllCutOff;
    },
    onRenewed: () => told.push("renewed"),
  });
  membership.onFenced(() => told.push("fenced"));
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return {
    ...{ membership, clock, asked, told, settle },
    agree: () => (areAllCutOff = true),
    get pending() {
      return renewals.length;
    },
    async reply(how: "answer" | "fail" = "answer") {
      renewals.shift()?.[how]();
      await settle();
    },
    async start() {
      const started = membership.start();
      await settle();
      renewals.shift()?.answer();
      await started;
    },
    pass: async (ms: number) => await clock.advance(ms),
  };
}

test("an answer that comes after the lease ran out gives no lease: another life begins", async () => {
  const { membership, told, pass, reply, start } = create();
  await start();
  const { epoch } = membership.me;
  await pass(5_000);
  expect(told.at(-1)).toBe("fenced");
  expect(membership.isLeased).toBe(false);
  await reply();
  expect(membership.isLeased).toBe(false);
  await pass(1_100);
  expect(membership.me.epoch).toBeGreaterThan(epoch);
});

test("an order to drain and its end leave one renewal at a time, however often they come", async () => {
  const node = create();
  await node.start();
  for (let times = 0; times < 5; times += 1) {
    // While a renewal is under way.
    await node.pass(1_000);
    const turned = times % 2 === 0 ? node.membership.drain() : node.membership.resume();
    await node.reply();
    await node.reply();
    await turned;
  }
  expect(node.pending).toBe(0);
  await node.pass(1_050);
  expect(node.pending).toBe(1);
});

test("while the database is away, members are asked that had a lease then, and no node of before", async () => {
  const others = [row("two"), row("lapsed", { leftMs: -60_000 }), row("dead", { state: "dead" })];
  const node = create(others);
  await node.start();
  node.agree();
  for (let seconds = 0; seconds < 20; seconds += 1) {
    await node.pass(500);
    await node.reply("fail");
  }
  expect(node.membership.isLeased).toBe(true);
  expect(new Set(node.asked.flat())).toEqual(new Set(["two"]));
});

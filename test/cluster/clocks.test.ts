import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { canShiftClocks, createShiftedClock, type ShiftedClock } from "../harness/shifted-clock.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

const hourMs = 3_600_000;
const leaseMs = 5_000;

describe.skipIf(hasNoPostgres || !canShiftClocks)("two nodes, one of which has a clock that jumps", () => {
  let clock: ShiftedClock;
  let nodes: Nodes;
  let [jumping, steady]: RunningGateway[] = [];

  beforeAll(async () => {
    clock = await createShiftedClock();
    nodes = await startNodes();
    jumping = await nodes.start("jumping", { cluster: { leaseMs }, env: clock.env });
    await callAt(jumping, "count");
    steady = await nodes.start("steady", { cluster: { leaseMs } });
    await callAt(steady, "count");
  });
  afterAll(async () => {
    await nodes[Symbol.asyncDispose]();
    await clock[Symbol.asyncDispose]();
  });

  const both = (): readonly RunningGateway[] => [jumping as RunningGateway, steady as RunningGateway];

  /** What each says of both. */
  async function seen(): Promise<any[][]> {
    return await Promise.all(both().map(async ({ url }) => (await get(`${url}/api/nodes`)).json.nodes));
  }

  /** Leases were renewed so often. */
  async function untilRenewed(times: number): Promise<void> {
    const leases = async (): Promise<string> =>
      JSON.stringify(
        await nodes.postgres.run("select id, until::text from toolyard_cluster.nodes order by id", "yard"),
      );
    for (let at = 0; at < times; at += 1) {
      const before = await leases();
      await until(async () => (await leases()) !== before);
    }
  }

  test("an hour forward, two back, and a day forward: no one is fenced, and the same process goes on", async () => {
    const { pid, count } = await callAt(both()[1] as RunningGateway, "count");
    let expected = count;
    for (const wallMs of [hourMs, -hourMs, 24 * hourMs]) {
      clock.shift({ wallMs });
      // More renewals than a lease is long.
      await untilRenewed(12);
      for (const gateway of both())
        for (let at = 0; at < 3; at += 1)
          expect(await callAt(gateway, "count")).toEqual({ count: (expected += 1), pid });
      for (const list of await seen()) {
        expect(list.map(({ id, state }) => `${id} ${state}`)).toEqual(["jumping ready", "steady ready"]);
        for (const { leaseLeftMs } of list) expect(leaseLeftMs).toBeLessThanOrEqual(leaseMs);
      }
    }
    for (const { url, stderr } of both()) {
      expect((await get(`${url}/readyz`)).status).toBe(200);
      expect(stderr()).not.toContain("serves none of its servers");
    }
  });

  test("a node that hung for longer than its lease while its clock was set back serves nothing of before", async () => {
    const { pid } = await callAt(both()[0] as RunningGateway, "count");
    const [owner, other] = both() as [RunningGateway, RunningGateway];
    owner.process.kill("SIGSTOP");
    const after = await until(async () => await callAt(other, "count").catch(() => undefined));
    clock.shift({ wallMs: -hourMs });
    owner.process.kill("SIGCONT");
    expect(after.pid).not.toBe(pid);
    expect((await callAt(owner, "count")).pid).toBe(after.pid);
  });
});

import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasNoPostgres, startPostgres, type Postgres } from "../../../../test/harness/postgres.ts";
import { until } from "../../../../test/harness/until.ts";
import type { ClusterStore, NodeKey } from "../../shared.ts";
import { openClusterDatabase } from "./cluster-database.ts";

const about = { leaseMs: 600_000, state: "ready", info: {} as never } as const;
const usual = { takesLapsed: false, keepsFiles: false };

describe.skipIf(hasNoPostgres)("who runs what, in PostgreSQL", () => {
  let postgres: Postgres;
  let url: string;
  let store: ClusterStore;
  let [one, two]: NodeKey[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase("yard");
    store = openClusterDatabase(pg, { url, statementMs: 10_000 });
    one = await join("one");
    two = await join("two");
  });
  afterAll(async () => {
    await store.close();
    await postgres[Symbol.asyncDispose]();
  });

  async function join(id: string): Promise<NodeKey> {
    return { id, epoch: await store.join({ id, address: `${id}:1`, leastEpoch: 1, ...about }) };
  }
  const at = (node: NodeKey | undefined): NodeKey => node as NodeKey;
  const wantedOf = async (node: NodeKey | undefined) => (await store.renew(at(node), about)).wanted;

  async function claimed(instance: string, node: NodeKey | undefined, more: object = {}): Promise<number> {
    const claim = await store.claim(instance, at(node), { ...usual, ...more });
    if (claim.kind !== "mine") throw new Error(`${instance} is another's`);
    return claim.epoch;
  }

  test("what another node wants is told to the one that has it, and granted once a minute", async () => {
    const epoch = await claimed("a", one);
    await store.want("a", at(two), at(one));
    expect(await wantedOf(one)).toEqual([]);
    await store.want("a", at(one), at(two));
    expect(await wantedOf(two)).toEqual([]);
    const [want] = await wantedOf(one);
    expect(want).toMatchObject({ instance: "a", node: "two" });
    if (want === undefined) throw new Error("nothing is wanted");
    expect(await store.grant({ ...want, node: "three" })).toBe(false);
    expect([await store.grant(want), await store.grant(want)]).toEqual([true, false]);
    await store.release({ instance: "a", node: at(one), epoch }, "two");
    await claimed("a", two);
    await store.want("a", at(two), at(one));
    expect(await wantedOf(two)).toEqual([]);
  });

  test("what an heir does not take is another's after some seconds, not before", async () => {
    const epoch = await claimed("b", one);
    await store.release({ instance: "b", node: at(one), epoch }, "two");
    expect(await store.claim("b", at(one), { ...usual, takesLapsed: true })).toMatchObject({ node: { id: "two" } });
    await until(async () => (await store.claim("b", at(one), { ...usual, takesLapsed: true })).kind === "mine");
  });

  test("files stay at the node that ran first, whatever is released, until they are given to another one", async () => {
    const files = { keepsFiles: true };
    const epoch = await claimed("c", one, files);
    await store.release({ instance: "c", node: at(one), epoch }, undefined);
    const refused = { kind: "taken", node: undefined, home: "one" };
    expect(await store.claim("c", at(two), { ...usual, ...files, takesLapsed: true })).toEqual(refused);
    expect(await store.whereIs("c")).toEqual({ node: undefined, home: "one" });
    expect(await store.whereIs("unknown")).toEqual({ node: undefined, home: undefined });
    await store.giveFiles("c", "two");
    await expect(claimed("c", one, files)).rejects.toThrow("another's");
    await claimed("c", two, files);
    await store.giveFiles("never ran", "two");
    await expect(claimed("never ran", one, files)).rejects.toThrow("another's");
  });

  test("tables of a release before get what they have not, and keep what they have", async () => {
    await claimed("d", one);
    const client = new pg.Client(url);
    await client.connect();
    await client.query("drop table toolyard_cluster.wants, toolyard_cluster.homes");
    await client.end();
    await join("three");
    expect((await store.whereIs("d")).node?.id).toBe("one");
    expect(await wantedOf(one)).toEqual([]);
    await claimed("e", one, { keepsFiles: true });
  });
});

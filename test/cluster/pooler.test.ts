import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasNoPgbouncer, startPgbouncer, type Pgbouncer, type PoolMode } from "../harness/pgbouncer.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import type { RunningGateway } from "../harness/gateway.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

describe.skipIf(hasNoPostgres || hasNoPgbouncer)("nodes with PgBouncer before their database", () => {
  let nodes: Nodes;
  let pooler: Pgbouncer | undefined;
  beforeEach(async () => void (nodes = await startNodes()));
  afterEach(async () => {
    await nodes[Symbol.asyncDispose]();
    await pooler?.[Symbol.asyncDispose]();
  });

  async function start(name: string): Promise<RunningGateway> {
    return await nodes.start(name, { env: { YARD_DATABASE: pooler?.url ?? "" } });
  }

  const modes: readonly PoolMode[] = ["transaction", "statement"];
  test.each(modes)("in mode %s a gateway does not start, and says which mode it needs", async (mode) => {
    pooler = await startPgbouncer(nodes.database, mode);
    await expect(start("one")).rejects.toThrow(
      /cannot be used: a pooler before it has to be in session mode[^]*`pool_mode = session`/,
    );
    // Not even the tables are made.
    const found = await nodes.postgres.run("select 1 from pg_namespace where nspname like 'toolyard%'", "yard");
    expect(found).toEqual([]);
  });

  test("in mode session they are nodes of one cluster, and a change at one is known at the other", async () => {
    pooler = await startPgbouncer(nodes.database, "session");
    const [one, two] = [await start("one"), await start("two")];
    const { pid } = await callAt(one, "count");
    expect((await callAt(two, "count")).pid).toBe(pid);
    await one.stop();
    await until(async () => (await callAt(two, "count")).pid !== pid);
  });
});

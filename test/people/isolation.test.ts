import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { startIsolation, type IsolationWorld } from "./isolation-world.ts";

async function expectNothingForeign(world: IsolationWorld, seed: number, operations: number): Promise<void> {
  const { leaks, failures, ok, own, unseen } = await world.run(operations, seed);
  expect([leaks, failures]).toEqual([[], []]);
  // Else it would find nothing because it asks for nothing.
  expect(ok).toBeGreaterThan(operations / 3);
  expect(own).toBeGreaterThan(operations / 20);
  expect(unseen).toEqual([]);
  // What each team did was done by its own people, and to its own team; and nobody's browser or session was ended.
  expect(await world.audit()).toEqual({ strangers: [], lost: [], isWhole: true });
}

test("FAULT 99: thousands of random requests of two teams, one person in both: no canary reaches the other team", async () => {
  await using world = await startIsolation();
  // What decides is the same with either database: the larger number is run with the one that answers late.
  await expectNothingForeign(world, 20_261_122, 3_000);
}, 300_000);

describe.skipIf(hasNoPostgres)("where everything is in PostgreSQL", () => {
  let postgres: Postgres;
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(async () => await postgres[Symbol.asyncDispose]());

  test("FAULT 99: ten thousand random requests of two teams show neither what is the other's", async () => {
    await using world = await startIsolation({ database: await postgres.createDatabase("yard") });
    await expectNothingForeign(world, 20_261_123, 10_000);
  }, 300_000);
});

import { describe, expect, test } from "vitest";
import { hasNoHaproxy } from "../harness/haproxy.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { planOf } from "./trial/nemesis.ts";
import { plant, plantedFaults } from "./trial/planted.ts";
import { describeTrial, runTrial } from "./trial/trial.ts";

describe.skipIf(hasNoPostgres)("three nodes under load, while links, nodes and the database fail", () => {
  // Repeated by: npm run bench bench/cluster/nemesis.ts -- --seed=N --seconds=20
  test.each([
    [1, "a balancer of our own"],
    [2, "a balancer of our own"],
    [3, "HAProxy"],
  ])("keep what must never happen from happening: seed %d behind %s", async (seed, balancer) => {
    const faults = planOf(seed, 20);
    // Tests run beside others: how fast processes end there says nothing.
    const isBehindHaproxy = balancer === "HAProxy" && !hasNoHaproxy;
    const result = await runTrial({ faults, seconds: 20, callsPerSecond: 40, fencedMs: 8_000, isBehindHaproxy });
    const said = describeTrial(`seed ${seed}`, faults, result);
    console.log(said);
    expect(result.violations, said).toEqual([]);
    expect(result.stuck, said).toEqual([]);
    expect(result.sessionsLost, said).toBe(0);
  });
});

describe.skipIf(hasNoPostgres)("a mistake in the product is found", () => {
  test.each(plantedFaults)("$name: $rule", async (planted) => {
    await using build = await plant(planted);
    const { name: _name, edits: _edits, rule, ...options } = planted;
    let found: readonly string[] = [];
    // On a machine that is busy with something else a fault may miss its moment.
    for (let tries = 0; tries < 2 && !found.includes(rule); tries += 1) {
      const result = await runTrial({ ...options, main: build.main, callsPerSecond: 60, isOneOwner: true });
      found = result.violations.map((one) => one.rule);
    }
    expect(found).toContain(rule);
  });
});

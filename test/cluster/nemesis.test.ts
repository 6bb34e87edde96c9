import { describe, expect, test } from "vitest";
import { hasNoPostgres } from "../harness/postgres.ts";
import { planOf } from "./trial/nemesis.ts";
import { plant, plantedFaults } from "./trial/planted.ts";
import { describeTrial, runTrial } from "./trial/trial.ts";

describe.skipIf(hasNoPostgres)("three nodes under load, while links, nodes and the database fail", () => {
  // Repeated by: npm run bench bench/cluster/trial.ts -- --seed=N --seconds=20
  test.each([1, 2, 3])("keep what must never happen from happening: seed %d", async (seed) => {
    const faults = planOf(seed, 20);
    const result = await runTrial({ faults, seconds: 20, callsPerSecond: 40 });
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
    const { faults, seconds, holdMs = 0 } = planted;
    const { main } = build;
    const result = await runTrial({ faults, seconds, holdMs, main, callsPerSecond: 60, isOneOwner: true });
    expect(new Set(result.violations.map(({ rule }) => rule))).toContain(planted.rule);
  });
});

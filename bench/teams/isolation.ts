import { startPostgres } from "../../test/harness/postgres.ts";
import { startIsolation } from "../../test/people/isolation-world.ts";
import type { Figures } from "./rows.ts";

/** So many requests in one go, after which what was found is told. */
const roundOperations = 50_000;

export interface IsolationAsk {
  readonly operations: number;
  readonly database: "sqlite" | "postgres";
}

/** Random requests of two teams, with marks in everything that they give themselves: what one sees of the other. */
export async function measureIsolation({ operations, database }: IsolationAsk, figures: Figures): Promise<void> {
  await using postgres = database === "postgres" ? await startPostgres() : undefined;
  await using world = await startIsolation({ database: await postgres?.createDatabase("yard") });
  const begin = performance.now();
  let [done, ok, own, leaks, failures] = [0, 0, 0, 0, 0];
  while (done < operations) {
    const count = Math.min(roundOperations, operations - done);
    const found = await world.run(count, 20_261_122 + done);
    done += count;
    ok += found.ok;
    own += found.own;
    leaks += found.leaks.length;
    failures += found.failures.length;
    for (const one of [...found.leaks, ...found.failures].slice(0, 5)) process.stderr.write(`${one}\n`);
    process.stderr.write(`${done} requests after ${Math.round((performance.now() - begin) / 1_000)} s\n`);
  }
  const { strangers, lost, isWhole } = await world.audit();
  figures.add(`requests of two teams, ${database}`, done, "", {
    note: `${ok} were answered with 200, and ${own} showed what is their own`,
  });
  figures.add("what one saw of the other", leaks, "", { goal: { most: 0 } });
  figures.add("failures of ours", failures, "", { goal: { most: 0 } });
  for (const one of lost) process.stderr.write(`${one}\n`);
  figures.add("tokens, browsers and sessions that the other team took away", lost.length, "", { goal: { most: 0 } });
  figures.add("entries of strangers in a team's audit", strangers.length, "", {
    ...{ goal: { most: 0 }, note: `the audit is ${isWhole ? "whole" : "broken"}` },
  });
}

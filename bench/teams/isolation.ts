import { startPostgres } from "../../test/harness/postgres.ts";
import { startIsolation } from "../../test/people/isolation-world.ts";
import { row } from "./rows.ts";

/** So many requests in one go, after which what was found is told. */
const roundOperations = 50_000;

export interface IsolationAsk {
  readonly operations: number;
  readonly database: "sqlite" | "postgres";
}

/** Random requests of two teams, with marks in everything that they give themselves: what one sees of the other. */
export async function measureIsolation({ operations, database }: IsolationAsk): Promise<void> {
  await using postgres = database === "postgres" ? await startPostgres() : undefined;
  await using world = await startIsolation({ database: await postgres?.createDatabase("yard") });
  const begin = performance.now();
  let [done, ok, own, leaks] = [0, 0, 0, 0];
  while (done < operations) {
    const count = Math.min(roundOperations, operations - done);
    const found = await world.run(count, 20_261_122 + done);
    done += count;
    ok += found.ok;
    own += found.own;
    leaks += found.leaks.length;
    for (const leak of found.leaks.slice(0, 5)) process.stderr.write(`${leak}\n`);
    process.stderr.write(`${done} requests after ${Math.round((performance.now() - begin) / 1_000)} s\n`);
  }
  const { strangers, isWhole } = await world.audit();
  row(
    `requests of two teams, ${database}`,
    `${done}, of which ${ok} were answered with 200 and ${own} showed what is their own`,
  );
  row("what one saw of the other, or failures of ours", `${leaks}`);
  row("entries of strangers in a team's audit", `${strangers.length}; the audit is ${isWhole ? "whole" : "broken"}`);
}

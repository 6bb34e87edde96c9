/**
 * Three gateways under load, with faults that a seed plans; judged by what their servers wrote down: acknowledged calls
 * that are lost, calls that were done twice, and by an owner that is one no more. Twenty seeds take half an hour.
 * `npm run bench bench/cluster/nemesis.ts -- --seeds=20 --seconds=60 --rate=84 --report`
 *
 * One seed again, with its failed calls and the logs of all gateways: `-- --seed=7 --seconds=60 --logs`. Behind a real
 * HAProxy: `--haproxy`.
 */
import { parseArgs } from "node:util";
import { isAcked } from "../../test/cluster/trial/judge.ts";
import { planOf } from "../../test/cluster/trial/nemesis.ts";
import { createReport, endBench, figureHeads, figures, type Row } from "./fault-report.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
    seconds: { type: "string", default: "60" },
    rate: { type: "string", default: "84" },
    haproxy: { type: "boolean", default: false },
    logs: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
  },
});
const callsPerSecond = Number(values.rate);
const seconds = Number(values.seconds);
const first = Number(values.seed ?? values.first);
const seeds = Array.from({ length: values.seed === undefined ? Number(values.seeds) : 1 }, (_, at) => first + at);

const report = createReport(values);
const rows: Row[] = [];

function totals(): string {
  const results = rows.map(({ result }) => result);
  const calls = results.flatMap((result) => result.calls);
  const count = (rule: string): number =>
    results.flatMap(({ violations }) => violations).filter((one) => one.rule === rule).length;
  const faults = rows.reduce((sum, row) => sum + row.faults, 0);
  return `${calls.length} calls and ${faults} faults, ${calls.filter(isAcked).length} calls acknowledged: of these ${count("I1")} were lost; ${count("I2")} were done twice, ${count("I3")} by an owner that was none any more, and ${count("I5")} processes outlived their node's lease.`;
}

for (const seed of seeds) {
  const faults = planOf(seed, seconds);
  const isBehindHaproxy = values.haproxy;
  rows.push(await report.run(`seed ${seed}`, { faults, seconds, callsPerSecond, isBehindHaproxy }));
  const about = `
Leases of two seconds; each seed for ${seconds} seconds, with ${callsPerSecond} calls each second. The same seed plans the same faults.
When all is mended, every server has to answer at every node. ${totals()}`;
  const table = rows.map(({ name, faults: planned, result }) => [
    name.replace("seed ", ""),
    planned,
    ...figures(result),
  ]);
  report.write("Random faults", about, [["seed", "faults", ...figureHeads], ...table]);
}
process.stdout.write(`${totals()}\n${report.machine()}\n`);
endBench(rows);

/**
 * Three gateways, a PostgreSQL and eight servers under load, with one fault at a time, and with mistakes planted in the
 * gateway that have to be found; judged by what the servers wrote down. With `--report`, it writes its sections of
 * docs/fault-report.md. `npm run bench bench/cluster/trial.ts -- --rate=60 --report`
 *
 * Parts: `--only=single` (with `--name=rolling`, a part of its name), `--only=planted`. With `--logs`, failed calls and
 * the logs of all gateways.
 */
import { parseArgs } from "node:util";
import { plant, plantedFaults } from "../../test/cluster/trial/planted.ts";
import { createReport, endBench, figureHeads, figures, violationsOf, type Row } from "./fault-report.ts";
import { singleFaults } from "./single-faults.ts";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "60" },
    only: { type: "string" },
    name: { type: "string", default: "" },
    logs: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
  },
});
const callsPerSecond = Number(values.rate);
const runs = (part: string): boolean => (values.only ?? part) === part;

const aboutPlanted = `
Each in a copy of what was built, with a fault that brings it to light. A trial that finds none of them would mean nothing.`;

const aboutSingle = `
Leases of five seconds, the default; but for the restart of all, the first node runs all servers, and the fault is its own.
${callsPerSecond} calls come each second. The longest gap is the longest time in which one server answered no call at all.
\`OUTCOME_UNKNOWN\`: the call was sent to a node that was lost before it answered, and is not repeated, because it may have had
its effect. \`ECONNRESET\`: the client's own connection ended with the gateway that it had reached.`;

if (runs("planted")) {
  const report = createReport(values);
  const rows: (readonly string[])[] = [["mistake", "must be found by", "violations"]];
  for (const { name, rule, edits, ...options } of plantedFaults) {
    await using build = await plant({ name, edits });
    const { result } = await report.run(name, { ...options, callsPerSecond, main: build.main, isOneOwner: true });
    rows.push([name, rule, violationsOf(result)]);
    report.write("Mistakes that were planted", aboutPlanted, rows);
  }
}
const single: Row[] = [];
if (runs("single")) {
  const report = createReport(values);
  for (const { name, ...options } of singleFaults.filter((one) => one.name.includes(values.name))) {
    single.push(await report.run(name, { ...options, callsPerSecond }));
    const rows = single.map((row) => [row.name, ...figures(row.result)]);
    report.write("One fault at a time", aboutSingle, [["fault", ...figureHeads], ...rows]);
  }
}
endBench(single);

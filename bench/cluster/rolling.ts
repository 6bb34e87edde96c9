/**
 * A rolling restart of three gateways while calls come, half of them in sessions of the older protocol: how many fail,
 * how many sessions are lost, and the longest time in which a server answered nothing. Takes five minutes.
 * `npm run bench bench/cluster/rolling.ts -- --rounds=3 --rate=500 --calls=12000 --report`
 *
 * Behind a real HAProxy: `--haproxy`. Failed calls and the logs of all gateways: `--logs`.
 */
import { parseArgs } from "node:util";
import { isAcked } from "../../test/cluster/trial/judge.ts";
import { nodeNames } from "../../test/cluster/trial/world.ts";
import { createReport, figureHeads, figures, type Row } from "./fault-report.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    rate: { type: "string", default: "500" },
    calls: { type: "string", default: "12000" },
    haproxy: { type: "boolean", default: false },
    logs: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
  },
});
const callsPerSecond = Number(values.rate);
const seconds = Number(values.calls) / callsPerSecond;
const about = `
${values.calls} calls at least, ${callsPerSecond} each second, over ${values.haproxy ? "HAProxy" : "nodes that are ready"}. Meanwhile each node in turn is asked to stop, started again, and
used for a second before the next one is stopped. Leases of five seconds, and as much notice (\`noticeMs\`).`;

const report = createReport(values);
const rows: Row[] = [];
for (let round = 1; round <= Number(values.rounds); round += 1) {
  const faults = [{ kind: "rollingRestart", atMs: 2_000, forMs: 1_000, nodes: nodeNames }] as const;
  const options = { faults, seconds, callsPerSecond, leaseMs: 5_000, noticeMs: 5_000, isBehindHaproxy: values.haproxy };
  rows.push(await report.run(`round ${round}`, options));
  const table = rows.map(({ result }, at) => [at + 1, ...figures(result)]);
  report.write("A rolling restart under load", about, [["round", ...figureHeads], ...table]);
}
process.stdout.write(`${report.machine()}\n`);
const isWhole = ({ result: { calls, sessionsLost, violations, stuck } }: Row): boolean =>
  calls.every(isAcked) && sessionsLost + violations.length + stuck.length === 0;
process.exitCode = rows.every(isWhole) ? 0 : 1;

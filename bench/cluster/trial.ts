/**
 * Three gateways, a PostgreSQL and eight servers under load, while processes are killed and frozen, links are cut, and
 * the database goes away; judged by what the servers wrote down. Writes docs/fault-report.md with `--report`; takes
 * twenty minutes for twenty seeds. `npm run bench bench/cluster/trial.ts -- --seeds=20 --seconds=60 --report`
 *
 * One seed again, with its failed calls and the logs of all gateways: `-- --seed=7 --seconds=60 --logs`. Parts:
 * `--only=seeds`, `--only=single` (with `--name=rolling`, a part of its name), `--only=planted`.
 */
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isAcked } from "../../test/cluster/trial/judge.ts";
import { describeFault, planOf, type Fault } from "../../test/cluster/trial/nemesis.ts";
import { plant, plantedFaults } from "../../test/cluster/trial/planted.ts";
import { describeTrial, runTrial, type TrialOptions, type TrialResult } from "../../test/cluster/trial/trial.ts";
import { faultReport, type Row } from "./fault-report.ts";
import { singleFaults } from "./single-faults.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
    seconds: { type: "string", default: "60" },
    rate: { type: "string", default: "60" },
    only: { type: "string" },
    name: { type: "string", default: "" },
    logs: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
  },
});
const callsPerSecond = Number(values.rate);
const seconds = Number(values.seconds);
const first = Number(values.seed ?? values.first);
const seeds = Array.from({ length: values.seed === undefined ? Number(values.seeds) : 1 }, (_, at) => first + at);
const runs = (part: string): boolean => (values.only ?? (values.seed === undefined ? part : "seeds")) === part;
const loads: number[] = [];

async function run(name: string, options: Omit<TrialOptions, "callsPerSecond">): Promise<Row> {
  const result = await runTrial({ callsPerSecond, ...options });
  loads.push(loadavg()[0] ?? 0);
  process.stdout.write(`${describeTrial(name, options.faults, result)}\n`);
  if (values.logs) printLogs(options.faults, result);
  return { name, faults: options.faults.length, result };
}

function printLogs(faults: readonly Fault[], { calls, logs }: TrialResult): void {
  const begunMs = calls[0]?.sentMs ?? 0;
  for (const { sentMs, endedMs, ...call } of calls.filter((one) => !isAcked(one)))
    process.stdout.write(`${JSON.stringify({ ...call, sentMs: sentMs - begunMs, endedMs: endedMs - begunMs })}\n`);
  process.stdout.write(`${faults.map(describeFault).join("\n")}\n${logs.join("\n")}\n`);
}

/** Written after each seed, so that one that is broken off leaves a report of what was run. */
function writeReport(): void {
  if (!values.report) return;
  const load = { least: Math.min(...loads), most: Math.max(...loads), cores: cpus().length };
  const command = `npm run bench bench/cluster/trial.ts -- ${process.argv.slice(2).join(" ")}`;
  const page = faultReport({ single, planted, random, callsPerSecond, seconds, load, command });
  writeFileSync(fileURLToPath(new URL("../../docs/fault-report.md", import.meta.url)), page);
}

const single: Row[] = [];
const planted: (Row & { readonly rule: string })[] = [];
const random: Row[] = [];
if (runs("planted"))
  for (const { name, rule, edits, ...options } of plantedFaults) {
    await using build = await plant({ name, edits });
    planted.push({ rule, ...(await run(name, { ...options, main: build.main, isOneOwner: true })) });
  }
if (runs("seeds"))
  for (const seed of seeds) {
    random.push(await run(`seed ${seed}`, { faults: planOf(seed, seconds), seconds }));
    writeReport();
  }
if (runs("single"))
  for (const { name, ...options } of singleFaults.filter((one) => one.name.includes(values.name))) {
    single.push(await run(name, options));
    writeReport();
  }
const broken = [...single, ...random].filter(({ result }) => result.violations.length + result.stuck.length > 0);
if (broken.length > 0) process.stdout.write(`Not as they should be: ${broken.map(({ name }) => name).join(", ")}\n`);
process.exitCode = broken.length > 0 ? 1 : 0;

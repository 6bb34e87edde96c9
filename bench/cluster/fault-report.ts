import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { invariants, isAcked } from "../../test/cluster/trial/judge.ts";
import { describeFault, type Fault } from "../../test/cluster/trial/nemesis.ts";
import {
  describeTrial,
  outcomesOf,
  runTrial,
  type TrialOptions,
  type TrialResult,
} from "../../test/cluster/trial/trial.ts";

/** The sections that benches write, in their order. */
const titles = [
  "One fault at a time",
  "Random faults",
  "A rolling restart under load",
  "Owners that are killed",
  "Mistakes that were planted",
] as const;
type Title = (typeof titles)[number];

/** A trial that was run, and how many faults happened in it. */
export interface Row {
  readonly name: string;
  readonly faults: number;
  readonly result: TrialResult;
}

const page = fileURLToPath(new URL("../../docs/fault-report.md", import.meta.url));

/** One run of a bench: how busy the machine was, and its section of docs/fault-report.md where that is wanted. */
export function createReport({ report, logs }: { readonly report: boolean; readonly logs: boolean }) {
  const loads: number[] = [];
  const begun = spentOf();
  const note = (): void => void loads.push(loadavg()[0] ?? 0);

  function machine(): string {
    const now = spentOf();
    const busy = Math.round((100 * (now.busy - begun.busy)) / (now.all - begun.all));
    const [least, most] = [Math.min(...loads), Math.max(...loads)].map((load) => load.toFixed(0));
    return `The machine had ${cpus().length} cores, which were busy for ${busy} % of the time, with a load of ${least} to ${most}.`;
  }

  return {
    note,
    machine,
    async run(name: string, options: TrialOptions): Promise<Row> {
      const result = await runTrial(options);
      note();
      process.stdout.write(`${describeTrial(name, options.faults, result)}\n`);
      if (logs) printLogs(options.faults, result);
      return { name, faults: options.faults.length, result };
    },
    /** After each trial, so that one that is broken off leaves what was run. The other sections stay as they are. */
    write(title: Title, about: string, rows: readonly (readonly (string | number)[])[]): void {
      if (!report) return;
      const file = basename(process.argv[1] ?? "").replace(/^\.(.+)\.bundle\.mjs$/, "$1.ts");
      const command = ["npm run bench", `bench/cluster/${file}`, "--", ...process.argv.slice(2)].join(" ");
      const [head = "", ...others] = rows.map((row) => `| ${row.join(" | ")} |`);
      const table = [head, `|${"---|".repeat(rows[0]?.length ?? 0)}`, ...others].join("\n");
      const section = `## ${title}\n\n${wrap(about)}\n\n    ${command}\n\n${wrap(machine())}\n\n${table}\n`;
      const before = readFileSync(page, "utf8").split(/\n(?=## )/);
      const kept = titles.flatMap((one) =>
        one === title ? [section] : before.filter((text) => text.startsWith(`## ${one}\n`)),
      );
      writeFileSync(page, [opening, ...kept.map((text) => `${text.trim()}\n`), closing].join("\n"));
    },
  };
}

/** Lines as long as those of other pages. */
function wrap(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, " ")
    .replace(/(.{1,118})(?: |$)/g, "$1\n")
    .trim();
}

function printLogs(faults: readonly Fault[], { calls, logs }: TrialResult): void {
  const begunMs = calls[0]?.sentMs ?? 0;
  for (const { sentMs, endedMs, ...call } of calls.filter((one) => !isAcked(one)))
    process.stdout.write(`${JSON.stringify({ ...call, sentMs: sentMs - begunMs, endedMs: endedMs - begunMs })}\n`);
  process.stdout.write(`${faults.map(describeFault).join("\n")}\n${logs.join("\n")}\n`);
}

function spentOf(): { readonly busy: number; readonly all: number } {
  const spent = cpus().map(({ times: { idle, ...busy } }) => ({ idle, busy: Object.values(busy) }));
  const busy = spent.flatMap((one) => one.busy).reduce((all, one) => all + one, 0);
  return { busy, all: busy + spent.reduce((all, { idle }) => all + idle, 0) };
}

const opening = `# What a cluster does while things fail

<!-- Each section is written by its bench with --report. Do not edit. -->

Three gateways on one PostgreSQL, each with a data directory of its own, run eight stdio servers, each of them once. Calls
come at a steady rate, however long they take, over a balancer without stickiness that asks \`/readyz\`: half of them in
sessions of the older protocol, the others modern requests and REST. Meanwhile processes are killed and frozen, links
between nodes and to PostgreSQL are cut, and PostgreSQL goes away. Every server writes down each effect in one file, as it
happens, and each process its beginning: what must never happen is judged by the order of those lines. On a busy machine
counts mean more than times.

## What must never happen

| | |
|---|---|
${Object.entries(invariants)
  .map(([rule, what]) => `| ${rule} | ${what.charAt(0).toUpperCase()}${what.slice(1)}. |`)
  .join("\n")}
`;

const closing = `## What is not judged

- Servers write an effect when they get the call. A call that runs for long in a server whose node is frozen goes on
  there, because nobody can end it.
- A balancer that repeats requests by itself makes calls twice; the one here only goes on to another node where a port is
  closed.
- One machine: no slow disks, and no network that loses some packets only.
`;

export const figureHeads = ["calls", "not acknowledged", "longest gap", "sessions lost", "violations"] as const;

/** In the order of {@link figureHeads}. */
export function figures(result: TrialResult): readonly (string | number)[] {
  const { calls, gap, sessionsLost } = result;
  const failed = [...outcomesOf(calls.filter((call) => !isAcked(call)))];
  const said = failed.length === 0 ? "0" : failed.map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  return [calls.length, said, `${(gap.ms / 1_000).toFixed(1)} s`, sessionsLost, violationsOf(result)];
}

export function violationsOf({ violations, stuck }: TrialResult): string {
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const parts = [...counts].map(([rule, count]) => `${count} × ${rule}`);
  return [...parts, ...(stuck.length > 0 ? [`${stuck.length} stuck`] : [])].join(", ") || "0";
}

/** Says which trials were not as they should be, and makes the exit code 1. */
export function endBench(rows: readonly Row[]): void {
  const broken = rows.filter(({ result }) => result.violations.length + result.stuck.length > 0);
  if (broken.length > 0) process.stdout.write(`Not as they should be: ${broken.map(({ name }) => name).join(", ")}\n`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}

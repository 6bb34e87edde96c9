import { invariants, isAcked } from "../../test/cluster/trial/judge.ts";
import { outcomesOf, type TrialResult } from "../../test/cluster/trial/trial.ts";

/** A trial that was run, and how many faults happened in it. */
export interface Row {
  readonly name: string;
  readonly faults: number;
  readonly result: TrialResult;
}

export interface Report {
  readonly single: readonly Row[];
  readonly planted: readonly (Row & { readonly rule: string })[];
  readonly random: readonly Row[];
  readonly callsPerSecond: number;
  readonly seconds: number;
  /** Of the machine, after each trial. */
  readonly load: { readonly least: number; readonly most: number; readonly cores: number };
  readonly command: string;
}

/** docs/fault-report.md. */
export function faultReport({ single, planted, random, callsPerSecond, seconds, load, command }: Report): string {
  const calls = random.reduce((sum, { result }) => sum + result.calls.length, 0);
  const found = random.reduce((sum, { result }) => sum + result.violations.length, 0);
  const faults = random.reduce((sum, row) => sum + row.faults, 0);
  return `# What a cluster does while things fail

<!-- Written by bench/cluster/trial.ts with --report. Do not edit. -->

Three gateways on one PostgreSQL, each with a data directory of its own, run eight stdio servers, each of them once. ${callsPerSecond}
calls a second come at a steady rate, however long they take, over a balancer without stickiness that asks \`/readyz\`:
half of them in sessions of the older protocol, the others modern requests and REST. Meanwhile processes are killed and
frozen, links between nodes and to PostgreSQL are cut, and PostgreSQL goes away. Every server writes down each effect in one
file, as it happens, and each process its beginning: what must never happen is judged by the order of those lines.

    ${command}

The machine had ${load.cores} cores, with a load of ${load.least.toFixed(0)} to ${load.most.toFixed(0)}: counts mean more than times.

## What must never happen

| | |
|---|---|
${Object.entries(invariants)
  .map(([rule, what]) => `| ${rule} | ${capital(what)}. |`)
  .join("\n")}

## One fault at a time

Leases of five seconds, the default; but for the restart of all, the first node runs all servers, and the fault is its own. The
longest gap is the longest time in which one server answered no call at all.

| fault | calls | not acknowledged | longest gap | sessions lost | violations |
|---|---|---|---|---|---|
${single.map(({ name, result }) => `| ${name} | ${figures(result)} |`).join("\n")}

\`OUTCOME_UNKNOWN\`: the call was sent to a node that was lost before it answered, and is not repeated, because it may have had
its effect. \`ECONNRESET\`: the client's own connection ended with the gateway that it had reached.

## Random faults

${random.length} seeds with leases of two seconds, each for ${seconds} seconds: ${faults} faults and ${calls} calls in all, ${found} violations.
The same seed plans the same faults. When all is mended, every server has to answer at every node.

| seed | faults | calls | not acknowledged | longest gap | sessions lost | violations |
|---|---|---|---|---|---|---|
${random.map(({ name, faults: count, result }) => `| ${name.replace("seed ", "")} | ${count} | ${figures(result)} |`).join("\n")}

## Mistakes that were planted

Each in a copy of what was built, with one fault that brings it to light. A trial that finds none of them would mean
nothing.

| mistake | must be found by | violations |
|---|---|---|
${planted.map(({ name, rule, result }) => `| ${name} | ${rule} | ${violationsOf(result)} |`).join("\n")}

## What is not judged

- Servers write an effect when they get the call. A call that runs for long in a server whose node is frozen goes on
  there, because nobody can end it.
- A balancer that repeats requests by itself makes calls twice; the one here only goes on to another node where a port is
  closed.
- One machine: no slow disks, and no network that loses some packets only.
`;
}

function figures(result: TrialResult): string {
  const { calls, gap, sessionsLost } = result;
  const failed = [...outcomesOf(calls.filter((call) => !isAcked(call)))];
  const said = failed.length === 0 ? "0" : failed.map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  return [calls.length, said, `${(gap.ms / 1_000).toFixed(1)} s`, sessionsLost, violationsOf(result)].join(" | ");
}

function violationsOf({ violations, stuck }: TrialResult): string {
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const parts = [...counts].map(([rule, count]) => `${count} × ${rule}`);
  return [...parts, ...(stuck.length > 0 ? [`${stuck.length} stuck`] : [])].join(", ") || "0";
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

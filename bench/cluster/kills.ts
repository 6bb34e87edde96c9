/**
 * The node that runs most servers is killed (kill -9), and started again when all of them have answered elsewhere; and
 * so on: how long each server answered nothing, and what became of calls to the others. A hundred kills take ten
 * minutes. `npm run bench bench/cluster/kills.ts -- --kills=100 --rate=160 --report`
 */
import { parseArgs } from "node:util";
import { get } from "../../test/harness/rest.ts";
import { until } from "../../test/harness/until.ts";
import { isAcked, judge, longestGap } from "../../test/cluster/trial/judge.ts";
import { createBalancer, startLoad, type Call } from "../../test/cluster/trial/load.ts";
import { outcomesOf, startAll } from "../../test/cluster/trial/trial.ts";
import { createWorld, type Line, type NodeName, type TrialNode } from "../../test/cluster/trial/world.ts";
import { createReport } from "./fault-report.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    rate: { type: "string", default: "160" },
    report: { type: "boolean", default: false },
  },
});
const kills = Number(values.kills);
const callsPerSecond = Number(values.rate);
const nowMs = (): number => performance.now();
/** Before a kill: the last answers of its servers. */
const beforeMs = 1_000;

/** What a node ran when it was killed, and until when it was watched. */
interface Kill {
  readonly node: NodeName;
  readonly instances: ReadonlySet<string>;
  readonly atMs: number;
  readonly untilMs: number;
}

/** Where each instance has its newest process. */
function ownersOf(lines: readonly Line[]): ReadonlyMap<string, NodeName | undefined> {
  return new Map(lines.filter(({ began }) => began !== undefined).map(({ instance, node }) => [instance, node]));
}

function ownedBy(node: TrialNode, owners: ReadonlyMap<string, NodeName | undefined>): ReadonlySet<string> {
  return new Set([...owners].filter(([, owner]) => owner === node.name).map(([instance]) => instance));
}

const report = createReport({ ...values, logs: false });
await using world = await createWorld({ leaseMs: 5_000 });
await startAll(world, false);
await using balancer = createBalancer(world.nodes);
const load = await startLoad({ balancer, callsPerSecond, holdMs: 0, nowMs });
const done: Kill[] = [];
for (let at = 0; at < kills; at += 1) {
  const owners = ownersOf(await world.lines());
  const counts = world.nodes.map((node) => ({ node, instances: ownedBy(node, owners) }));
  const [victim] = counts.toSorted((one, other) => other.instances.size - one.instances.size);
  if (victim === undefined) throw new Error("no node runs anything");
  const { node, instances } = victim;
  await new Promise((resolve) => setTimeout(resolve, beforeMs));
  const atMs = nowMs();
  await node.stop("SIGKILL");
  const first = load.calls.length;
  await until(() => {
    const answered = load.calls.slice(first).filter(isAcked);
    return [...instances].every((instance) => answered.some((call) => call.instance === instance));
  });
  await node.start();
  await until(async () => (await get(`${node.url}/readyz`)).status === 200);
  done.push({ node: node.name, instances, atMs, untilMs: nowMs() });
  report.note();
}
await load.stop();
const violations = judge(load.calls, await world.lines());

const whileOf = (kill: Kill, isOwn: boolean): readonly Call[] =>
  load.calls.filter(
    ({ instance, sentMs, endedMs }) =>
      kill.instances.has(instance) === isOwn && sentMs <= kill.untilMs && endedMs >= kill.atMs - beforeMs,
  );
const longest = (isOwn: boolean): readonly number[] =>
  done.map((kill) => longestGap(whileOf(kill, isOwn)).ms).toSorted((one, other) => one - other);
const seconds = (gaps: readonly number[], part: number): string =>
  `${((gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * part))] ?? 0) / 1_000).toFixed(2)} s`;
/** What a client had sent to the gateway that was killed is lost with its connection, whatever it was for. */
const failedOf = (isOwn: boolean): string => {
  const failed = done.flatMap((kill) =>
    whileOf(kill, isOwn).filter((call) => !isAcked(call) && call.node !== kill.node),
  );
  return [...outcomesOf(failed)].map(([outcome, count]) => `${count} ${outcome}`).join(", ") || "0";
};
const row = (name: string, isOwn: boolean): readonly string[] => {
  const gaps = longest(isOwn);
  return [name, seconds(gaps, 0.5), seconds(gaps, 0.99), seconds(gaps, 1), failedOf(isOwn)];
};
const rows = [
  ["servers", "p50 of the longest gap", "p99", "longest", "failed at the other nodes"],
  row("those of the node that was killed", true),
  row("all others", false),
];
const lost = load.calls.filter((call) => !isAcked(call)).length;
const about = `
${done.length} times the node that runs most servers is killed (kill -9), and started again when all of them have answered elsewhere.
${callsPerSecond} calls come each second, ${load.calls.length} in all, of which ${lost} were not acknowledged; ${load.sessionsLost} sessions were lost, with ${violations.length} violations.
The longest gap is the longest time in which one of the servers answered no call; a call to each comes every ${Math.round(8_000 / callsPerSecond)} ms.
Not counted as failed: what clients had sent to the killed gateway itself.`;
report.write("Owners that are killed", about, rows);
process.stdout.write(`${about.trim()}\n${rows.map((cells) => cells.join(" | ")).join("\n")}\n${report.machine()}\n`);
process.exitCode = violations.length > 0 ? 1 : 0;

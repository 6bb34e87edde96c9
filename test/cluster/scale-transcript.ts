import { join } from "node:path";
import { runCommand } from "../harness/command.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { clusterKey } from "./nodes.ts";
import { isAcked, judge } from "./trial/judge.ts";
import { balanceByHaproxy, startLoad } from "./trial/load.ts";
import { copyBuild } from "./trial/planted.ts";
import { outcomesOf, startAll } from "./trial/trial.ts";
import { createWorld, type NodeName, type TrialNode } from "./trial/world.ts";

// What docs/scale-transcript.md shows: every line below a `$` is what was really printed.
// `node scripts/scale-transcript.mjs` runs it and writes the page.

const [oldVersion, newVersion] = ["1.0.0", "1.1.0"];
const callsPerSecond = 60;
const lines: string[] = [];
const say = (text: string): void => void lines.push(text);

await using before = await copyBuild(oldVersion);
await using after = await copyBuild(newVersion);
await using world = await createWorld({ main: before.main, leaseMs: 5_000, noticeMs: 5_000 });
await startAll(world, false);
await using balancer = await balanceByHaproxy(world.nodes);
const nowMs = (): number => performance.now();
const load = await startLoad({ balancer, callsPerSecond, holdMs: 0, nowMs });

const nodeOf = (name: NodeName): TrialNode => world.nodes.find((node) => node.name === name) as TrialNode;

/** Types a command at a node; what differs each time is replaced. */
async function type(at: NodeName, ...words: string[]): Promise<void> {
  const { gateway } = nodeOf(at);
  const place = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  const database = `postgres://toolyard@127.0.0.1:${world.postgres.port}/yard`;
  const env = { YARD_DATABASE: database, TOOLYARD_KEY: clusterKey };
  const { stdout, stderr } = await runCommand([...words, ...place], env);
  say(`\`\`\`\n$ toolyard ${words.join(" ")}\n${tidy(`${stdout}${stderr}`).trimEnd()}\n\`\`\``);
}

function tidy(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+ */g, (found) => "10.0.0.1:7300".padEnd(found.length));
}

let counted = 0;
/** Calls that were begun since the last count, when all of them are answered. */
async function count(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const begun = load.calls.slice(counted);
  counted += begun.length;
  await until(() => begun.every(({ endedMs }) => endedMs > 0));
  const failed = begun.filter((call) => !isAcked(call));
  const outcomes = [...outcomesOf(failed)].map(([outcome, times]) => `${times} ${outcome}`);
  const which = outcomes.length === 0 ? "" : ` (${outcomes.join(", ")})`;
  say(`*${begun.length} calls meanwhile, ${failed.length} failed${which}; ${load.sessionsLost} sessions lost so far.*`);
}

interface Listed {
  readonly id: NodeName;
  readonly state: string;
  readonly instances: number;
}

async function nodesAt(name: NodeName): Promise<readonly Listed[]> {
  return (await get(`${nodeOf(name).url}/api/nodes`)).json.nodes;
}

/** The node that runs most, and another one. */
async function busiest(): Promise<readonly [NodeName, NodeName]> {
  const [first, second] = (await nodesAt("n1")).toSorted((one, other) => other.instances - one.instances);
  return [first?.id ?? "n1", second?.id ?? "n2"];
}

async function replace(name: NodeName, build: string): Promise<void> {
  const node = nodeOf(name);
  await node.stop("SIGTERM");
  await node.start(build);
  await until(async () => (await get(`${node.url}/readyz`)).status === 200);
}

say("## Three nodes");
await type("n1", "nodes");
await count();

say("## One is drained, and takes part again");
const [drained, ordering] = await busiest();
await type(ordering, "drain", drained);
await until(async () =>
  (await nodesAt(ordering)).some(
    ({ id, state, instances }) => id === drained && state === "draining" && instances === 0,
  ),
);
await type(ordering, "nodes");
await count();
await type(ordering, "drain", drained, "--resume");
await count();

say(`## The upgrade\n\nEach node in turn is stopped (SIGTERM), which drains it, and started with ${newVersion}.`);
for (const name of ["n1", "n2", "n3"] as const) {
  await replace(name, after.main);
  say(`${name} is replaced.`);
  await type(name, "nodes");
  await count();
}

say(`## And back\n\nThe same with ${oldVersion}.`);
for (const name of ["n1", "n2", "n3"] as const) {
  await replace(name, before.main);
  say(`${name} is back.`);
  await count();
}
await type("n1", "nodes");

await load.stop();
const violations = judge(load.calls, await world.lines());
const failed = load.calls.filter((call) => !isAcked(call)).length;
say(
  `## Altogether\n\n${load.calls.length} calls, ${failed} failed, ${load.sessionsLost} sessions lost, ` +
    `${violations.length} calls lost, done twice, or done by an owner that was none any more.`,
);
process.stdout.write(`${lines.join("\n\n")}\n`);

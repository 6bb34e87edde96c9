import { execute } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { isAcked, judge, longestGap, watchFences, type Violation } from "./judge.ts";
import { balanceByHaproxy, createBalancer, startLoad, type Call } from "./load.ts";
import { describeFault, runFaults, type Fault } from "./nemesis.ts";
import { createWorld, instanceNames, type World } from "./world.ts";

export interface TrialOptions {
  readonly faults: readonly Fault[];
  /** How long calls are sent, in seconds; longer where faults take longer. */
  readonly seconds: number;
  readonly callsPerSecond: number;
  /** How long each call takes after its effect. */
  readonly holdMs?: number;
  readonly leaseMs?: number;
  /** All servers start at the first node, not at all in turn. */
  readonly isOneOwner?: boolean;
  /** HAProxy is in front, not a balancer of our own. */
  readonly isBehindHaproxy?: boolean;
  /** How long a node that stops is served, ms. Default: 1,000, which a balancer of our own needs; 3,500 for HAProxy. */
  readonly noticeMs?: number;
  /** The command's file, where it is not the one that was built here. */
  readonly main?: string;
  /** How long processes of a fenced node may be seen, ms. Default: a second, of a machine that has time. */
  readonly fencedMs?: number;
}

export interface TrialResult {
  readonly calls: readonly Call[];
  readonly violations: readonly Violation[];
  readonly sessionsLost: number;
  readonly fencings: number;
  readonly gap: { readonly instance: string; readonly ms: number };
  /** Instances that did not answer at a node when everything was mended, with what was said instead. */
  readonly stuck: readonly string[];
  /** What each gateway logged. */
  readonly logs: readonly string[];
}

/** How long an instance may take to answer again after the last fault. */
const recoveryMs = 60_000;

/** Runs three nodes under load, lets faults happen to them, and judges what servers did and callers were told. */
export async function runTrial(options: TrialOptions): Promise<TrialResult> {
  const { faults, seconds, callsPerSecond, holdMs = 0, leaseMs = 2_000, isOneOwner = false, main } = options;
  // HAProxy leaves a node that missed two looks, one a second.
  const { isBehindHaproxy = false, noticeMs = isBehindHaproxy ? 3_500 : undefined } = options;
  await using world = await createWorld({ main, leaseMs, noticeMs });
  const nowMs = (): number => performance.now();
  const logs: string[] = [];
  await startAll(world, isOneOwner);
  using fences = watchFences(world, options.fencedMs);
  await using balancer = isBehindHaproxy ? await balanceByHaproxy(world.nodes) : createBalancer(world.nodes);
  const load = await startLoad({ balancer, callsPerSecond, holdMs, nowMs });
  await Promise.all([runFaults(world, faults, nowMs), new Promise((resolve) => setTimeout(resolve, seconds * 1_000))]);
  await load.stop();
  const stuck = await findStuck(world);
  const { calls, sessionsLost } = load;
  logs.push(...world.nodes.map(({ name, log }) => `${name}:\n${log()}`));
  return {
    ...{ calls, sessionsLost, stuck, logs, fencings: fences.fencings, gap: longestGap(calls) },
    violations: [...judge(calls, await world.lines()), ...fences.violations],
  };
}

/** Starts the nodes, and all servers at the first one, or at all in turn. */
export async function startAll(world: World, isOneOwner: boolean): Promise<void> {
  const { nodes } = world;
  const [first] = nodes;
  if (isOneOwner) await first?.start();
  else await Promise.all(nodes.map(async (node) => await node.start()));
  await Promise.all(
    instanceNames.map(async (instance, at) => {
      const node = isOneOwner ? first : nodes[at % nodes.length];
      await until(async () => (await ask(node?.gateway.url ?? "", instance)) === undefined);
    }),
  );
  if (isOneOwner) await Promise.all(nodes.slice(1).map(async (node) => await node.start()));
  // A node that never saw a server does not know its tools yet.
  const unknown = await findStuck(world);
  if (unknown.length > 0) throw new Error(`the trial cannot begin: ${unknown.join("; ")}`);
}

/** Undefined where it answers, otherwise what was said. */
async function ask(url: string, instance: string): Promise<string | undefined> {
  try {
    const result = await execute(url, `${instance}:count`);
    return result?.content !== undefined && result.isError !== true ? undefined : JSON.stringify(result);
  } catch (error) {
    return String(error);
  }
}

async function findStuck({ nodes }: World): Promise<readonly string[]> {
  const found = nodes.flatMap(({ name, gateway }) =>
    instanceNames.map(async (instance) => {
      let said: string | undefined;
      const answered = until(async () => (said = await ask(gateway.url, instance)) === undefined, recoveryMs);
      return await answered.then(
        () => undefined,
        () => `${instance} at ${name}: ${said}`,
      );
    }),
  );
  return (await Promise.all(found)).filter((one) => one !== undefined);
}

/** How often callers were told what. */
export function outcomesOf(calls: readonly Call[]): ReadonlyMap<string, number> {
  const outcomes = new Map<string, number>();
  for (const { outcome } of calls) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  return outcomes;
}

/** A result in some lines, with what is needed to repeat it. */
export function describeTrial(name: string, faults: readonly Fault[], result: TrialResult): string {
  const { calls, violations, sessionsLost, gap, stuck, fencings } = result;
  const failed = calls.filter((call) => !isAcked(call)).length;
  const outcomes = [...outcomesOf(calls)].map(([outcome, count]) => `${outcome} ${count}`).join(", ");
  return [
    `${name}: ${calls.length} calls, ${failed} not acknowledged, ${sessionsLost} sessions lost, ${fencings} fencings,`,
    `  longest gap ${Math.round(gap.ms)} ms (${gap.instance}); ${outcomes}`,
    ...violations.map(({ rule, what }) => `  ${rule} violated: ${what}`),
    ...stuck.map((one) => `  stuck: ${one}`),
    ...(violations.length + stuck.length > 0 ? faults.map((fault) => `  fault: ${describeFault(fault)}`) : []),
  ].join("\n");
}

import { load } from "./measure/load.ts";
import { middleOf } from "./measure/middle.ts";
import { cpuMicros, mainThreadMicros } from "./measure/process.ts";
import { call, pause, readLeft, startGateway, untilCallable, type Gateway } from "./records-gateway.ts";

/** CPU time per call, in us. */
interface CallCost {
  readonly cpu: number;
  readonly main: number;
}

interface CostPair {
  readonly off: CallCost;
  readonly on: CallCost;
}

/**
 * Two gateways take turns in short rounds, so that what the machine does meanwhile meets both. That of a single pair of
 * processes is no figure of recording: where V8 and the C library put things differs by as much from one process to the
 * next, so that some pairs are started anew.
 */
export async function measureCalls(quick: boolean): Promise<void> {
  const found = new Map<number, CostPair[]>([1, 32].map((connections) => [connections, []]));
  const pairs = quick ? 2 : 4;
  let growth = Number.NaN;
  for (let pair = 0; pair < pairs; pair += 1) {
    const [off, on] = [await startGateway("off"), await startGateway("sqlite")];
    for (const gateway of [off, on]) await untilCallable(gateway);
    for (const [connections, costs] of found)
      costs.push(...(await takeTurns({ off, on }, connections, quick ? 10 : 24)));
    for (const gateway of [off, on]) await gateway.stop();
    const { rows, bytes } = await readLeft(on);
    growth = bytes / rows;
  }
  print(
    "| calls | CPU us off | CPU us on | ratio | 95 % | goal 1.10 | main thread us off | on | more | 95 % | goal 2.5 |",
  );
  print("|---|---|---|---|---|---|---|---|---|---|---|");
  for (const [connections, costs] of found) printCosts(`c=${connections}`, costs);
  const rounds = [...found.values()].map((costs) => costs.length).join(" and ");
  print(
    `\nOf ${pairs} pairs of gateways, ${rounds} pairs of rounds. "Ratio" and "more" are medians of what the two rounds`,
  );
  print("of a pair differ by, and not what the medians differ by.");
  print(`\nrecords.db: ${growth.toFixed(0)} MB per million calls`);
}

async function takeTurns(
  { off, on }: { readonly off: Gateway; readonly on: Gateway },
  connections: number,
  pairs: number,
): Promise<readonly CostPair[]> {
  const requests = connections === 1 ? 1_500 : 4_000;
  const round = async (gateway: Gateway): Promise<CallCost> => {
    const [cpu, main] = [cpuMicros(gateway.pid), mainThreadMicros(gateway.pid)];
    await load(gateway.url, call, { connections, requests, path: "/mcp" });
    // Until what waits is written, which is a part of the cost.
    await pause(600);
    return {
      cpu: (cpuMicros(gateway.pid) - cpu) / requests,
      main: (mainThreadMicros(gateway.pid) - main) / requests,
    };
  };
  // What V8 compiles on the way is not the cost of a call.
  for (let warm = 0; warm < 10; warm += 1) for (const gateway of [off, on]) await round(gateway);
  const costs: CostPair[] = [];
  for (let at = 0; at < pairs; at += 2) {
    // Each goes first as often as the other: what comes first is slower on a busy machine.
    costs.push({ off: await round(off), on: await round(on) });
    const first = await round(on);
    costs.push({ off: await round(off), on: first });
  }
  return costs;
}

function printCosts(name: string, costs: readonly CostPair[]): void {
  const medianOf = (read: (pair: CostPair) => number): string => middleOf(costs.map(read)).median.toFixed(1);
  const ratio = middleOf(costs.map(({ off, on }) => on.cpu / off.cpu));
  const more = middleOf(costs.map(({ off, on }) => on.main - off.main));
  const cells = [
    name,
    medianOf(({ off }) => off.cpu),
    medianOf(({ on }) => on.cpu),
    ratio.median.toFixed(2),
    `${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)}`,
    verdict(ratio.median <= 1.1),
    medianOf(({ off }) => off.main),
    medianOf(({ on }) => on.main),
    more.median.toFixed(1),
    `${more.low.toFixed(1)} to ${more.high.toFixed(1)}`,
    verdict(more.median <= 2.5),
  ];
  print(`| ${cells.join(" | ")} |`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function verdict(isMet: boolean): string {
  return isMet ? "ok" : "OVER";
}

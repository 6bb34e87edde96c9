import { createRandom } from "../../harness/random.ts";
import { get } from "../../harness/rest.ts";
import { until } from "../../harness/until.ts";
import { nodeNames, type NodeName, type TrialNode, type World } from "./world.ts";

/** What is done to nodes, links and the database, from when on and for how long. */
export interface Fault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** Those that it concerns; none where it concerns the database itself. */
  readonly nodes: readonly NodeName[];
}

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

/** Each does what it does, waits, and mends it. */
const actions = {
  /** kill -9, and started again. */
  async kill([node], forMs) {
    await node.stop("SIGKILL");
    await pause(forMs);
    await node.start();
  },
  /** Asked to stop, as an administrator does, and started again. */
  async drain([node], forMs) {
    await node.stop("SIGTERM");
    await pause(forMs);
    await node.start();
  },
  /** SIGSTOP and SIGCONT. */
  async freeze([node], forMs) {
    node.gateway.process.kill("SIGSTOP");
    await pause(forMs);
    node.gateway.process.kill("SIGCONT");
  },
  /** The link of a node to the database. */
  async cutDatabase([node], forMs) {
    node.database.cut();
    await pause(forMs);
    node.database.mend();
  },
  /** What others send to a node. */
  async cutInbound([node], forMs) {
    node.peers.cut();
    await pause(forMs);
    node.peers.mend();
  },
  /** The links of two nodes to each other. */
  async cutPair([one, two], forMs) {
    if (two === undefined) return;
    one.peers.cut(two.name);
    two.peers.cut(one.name);
    await pause(forMs);
    one.peers.mend(two.name);
    two.peers.mend(one.name);
  },
  /** All links of a node. */
  async cutAll([node], forMs, world) {
    const others = world.nodes.filter((other) => other !== node);
    node.database.cut();
    node.peers.cut();
    for (const { peers } of others) peers.cut(node.name);
    await pause(forMs);
    for (const { peers } of others) peers.mend(node.name);
    node.peers.mend();
    node.database.mend();
  },
  async stopDatabase(_nodes, forMs, { postgres }) {
    await postgres.stop();
    await pause(forMs);
    await postgres.start();
  },
  async killDatabase(_nodes, forMs, { postgres }) {
    await postgres.kill();
    await pause(forMs);
    await postgres.start();
  },
  /** Each node in turn: asked to stop, started again, and used for a while once it is ready. */
  async rollingRestart(nodes, forMs) {
    for (const node of nodes) {
      await node.stop("SIGTERM");
      await node.start();
      await until(async () => (await get(`${node.url}/readyz`)).status === 200);
      await pause(forMs);
    }
  },
} satisfies Record<string, (nodes: Concerned, forMs: number, world: World) => Promise<void>>;

type Concerned = readonly [TrialNode, ...TrialNode[]];
export type FaultKind = keyof typeof actions;

const kinds = Object.keys(actions) as FaultKind[];
const ofDatabase: readonly FaultKind[] = ["stopDatabase", "killDatabase"];
const countOf = (kind: FaultKind): number =>
  kind === "rollingRestart" ? 3 : kind === "cutPair" ? 2 : ofDatabase.includes(kind) ? 0 : 1;

/** The same faults for the same seed; the last of them is over by then, where nothing takes longer than it should. */
export function planOf(seed: number, seconds: number): readonly Fault[] {
  const random = createRandom(seed);
  const between = (least: number, most: number): number => Math.round(least + random() * (most - least));
  const faults: Fault[] = [];
  let atMs = between(500, 2_000);
  while (atMs < seconds * 1_000 - 4_000) {
    const kind = kinds[Math.floor(random() * kinds.length)] as FaultKind;
    const first = Math.floor(random() * nodeNames.length);
    const turned = [...nodeNames.slice(first), ...nodeNames.slice(0, first)];
    const forMs = kind === "rollingRestart" ? between(0, 1_000) : between(300, 6_000);
    faults.push({ kind, atMs, forMs, nodes: turned.slice(0, countOf(kind)) });
    atMs += between(1_000, 4_000);
  }
  return faults;
}

/** Runs a plan. What concerns a node, or the database, waits until it is mended. Resolves when all is. */
export async function runFaults(world: World, faults: readonly Fault[], nowMs: () => number): Promise<void> {
  const busy = new Map<string, Promise<void>>();
  const begunMs = nowMs();
  const running = faults.map(async (fault) => {
    const keys = fault.nodes.length === 0 ? ["database"] : fault.nodes;
    const before = keys.map((key) => busy.get(key));
    const done = (async () => {
      await Promise.all([...before, pause(begunMs + fault.atMs - nowMs())]);
      const nodes = fault.nodes.map((name) => world.nodes.find((node) => node.name === name) as TrialNode);
      await actions[fault.kind](nodes as unknown as Concerned, fault.forMs, world);
    })();
    for (const key of keys) busy.set(key, done);
    await done;
  });
  await Promise.all(running);
}

export function describeFault({ kind, atMs, forMs, nodes }: Fault): string {
  return `${(atMs / 1_000).toFixed(1)} s ${[kind, ...nodes].join(" ")} for ${(forMs / 1_000).toFixed(1)} s`;
}

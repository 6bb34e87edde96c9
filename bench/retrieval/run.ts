import { existsSync, mkdirSync, writeFileSync } from "node:fs";

import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { answerCost, type AnswerCost } from "./answers.ts";
import { drawChart, type Bars } from "./chart.ts";
import { halfOf, readCorpus, readQueries, setNames, toParts, type DevQuery } from "./data.ts";
import { askEngine, askFuse, askMiniSearch, askUncut, embedAll, lexicalEngine } from "./engines.ts";
import { measureLearning, type Learning, type Lesson } from "./learning.ts";
import { measure, type Measured } from "./measure.ts";
import { seenByAgent, type Seen } from "./siblings.ts";
import { sizeCurve, type SizePoint } from "./size-curve.ts";
import { describeTokens, measureTokens, type CorpusTool } from "./tokens.ts";

/** Fuse takes up to half a second per query: a sample says enough. */
const fuseSample = 40;

const kindsOfTools = { used: "used", often: "used 10 x", unused: "unused" } as const;

await main();

/**
 * Every engine on every set: a table on stdout, docs/retrieval.json and docs/retrieval.svg. Data: `BENCH_DATA`, see
 * docs/search.md.
 */
async function main(): Promise<void> {
  const directory = process.env["BENCH_DATA"] ?? ".cache/retrieval";
  if (!existsSync(directory)) {
    console.error(
      `No data in ${directory}. Set BENCH_DATA to a directory with corpus/*.json and dev/*.json (docs/search.md says what they hold), ` +
        "or run `npm run bench:collect`: it asks the servers on npm for their tools, which is enough for speed, memory and tokens.",
    );
    process.exitCode = 2;
    return;
  }
  const sets: Record<string, Record<string, Measured>> = {};
  const halves: Record<string, Halves> = {};
  const answers: Record<string, AnswerCost> = {};
  const learning: Record<string, Learning> = {};
  for (const name of setNames) {
    if (!existsSync(`${directory}/dev/${name}.json`)) continue;
    const { corpus, queries } = readQueries(directory, name);
    const parts = toParts(readCorpus(directory, corpus).tools);
    sets[name] = await measureSet(queries, parts);
    answers[name] = await answerCost(queries, parts);
    halves[name] = await measureHalves(queries, parts);
    learning[name] = await measureLearning(queries, parts);
    printSet(name, sets[name], halves[name], answers[name]);
    printLearning(learning[name]);
  }
  const seen = await measureSeen(directory);
  const curve = await sizeCurve(directory);
  printCurve(curve);
  console.log(`\n${describeTokens(measureTokens(readCorpus(directory, "real_mcp").tools as CorpusTool[]))}`);
  if (Object.keys(sets).length === 0) return;
  mkdirSync("docs", { recursive: true });
  writeFileSync(
    "docs/retrieval.json",
    `${JSON.stringify({ sets, halves, answers, learning, seen, curve }, rounded, 2)}\n`,
  );
  const bars = Object.entries(sets).map(([set, byEngine]): Bars => ({
    set,
    values: new Map(Object.entries(byEngine).map(([engine, one]) => [engine, one.recall5])),
  }));
  writeFileSync("docs/retrieval.svg", drawChart(bars, curve));
}

/** What an agent sees with its own queries of the tools that its tasks need. */
async function measureSeen(directory: string): Promise<Seen | undefined> {
  if (!["live_agent", "live_task"].every((name) => existsSync(`${directory}/dev/${name}.json`))) return undefined;
  const { corpus, queries } = readQueries(directory, "live_agent");
  const tasks = readQueries(directory, "live_task").queries;
  const seen = await seenByAgent(queries, tasks, toParts(readCorpus(directory, corpus).tools));
  const [results, siblings] = [seen.results, seen.withSiblings].map((value) => value.toFixed(1));
  console.log(
    `\nneeds of an agent's tasks seen: ${results} %, with siblings ${siblings} % of ${seen.needs}; ` +
      `${seen.tokens.mean.toFixed(0)} tokens more per answer, ${seen.tokens.most} at most`,
  );
  return seen;
}

/**
 * The lexical engine once more: each half of the queries alone, and all of them when nothing is cut behind a clear
 * winner.
 */
interface Halves {
  readonly a: Measured;
  readonly b: Measured;
  readonly uncut: Measured;
}

async function measureHalves(queries: readonly DevQuery[], parts: readonly InstanceCatalog[]): Promise<Halves> {
  const ask = askEngine(lexicalEngine(), parts);
  const half = (which: 0 | 1): Promise<Measured> =>
    measure(
      queries.filter((query) => halfOf(query) === which),
      ask,
    );
  return { a: await half(0), b: await half(1), uncut: await measure(queries, askUncut(parts)) };
}

async function measureSet(
  queries: readonly DevQuery[],
  parts: readonly InstanceCatalog[],
): Promise<Record<string, Measured>> {
  const results: Record<string, Measured> = {};
  if (existsSync("dist/cli/fuse-worker.js"))
    results["fuse"] = await measure(queries.slice(0, fuseSample), askFuse(parts), { warmUp: 1 });
  results["minisearch"] = await measure(queries, askMiniSearch(parts));
  results["lexical"] = await measure(queries, askEngine(lexicalEngine(), parts), { rounds: 3 });
  const url = process.env["BENCH_EMBEDDINGS_URL"];
  if (url !== undefined) {
    using embeddings = await embedAll(parts, url);
    results["lexical+embeddings"] = await measure(queries, askEngine(lexicalEngine(embeddings), parts));
  }
  return results;
}

function printSet(name: string, results: Record<string, Measured>, halves: Halves, cost: AnswerCost): void {
  console.log(`\n${name}`.padEnd(24), "queries  r@1   r@5   r@10  MRR   empty p50 ms  p95 ms");
  for (const [engine, one] of Object.entries(results)) printRow(engine, one);
  printRow("lexical, half A", halves.a);
  printRow("lexical, half B", halves.b);
  printRow("lexical, uncut", halves.uncut);
  console.log(`  one lexical answer: ${cost.tools.toFixed(1)} tools, ${cost.median} tokens (p90 ${cost.p90})`);
}

function printLearning({ halves, ...learning }: Learning): void {
  for (const kind of ["used", "often", "unused"] as const) {
    const all = learning[kind];
    if (all.plain.queries === 0) continue;
    const change = ({ plain, learned }: Lesson, at: "recall1" | "recall5"): string =>
      `${plain[at].toFixed(1)} > ${learned[at].toFixed(1)}`;
    const parts = halves.map((half) => change(half[kind], "recall5")).join(", ");
    const [least, most] = all.change5.map((points) => points.toFixed(1));
    console.log(
      `  learning, ${kindsOfTools[kind]}`.padEnd(24),
      `${String(all.plain.queries).padStart(6)}  r@1 ${change(all, "recall1")}  r@5 ${change(all, "recall5")} (${least} to ${most}; halves ${parts})`,
    );
  }
}

function printRow(engine: string, one: Measured): void {
  const shares = [one.recall1, one.recall5, one.recall10, one.mrr, one.empty].map((value) =>
    value.toFixed(1).padStart(5),
  );
  console.log(
    `  ${engine}`.padEnd(24),
    String(one.queries).padStart(6),
    ...shares,
    one.p50Ms.toFixed(2).padStart(6),
    one.p95Ms.toFixed(2).padStart(7),
  );
}

function printCurve(curve: readonly SizePoint[]): void {
  console.log(
    "\ntools   servers queries  lexical r@5 r@10 p50 ms p95 ms  minisearch r@5  build ms  update ms  bytes/tool  discover CPU us, p95 ms  of 30 words CPU us, p95 ms",
  );
  for (const point of curve) {
    const { lexical, miniSearch } = point;
    const cells = [
      lexical.queries,
      lexical.recall5.toFixed(1),
      lexical.recall10.toFixed(1),
      lexical.p50Ms.toFixed(2),
      lexical.p95Ms.toFixed(2),
      miniSearch.recall5.toFixed(1),
    ];
    const discovers = [point.discover, point.discoverLong].flatMap(({ cpuUs, p95Ms }) => [
      cpuUs.toFixed(0),
      p95Ms.toFixed(2),
    ]);
    const costs = [point.buildMs.toFixed(0), point.updateMs.toFixed(1), point.bytesPerTool.toFixed(0)];
    console.log(
      [point.tools, point.servers, ...cells, ...costs, ...discovers].map((cell) => String(cell).padStart(9)).join(""),
    );
  }
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toFixed(2)) : value;
}

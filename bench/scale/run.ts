import { existsSync, writeFileSync } from "node:fs";
import { corpusNames, readCorpus, readQueries, toParts, type CorpusTool } from "../retrieval/data.ts";
import { drawScale } from "./chart.ts";
import { measurePeople, type PeoplePoint } from "./people.ts";
import { measureTools, type ToolsPoint } from "./tools.ts";

/** `--quick` is a rehearsal: it writes everything, of which nothing says anything. */
const isQuick = process.argv.includes("--quick");
const toolCounts = isQuick ? [1_000, 2_000] : [1_000, 5_000, 10_000, 30_000, 100_000];
const peopleCounts = isQuick ? [1, 10] : [1, 10, 100, 500];
/** What each person has. */
const serversEach = 10;
const toolsEach = 26;

await main();

/**
 * What a search and a whole discover cost, and what is held for them, by the number of tools in one view and by the
 * number of people with instances of their own: tables on stdout, docs/scale.json and docs/scale.svg. Sizes after the
 * name measure those alone and write nothing. Data: `BENCH_DATA`, see docs/search.md.
 */
async function main(): Promise<void> {
  const directory = [process.env["BENCH_DATA"] ?? ".cache/retrieval"].find((place) => existsSync(place));
  if (directory === undefined || !existsSync(`${directory}/corpus/real_mcp.json`)) {
    console.error("No data: set BENCH_DATA, or run `npm run bench:collect` (docs/search.md says what it holds).");
    process.exitCode = 2;
    return;
  }
  const own = readCorpus(directory, "real_mcp").tools;
  const queries = existsSync(`${directory}/dev/real_mcp.json`)
    ? readQueries(directory, "real_mcp").queries.map(({ query }) => query)
    : own.map(({ name }) => name);
  const pool = corpusNames
    .filter((name) => existsSync(`${directory}/corpus/${name}.json`))
    .flatMap((name) => readCorpus(directory, name).tools.map((tool) => inSet(name, tool)));
  const sizes = process.argv.slice(2).map(Number);
  if (sizes.length > 0) {
    const points: ToolsPoint[] = [];
    for (const size of sizes) points.push(await measureTools(size, pool, queries));
    printTools(points);
    return;
  }
  const people: PeoplePoint[] = [];
  for (const count of peopleCounts) people.push(await measurePeople(count, toParts(ofServers(own)), queries));
  printPeople(people);
  const tools: ToolsPoint[] = [];
  for (const count of toolCounts) tools.push(await measureTools(count, pool, queries));
  printTools(tools);
  writeFileSync("docs/scale.json", `${JSON.stringify({ tools, people }, rounded, 2)}\n`);
  writeFileSync("docs/scale.svg", drawScale(tools, people));
}

function inSet(name: string, tool: CorpusTool): CorpusTool {
  return { ...tool, id: `${name} ${tool.id}`, server: `${name} ${tool.server}` };
}

/** The first servers that have enough tools, and so many of each. */
function ofServers(tools: readonly CorpusTool[]): CorpusTool[] {
  const servers = [...new Set(tools.map(({ server }) => server))]
    .map((server) => tools.filter((tool) => tool.server === server))
    .filter((list) => list.length >= toolsEach)
    .slice(0, serversEach);
  return servers.flatMap((list) => list.slice(0, toolsEach));
}

function printPeople(points: readonly PeoplePoint[]): void {
  console.log("people instances  MB      search CPU us  p50 ms  p95 ms   own view us  others' view us");
  for (const { people, instances, bytes, search, ownViewUs, otherViewUs } of points)
    printRow([people, instances, bytes / 2 ** 20, search.cpuUs, search.p50Ms, search.p95Ms, ownViewUs, otherViewUs]);
}

function printTools(points: readonly ToolsPoint[]): void {
  console.log(
    "\ntools servers  build ms, CPU ms, of different tools  longest wait, p99, longest turn's CPU ms  MB  names CPU ms, step",
  );
  for (const { tools, servers, buildMs, buildCpuMs, distinctCpuMs, indexBytes, ...rest } of points) {
    const { worstLagMs, p99LagMs, worstTurnCpuMs, namesCpuMs, longestNamesStepMs } = rest;
    const build = [buildMs, buildCpuMs, distinctCpuMs, worstLagMs, p99LagMs, worstTurnCpuMs];
    printRow([tools, servers, ...build, indexBytes / 2 ** 20, namesCpuMs, longestNamesStepMs]);
  }
  console.log("\ntools  CPU us and p95 ms of a search, asked once, of thirty words, of a discover, of thirty words");
  for (const { tools, search, searchOnce, searchLong, discover, discoverLong } of points) {
    const costs = [search, searchOnce, searchLong, discover, discoverLong];
    printRow([tools, ...costs.flatMap(({ cpuUs, p95Ms }) => [cpuUs, p95Ms])]);
  }
}

function printRow(values: readonly number[]): void {
  console.log(values.map((value) => value.toFixed(Number.isInteger(value) ? 0 : 2).padStart(10)).join(""));
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toFixed(2)) : value;
}

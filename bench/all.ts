import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, tmpdir, totalmem, type as osType } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { barChart, readTables } from "./all-charts.ts";

/**
 * Runs every benchmark and writes docs/benchmarks.md with its charts: `npm run bench:all [-- --only=NAME ...]
 * [--quick]`. A section that is not run keeps what it had, and so does one that fails; those that failed are named at
 * the end, and make the exit code 1. Nothing else should run beside it. `--quick` is a rehearsal: every part runs, with
 * few rounds, and its figures are worth nothing.
 */
interface Section {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /**
   * What is run: a file of bench/, or the file of the npm script that is called as the section is; and its arguments.
   */
  readonly script: string;
  /** The npm script of that file, where the section is called something else. */
  readonly npmScript?: string;
  readonly args: readonly string[];
  readonly quickArgs?: readonly string[];
  /** Whether it needs the corpus of tools: where BENCH_DATA names none, it is collected from npm first. */
  readonly needsCorpus?: true;
  /** Bars: these columns of the first table that has them. */
  readonly chart?: { readonly title: string; readonly columns: readonly string[] };
}

const sections: readonly Section[] = [
  {
    name: "session",
    title: "What a model reads",
    about:
      "The servers of `examples/laptop.json`, started from npm, and a session of ten searches and ten calls. Tokens are " +
      "o200k, counted of what was sent; other models' differ by 10 to 20 %.",
    script: "bench/session.ts",
    args: [],
    quickArgs: ["--wait-s=120"],
    chart: { title: "Tokens that a model reads", columns: ["all tools in the list", "four tools"] },
  },
  {
    name: "peers",
    title: "Beside other gateways and forwarders",
    about:
      "The same calls to the same real server by the same client, in one run. CPU time is that of the program itself, " +
      "without the servers behind it. Calls a second are limited by the client, which is one thread and has less to do " +
      "over HTTP+SSE: compare them within one transport. To add another, add a row to `bench/peers/gateways.ts`.",
    script: "bench/peers/run.ts",
    args: [],
    quickArgs: ["--calls=500", "--rounds=3"],
    chart: { title: "CPU time per call, microseconds", columns: ["CPU per call, us"] },
  },
  {
    name: "overhead",
    title: "What a call costs",
    about:
      "CPU time per call beside a raw forwarder (the floor), which only reads a message and writes it on. Ratios are " +
      "medians over rounds in which the two take turns. Records are on, as they are by default.",
    script: "bench/overhead.ts",
    args: [],
    quickArgs: ["--quick"],
    chart: { title: "CPU time per call, as a multiple of a raw forwarder's", columns: ["ratio"] },
  },
  {
    name: "records",
    title: "What recording costs",
    about: "CPU time per call with records on and off, what is lost under load, and how files grow.",
    script: "bench/records.ts",
    args: [],
    quickArgs: ["--quick"],
  },
  {
    name: "startup",
    title: "Starting",
    about: "From the start of the program to its first answer, and to calls of slow servers, beside the floor.",
    script: "bench/startup.ts",
    args: [],
    quickArgs: ["--idle-s=10"],
  },
  {
    name: "first-call",
    title: "The first call",
    about:
      "How much longer the first call after a start takes than the second, through the gateway and through a raw " +
      "forwarder that checks no arguments, on the same real servers.",
    script: "bench/first-call.ts",
    args: [],
    quickArgs: ["--rounds=3"],
  },
  {
    name: "memory",
    title: "Memory",
    about: "After the first calls, after a rest, with two hundred clients, and with the largest results.",
    script: "bench/memory.ts",
    args: [],
    quickArgs: ["--rest-s=10"],
  },
  {
    name: "retrieval",
    title: "Finding the right tool",
    about:
      "Recall of questions whose right tools are known, against three baselines. Needs the question sets (see " +
      "[search.md](search.md)); the picture is [retrieval.svg](retrieval.svg).",
    script: "bench/retrieval/run.ts",
    args: [],
    needsCorpus: true,
  },
  {
    name: "surfacing",
    title: "Being found by clients",
    about:
      "In what share of questions do the searches of Codex and Claude Code, which keep tools from their model until it " +
      "searches, find `discover_mcp_tools` for a tool behind the gateway? Beside it are real tools of other servers. The " +
      "rankings are ours, after what the two clients do; what the gateway says is taken as it goes over the wire.",
    script: "bench/surfacing/run.ts",
    args: [],
    needsCorpus: true,
  },
  {
    name: "scale",
    title: "Many tools, many people",
    about: "Costs of a search and of what is held for it; the picture is [scale.svg](scale.svg).",
    script: "bench/scale/run.ts",
    args: [],
    quickArgs: ["--quick"],
    needsCorpus: true,
  },
  {
    name: "teams",
    title: "People and teams",
    about:
      "A gateway for teams: its memory, logins, how soon somebody who is removed is out, and what 10,000 users in 500 " +
      "teams with 50,000 installations cost. Times are those of the whole machine; CPU time is the gateway's.",
    script: "bench/teams/run.ts",
    args: [],
  },
  {
    name: "dashboard",
    title: "The dashboard",
    about:
      "How soon a server's change of state is on a page, in Chromium on the same machine, and what open pages cost the " +
      "gateway, which has one server here and keeps records. MiB are 1,048,576 bytes.",
    script: "bench/dashboard/live.ts",
    args: [],
    quickArgs: ["--restarts=3"],
  },
  {
    name: "dashboard-size",
    title: "What a browser loads of the dashboard",
    about: "File by file: what the first page loads, and what comes when it is needed.",
    script: "bench/dashboard/sizes.ts",
    args: [],
  },
  {
    name: "conformance",
    title: "The protocol's own tests",
    about:
      "Scenarios (checks) of the official suite that pass directly against the reference server, and through the gateway. " +
      "Beside that, [protocol.md](protocol.md) lists what the specification demands, with the test of each sentence.",
    script: "scripts/conformance.mjs",
    args: [],
  },
  {
    name: "logins",
    title: "The protocol's own tests of logins",
    about:
      "The official suite's scenarios about authorization: the suite is a server that wants a login, and judges how the " +
      "gateway goes about it. Directly, the official SDK's client logs in. Checks of a revision differ because the " +
      "gateway tries its token before it keeps it, and asks less often for what is refused; what is lost is what the " +
      "suite fails.",
    script: "scripts/conformance.mjs",
    npmScript: "conformance",
    args: ["--login-scenarios", "--all"],
  },
];

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "docs/benchmarks.md");
const isQuick = process.argv.includes("--quick");
/** Where the corpus of a rehearsal is, for as long as it lasts. */
const rehearsal = mkdtempSync(join(tmpdir(), "toolyard-rehearsal-"));
const pageHead =
  "# Benchmarks\n\nWritten by `npm run bench:all`, which runs everything on this page. Two cores share a machine with " +
  "others, so figures of time are upper bounds; CPU time, memory, tokens and what is compared within one run are " +
  "solid.\n";
const only = process.argv.filter((argument) => argument.startsWith("--only=")).map((argument) => argument.slice(7));

/** A part that did not go well, and why. */
interface Failed {
  readonly name: string;
  readonly why: string;
}

function main(): void {
  const unknown = only.filter((name) => !sections.some((section) => section.name === name));
  if (unknown.length > 0) throw new Error(`there is no section ${unknown.join(", ")}`);
  const before = existsSync(page) ? readFileSync(page, "utf8") : "";
  const failed: Failed[] = [];
  const parts = sections.map((section) => {
    const old = kept(before, section);
    if (only.length > 0 && !only.includes(section.name) && old !== undefined) return old;
    try {
      return run(section);
    } catch (error) {
      failed.push({ name: section.name, why: error instanceof Error ? error.message : String(error) });
      return old ?? `## ${section.title}\n\n${section.about}\n\nIt failed when this page was written.\n`;
    }
  });
  rmSync(rehearsal, { recursive: true, force: true });
  writeFileSync(page, `${pageHead}\n${parts.join("\n")}`);
  for (const { name, why } of failed) process.stderr.write(`failed: ${name}: ${why}\n`);
  process.stderr.write(`${sections.length - failed.length} of ${sections.length} sections are in ${page}\n`);
  if (failed.length > 0) process.exitCode = 1;
}

/**
 * Where the corpus of tools is: as BENCH_DATA says, or collected from npm, which takes some minutes. A rehearsal takes
 * the tools that stand in the repository.
 */
function corpusFolder(): string {
  if (isQuick) {
    mkdirSync(join(rehearsal, "corpus"), { recursive: true });
    copyFileSync(join(root, "test/servers/public-tools.json"), join(rehearsal, "corpus/real_mcp.json"));
    return rehearsal;
  }
  const given = process.env["BENCH_DATA"] ?? join(root, ".cache/retrieval");
  if (existsSync(join(given, "corpus/real_mcp.json"))) return given;
  process.stderr.write("npm run bench:collect\n");
  const env = { ...process.env, BENCH_DATA: given };
  const collect = [join(root, "scripts/collect-real-mcp.mjs")];
  const { status } = spawnSync(process.execPath, collect, { cwd: root, stdio: ["ignore", "ignore", "inherit"], env });
  if (status !== 0) throw new Error(`npm run bench:collect ended with ${status}`);
  return given;
}

/** The section as the page had it. */
function kept(before: string, { title }: Section): string | undefined {
  const start = before.indexOf(`## ${title}\n`);
  if (start < 0) return undefined;
  const end = before.indexOf("\n## ", start + 1);
  return end < 0 ? before.slice(start) : before.slice(start, end);
}

function run(section: Section): string {
  const args = isQuick ? (section.quickArgs ?? section.args) : section.args;
  const isBench = section.script.startsWith("bench/");
  const script = isBench ? `bench ${section.script}` : (section.npmScript ?? section.name);
  const command = `npm run ${script}${args.length > 0 ? ` -- ${args.join(" ")}` : ""}`;
  process.stderr.write(`${command}\n`);
  const program = isBench ? ["scripts/run-bench.mjs", section.script] : [section.script];
  const startMs = performance.now();
  const ran = spawnSync(process.execPath, [...program, ...args], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1_048_576,
    env: section.needsCorpus === true ? { ...process.env, BENCH_DATA: corpusFolder() } : process.env,
  });
  if (ran.status !== 0) throw new Error(`${command} ended with ${ran.status ?? ran.signal}`);
  process.stderr.write(`  ${Math.round((performance.now() - startMs) / 1_000)} s\n`);
  const output = ran.stdout.trim();
  const text = output.includes("| --- |") || output.includes("| ---") ? output : `\`\`\`\n${output}\n\`\`\``;
  return `## ${section.title}\n\n${section.about}\n\n${chartOf(section, output)}\`${command}\`, ${machine()}\n\n${text}\n`;
}

function chartOf({ name, title, chart }: Section, output: string): string {
  if (chart === undefined) return "";
  const table = readTables(output).find(({ columns }) => chart.columns.every((name) => columns.includes(name)));
  if (table === undefined) throw new Error(`no table has the columns ${chart.columns.join(", ")}`);
  writeFileSync(join(root, `docs/benchmark-${name}.svg`), barChart(chart.title, table, chart.columns));
  return `![${title}](benchmark-${name}.svg)\n\n`;
}

function machine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${cpus().length} cores (${cpu?.model ?? "unknown"}), ${memory}, ${osType()} ${release()}, Node ${process.versions.node}.`;
}

main();

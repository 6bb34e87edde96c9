import { existsSync } from "node:fs";
import { join } from "node:path";
import { readCorpus, readQueries } from "../retrieval/data.ts";
import { measureSurfacing, type Asked, type Share, type Surfacing } from "./share-found.ts";
import { smallSet } from "./small-set.ts";
import { askGateway } from "./told-client.ts";

/**
 * In what share of questions do clients' own searches find discover_mcp_tools, among the tools of other servers? The
 * gateway and its servers are real processes, and what they say is taken as it went over the wire.
 * `node scripts/run-bench.mjs bench/surfacing/run.ts [--others=60,100,300]`. With the corpus and the questions
 * `real_mcp` in BENCH_DATA (docs/search.md) it measures ten servers of these; without, five of a small set.
 */
const ten = "brave-search filesystem git github memory notion postgres sentry slack trello".split(" ");
/** Codex finds our tool for at least this share of questions, beside this many tools of others. */
const goal = { share: 0.55, others: 100 };

function readSet(): Asked {
  const directory = process.env["BENCH_DATA"] ?? ".cache/retrieval";
  const has = (file: string): boolean => existsSync(join(directory, file));
  if (!has("corpus/real_mcp.json") || !has("dev/real_mcp.json")) return smallSet();
  const { tools } = readCorpus(directory, "real_mcp");
  return { tools, questions: readQueries(directory, "real_mcp").queries, behind: ten };
}

async function main(): Promise<void> {
  const set = readSet();
  const given = process.argv.find((argument) => argument.startsWith("--others="))?.slice("--others=".length);
  const sizes = (given ?? "60,100,300").split(",").map(Number);
  const texts = [
    ["that name no server", await askGateway(set.tools, [])],
    ["as they are", await askGateway(set.tools, set.behind)],
  ] as const;
  process.stdout.write(
    `${set.behind.length} servers behind the gateway; questions with the right tool among the first five\n\n` +
      "| texts | tools beside | questions | Codex | Claude Code | Claude Code, key words | Codex, others' tools | without ours |\n" +
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
  );
  for (const others of sizes)
    for (const [name, told] of texts) {
      const measured = measureSurfacing(set, told, others);
      process.stdout.write(`${row(name, others, measured)}\n`);
      if (name === "as they are" && others === goal.others && set.behind === ten) check(measured);
    }
}

function row(name: string, others: number, { codex, claude, claudeWords, beside, besideAlone }: Surfacing): string {
  const shares = [codex, claude, claudeWords, beside, besideAlone].map(percent);
  return `| ${[name, others, codex.of, ...shares].join(" | ")} |`;
}

function percent({ found, of }: Share): string {
  return of === 0 ? "-" : `${((100 * found) / of).toFixed(1)} %`;
}

function check({ codex, beside, besideAlone }: Surfacing): void {
  if (codex.found >= goal.share * codex.of && beside.found >= besideAlone.found) return;
  process.stderr.write(`Codex finds too little: the goal is ${goal.share}, with nothing taken from others\n`);
  process.exitCode = 1;
}

await main();

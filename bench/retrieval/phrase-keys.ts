import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ToolEntry } from "../../src/catalog/model/snapshot.ts";
import { phraseKey, readBook } from "../../src/catalog/search/language/phrase-book.ts";
import { toParts, type Corpus } from "./data.ts";

const book = "src/catalog/search/phrases";
/** Definitions of one tool whose keys are kept: a release that is older than two changes is hardly run any more. */
const keysLimit = 3;

main();

/**
 * Writes the keys of the phrase book again, from corpora of tools as servers list them: `npm run phrases [--
 * CORPUS.json ...]`, by default both that `npm run bench:collect` makes. Says which tools have no phrases, which lines
 * were written for another definition (they keep its key as well, for those who have not updated), and which for none
 * that is there.
 */
function main(): void {
  const folder = join(process.env["BENCH_DATA"] ?? ".cache/retrieval", "corpus");
  const paths = process.argv.slice(2);
  const wanted = paths.length > 0 ? paths : ["real_mcp.json", "more_mcp.json"].map((name) => join(folder, name));
  const corpora = wanted.filter((path) => existsSync(path));
  if (corpora.length === 0) {
    console.error(
      `No corpus in ${wanted.join(" or ")}: run \`npm run bench:collect\`, set BENCH_DATA, or name a file.`,
    );
    process.exitCode = 2;
    return;
  }
  const tools = corpora.flatMap((path) => (JSON.parse(readFileSync(path, "utf8")) as Corpus).tools);
  let written = 0;
  for (const part of toParts(tools))
    written += rewrite(part.server, new Map(part.tools.map((tool) => [tool.upstreamName, tool])));
  console.log(`${written} of ${tools.length} tools have phrases; ${readdirSync(book).length - 1} files in ${book}`);
}

/** One server's file, with the keys of these tools. Returns how many of them have phrases. */
function rewrite(server: string, tools: ReadonlyMap<string, ToolEntry>): number {
  const file = join(book, `${server}.txt`);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const found = new Set(readBook(text).map(({ name }) => name));
  for (const name of tools.keys()) if (!found.has(name)) console.log(`${server}:${name} has no phrases`);
  const lines = text.split("\n").map((line) => {
    const [written] = readBook(line);
    if (written === undefined) return line;
    const tool = tools.get(written.name);
    if (tool !== undefined) return line.replace(/^\S+/, toKeys(server, tool, written.keys));
    console.log(`${server}:${written.name} is not listed any more`);
    return line;
  });
  if (lines.join("\n") !== text) writeFileSync(file, lines.join("\n"));
  return [...tools.keys()].filter((name) => found.has(name)).length;
}

/** The definition's key before those that the line has already. */
function toKeys(server: string, tool: ToolEntry, before: readonly string[]): string {
  const key = phraseKey(tool);
  if (before.includes(key)) return before.join(",");
  const others = before.filter((other) => other !== "-");
  if (others.length > 0) console.log(`${server}:${tool.upstreamName} has changed: read its phrases again`);
  return [key, ...others].slice(0, keysLimit).join(",");
}

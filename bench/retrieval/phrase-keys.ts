import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ToolEntry } from "../../src/catalog/model/snapshot.ts";
import { phraseKey, readBook } from "../../src/catalog/search/phrase-book.ts";
import { toParts, type Corpus } from "./data.ts";

const book = "src/catalog/search/phrases";

main();

/**
 * Writes the keys of the phrase book again, from a corpus of tools as servers list them now: `npm run phrases [--
 * CORPUS.json]`. Says which tools have no phrases, which lines were written for another definition, and which for none
 * that is there.
 */
function main(): void {
  const path = process.argv[2] ?? join(process.env["BENCH_DATA"] ?? ".cache/retrieval", "corpus/real_mcp.json");
  if (!existsSync(path)) {
    console.error(`No corpus in ${path}: run \`npm run bench:collect\`, set BENCH_DATA, or name a file.`);
    process.exitCode = 2;
    return;
  }
  const { tools } = JSON.parse(readFileSync(path, "utf8")) as Corpus;
  let written = 0;
  for (const part of toParts(tools))
    written += rewrite(part.server, new Map(part.tools.map((tool) => [tool.upstreamName, tool])));
  console.log(`${written} of ${tools.length} tools have phrases; ${readdirSync(book).length - 1} files in ${book}`);
}

/** One server's file, with the keys of these tools. Returns how many of them have phrases. */
function rewrite(server: string, tools: ReadonlyMap<string, ToolEntry>): number {
  const file = join(book, `${server}.txt`);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const found = new Set<string>();
  for (const { key, name } of readBook(text)) {
    const tool = tools.get(name);
    found.add(name);
    if (tool === undefined) console.log(`${server}:${name} is not listed any more`);
    else if (key !== "-" && key !== phraseKey(tool))
      console.log(`${server}:${name} has changed: read its phrases again`);
  }
  for (const name of tools.keys()) if (!found.has(name)) console.log(`${server}:${name} has no phrases`);
  const lines = text.split("\n").map((line) => {
    const [, name] = /^\S+ (\S+): /.exec(line) ?? [];
    const tool = name === undefined || line.startsWith("#") ? undefined : tools.get(name);
    return tool === undefined ? line : line.replace(/^\S+/, phraseKey(tool));
  });
  if (lines.join("\n") !== text) writeFileSync(file, lines.join("\n"));
  return [...tools.keys()].filter((name) => found.has(name)).length;
}

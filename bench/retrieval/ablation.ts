import { existsSync } from "node:fs";

import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { buildIndexPart } from "../../src/catalog/search/index/index-part.ts";
import { createLanguage, type Language } from "../../src/catalog/search/language.ts";
import { mergeParts } from "../../src/catalog/search/index/merge.ts";
import { phrasesFrom, type PhrasesOf } from "../../src/catalog/search/language/phrase-book.ts";
import { search } from "../../src/catalog/search/rank.ts";
import { rankingWeights, type RankingWeights } from "../../src/catalog/search/language/weights.ts";
import { wordLists, type WordLists } from "../../src/catalog/search/language/word-lists.ts";
import { corpusNames, halfOf, readCorpus, readQueries, setNames, toParts, type DevQuery } from "./data.ts";
import { phrasesOf } from "./engines.ts";
import { judge } from "./measure.ts";

/** One way to rank: what is left out or changed. */
interface Variant {
  readonly name: string;
  readonly language: Language;
  readonly phrasesOf: PhrasesOf;
}

interface QuestionSet {
  readonly name: string;
  readonly queries: readonly DevQuery[];
  readonly parts: readonly InstanceCatalog[];
}

main();

/**
 * Recall@5 of every set without phrases, without single lists of hints, and with other weights of phrases; in brackets
 * the halves. `npm run bench bench/retrieval/ablation.ts [-- part of a variant's name]`.
 */
function main(): void {
  const directory = process.env["BENCH_DATA"] ?? ".cache/retrieval";
  if (!existsSync(`${directory}/dev`)) {
    console.error(`No questions in ${directory}: set BENCH_DATA (docs/search.md says what it holds).`);
    process.exitCode = 2;
    return;
  }
  const wanted = process.argv[2] ?? "";
  const sets = [...questionSets(directory)];
  const width = 22;
  console.log("".padEnd(34) + sets.map(({ name }) => name.padStart(width)).join(""));
  for (const variant of variants().filter(({ name }) => name.includes(wanted))) {
    const cells = sets.map((set) => recall(set, variant).padStart(width));
    console.log(variant.name.padEnd(34) + cells.join(""));
  }
}

function* questionSets(directory: string): Generator<QuestionSet> {
  const everything = corpusNames.flatMap((corpus) =>
    readCorpus(directory, corpus).tools.map((tool) =>
      corpus === "real_mcp" ? tool : { ...tool, id: `${corpus} ${tool.id}`, server: `${corpus} ${tool.server}` },
    ),
  );
  for (const name of setNames.filter((set) => existsSync(`${directory}/dev/${set}.json`))) {
    const { corpus, queries } = readQueries(directory, name);
    yield { name, queries, parts: toParts(readCorpus(directory, corpus).tools) };
    if (name === "real_mcp") yield { name: `among ${everything.length}`, queries, parts: toParts(everything) };
  }
}

function variants(): Variant[] {
  const nobody = phrasesFrom(undefined);
  const language = createLanguage();
  const list: Variant[] = [
    { name: "as it is", language, phrasesOf },
    { name: "no phrases", language, phrasesOf: nobody },
    {
      name: "no hints",
      language: createLanguage(
        rankingWeights,
        withHints(() => false),
      ),
      phrasesOf,
    },
    {
      name: "no hints, no phrases",
      language: createLanguage(
        rankingWeights,
        withHints(() => false),
      ),
      phrasesOf: nobody,
    },
  ];
  for (const [at, text] of wordLists.hints.entries()) {
    const name = /^# (.{0,24})/.exec(text)?.[1] ?? String(at);
    const without = createLanguage(
      rankingWeights,
      withHints((hint) => hint !== text),
    );
    list.push({ name: `hints ${at} off: ${name}`, language: without, phrasesOf });
    // As servers are that nobody has written phrases for.
    list.push({ name: `no phrases, hints ${at} off`, language: without, phrasesOf: nobody });
  }
  for (const weight of [0.5, 0.75, 1.5, 2]) list.push(weighted(`phrases x ${weight}`, { weight, b: 0.7 }));
  for (const share of [0, 0.3, 1]) {
    const related = createLanguage({ ...rankingWeights, relatedInPhrases: share });
    list.push({ name: `related words x ${share} in phrases`, language: related, phrasesOf });
  }
  for (const b of [0.4, 1]) list.push(weighted(`phrases b ${b}`, { ...rankingWeights.fields.phrases, b }));
  return list;
}

function weighted(name: string, phrases: RankingWeights["fields"]["phrases"]): Variant {
  const weights = { ...rankingWeights, fields: { ...rankingWeights.fields, phrases } };
  return { name, language: createLanguage(weights), phrasesOf };
}

function withHints(isKept: (text: string) => boolean): WordLists {
  return { ...wordLists, hints: wordLists.hints.filter(isKept) };
}

function recall({ queries, parts }: QuestionSet, variant: Variant): string {
  const built = parts.map((part) => buildIndexPart(part, variant.language, { phrasesOf: variant.phrasesOf }));
  const index = mergeParts(built, variant.language);
  const found = queries.map((query) => {
    const { tools } = search(index, query.query.slice(0, 1_000), { limit: 10 });
    return {
      half: halfOf(query),
      at5: judge(
        query,
        tools.map(({ tool }) => tool.hash),
      ).at5,
    };
  });
  const mean = (rows: typeof found): string =>
    ((100 * rows.reduce((sum, { at5 }) => sum + at5, 0)) / (rows.length || 1)).toFixed(1);
  const [a, b] = ([0, 1] as const).map((half) => mean(found.filter((row) => row.half === half)));
  return `${mean(found)} (${a} ${b})`;
}

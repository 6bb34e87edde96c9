import { existsSync } from "node:fs";

import { likelihood, confidenceWeights, type ConfidenceWeights } from "../../src/catalog/search/rank/confidence.ts";
import { createLanguage } from "../../src/catalog/search/language.ts";
import { corpusNames } from "./data.ts";
import { areaUnderCurve, fitLogistic, type Sample } from "./logistic.ts";
import { askAll, type Question } from "./questions.ts";

/**
 * Of the answerable questions, at most this share is to be called "none", on the mean of the corpora; a tenth of it is
 * left for unseen questions.
 */
const mostCalledNone = 0.05;
const fittedNone = 0.9 * mostCalledNone;
/**
 * Of the questions without a tool, at most this share is to be called "good", on the mean of the corpora of real
 * servers.
 */
const mostCalledGood = 0.1;
/** Corpora of real MCP servers: what a gateway stands in front of. */
const real = new Set(["real_mcp", "live"]);

main();

/**
 * Can it tell questions that have a tool from those that have none? Fits, judges, and prints the row of
 * `confidenceWeights`.
 */
function main(): void {
  const directory = process.env["BENCH_DATA"] ?? ".cache/retrieval";
  if (!existsSync(directory)) {
    console.error(`No data in ${directory}: set BENCH_DATA. docs/search.md says what it holds.`);
    process.exitCode = 2;
    return;
  }
  const all = [...askAll(directory, createLanguage())];
  const single = all.filter((question) => !isCompound(question.set));
  const fitted = fitRow(single.filter((question) => question.half === 0));
  console.log("fitted on half A:", JSON.stringify(fitted));
  console.log("in the source:   ", JSON.stringify(confidenceWeights));
  const judged = single.filter((question) => question.half === 1);
  printTable("half B, row of the source", judged, () => confidenceWeights);
  const rows = new Map(
    corpusNames.map((name) => [name as string, fitRow(single.filter(({ corpus }) => corpus !== name))]),
  );
  printTable("each corpus judged by a row fitted on the other four", single, (corpus) => rows.get(corpus) ?? fitted);
  printCompound(
    all.filter((question) => question.size === "whole" && question.isAnswerable && isCompound(question.set)),
  );
  if (process.argv.includes("--list")) list(single);
}

/** Several needs in one question: no model is told to ask so, and they are judged apart. */
function isCompound(set: string): boolean {
  return set.endsWith("_multi") || set === "live_task";
}

function fitRow(questions: readonly Question[]): ConfidenceWeights {
  const samples = toSamples(questions.filter((question) => question.size !== "whole" || !question.hasNamesake));
  const [bias = 0, strength = 0, literal = 0] = fitLogistic(samples);
  const row = { ...confidenceWeights, bias: round(bias), strength: round(strength), literal: round(literal) };
  const whole = questions.filter((question) => question.size === "whole" && !question.hasNamesake);
  const scoresOf = (corpus: string, isAnswerable: boolean): number[] =>
    whole
      .filter((question) => question.corpus === corpus && question.isAnswerable === isAnswerable)
      .map(({ signals }) => likelihood(signals, row));
  const corpora = [...new Set(whole.map((question) => question.corpus))];
  const having = corpora.map((corpus) => scoresOf(corpus, true));
  const lacking = corpora.filter((corpus) => real.has(corpus)).map((corpus) => scoresOf(corpus, false));
  const isNone = (from: number): boolean => meanShare(having, (score) => score < from) <= fittedNone;
  const isGood = (from: number): boolean => meanShare(lacking, (score) => score >= from) <= mostCalledGood;
  const hundredths = Array.from({ length: 100 }, (_, at) => at / 100);
  return { ...row, weakFrom: hundredths.findLast(isNone) ?? 0, goodFrom: hundredths.find(isGood) ?? 1 };
}

function meanShare(groups: readonly (readonly number[])[], test: (score: number) => boolean): number {
  return groups.reduce((sum, scores) => sum + scores.filter(test).length / scores.length, 0) / groups.length;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** In each catalog both kinds weigh the same, and so do own and foreign questions of the kind without a tool. */
function toSamples(questions: readonly Question[]): Sample[] {
  const keyOf = (question: Question): string =>
    [question.corpus, question.size, question.isAnswerable, question.isOwn, question.set].join(" ");
  const kindOf = (question: Question): string =>
    [question.corpus, question.size, question.isAnswerable, question.isOwn].join(" ");
  const counts = countBy(questions, keyOf);
  const raw = questions.map((question) => ({ question, weight: (counts.get(keyOf(question)) as number) ** -0.5 }));
  const totals = new Map<string, number>();
  for (const { question, weight } of raw) totals.set(kindOf(question), (totals.get(kindOf(question)) ?? 0) + weight);
  const kinds = countBy([...totals.keys()], (kind) => kind.slice(0, kind.lastIndexOf(" ")));
  return raw.map(({ question, weight }) => {
    const kind = kindOf(question);
    const share = weight / (totals.get(kind) as number) / (kinds.get(kind.slice(0, kind.lastIndexOf(" "))) as number);
    return {
      values: [question.signals.strength, question.signals.literal],
      isTrue: question.isAnswerable,
      weight: share * (real.has(question.corpus) ? 2 : 1),
    };
  });
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

function printTable(title: string, questions: readonly Question[], rowOf: (corpus: string) => ConfidenceWeights): void {
  console.log(
    `\n${title}\n${"catalog".padEnd(16)} with / without   AUC  no namesake`,
    "  answerable: none  good   others: none  good",
  );
  for (const corpus of corpusNames) {
    for (const size of ["whole", 400, 100, 20] as const) {
      const own = questions.filter((question) => question.corpus === corpus && question.size === size);
      if (own.length === 0) continue;
      printRow(`${corpus} ${size}`, own, rowOf(corpus));
    }
  }
}

function printRow(name: string, questions: readonly Question[], row: ConfidenceWeights): void {
  const score = (question: Question): number => likelihood(question.signals, row);
  const having = questions.filter((question) => question.isAnswerable).map(score);
  const lacking = questions.filter((question) => !question.isAnswerable).map(score);
  const clean = questions.filter((question) => !question.isAnswerable && !question.hasNamesake).map(score);
  const percent = (scores: readonly number[], test: (value: number) => boolean): string =>
    ((100 * scores.filter(test).length) / scores.length).toFixed(1).padStart(6);
  const isNone = (value: number): boolean => value < row.weakFrom;
  const isGood = (value: number): boolean => value >= row.goodFrom;
  console.log(
    name.padEnd(16),
    `${String(having.length).padStart(4)} / ${String(lacking.length).padEnd(6)}`,
    areaUnderCurve(having, lacking).toFixed(3).padStart(7),
    areaUnderCurve(having, clean).toFixed(3).padStart(9),
    percent(having, isNone).padStart(19),
    percent(having, isGood),
    percent(clean, isNone).padStart(12),
    percent(clean, isGood),
  );
}

function printCompound(questions: readonly Question[]): void {
  console.log("\nquestions of several needs, called none / good");
  for (const set of new Set(questions.map((question) => question.set))) {
    const scores = questions
      .filter((question) => question.set === set)
      .map(({ signals }) => likelihood(signals, confidenceWeights));
    const share = (test: (value: number) => boolean): string =>
      ((100 * scores.filter(test).length) / scores.length).toFixed(1);
    const none = share((value) => value < confidenceWeights.weakFrom);
    const good = share((value) => value >= confidenceWeights.goodFrom);
    console.log(`  ${set.padEnd(16)} ${none} / ${good}`);
  }
}

/** `--list`: the questions without a tool that seem most answerable: many are. */
function list(questions: readonly Question[]): void {
  for (const corpus of corpusNames) {
    const foreign = questions.filter(
      (one) => one.corpus === corpus && one.size === "whole" && !one.isAnswerable && !one.hasNamesake,
    );
    const sorted = foreign.sort(
      (a, b) => likelihood(b.signals, confidenceWeights) - likelihood(a.signals, confidenceWeights),
    );
    console.log(`\n${corpus}`);
    for (const { text, bestPath, signals } of sorted.slice(0, 30))
      console.log(`  ${likelihood(signals, confidenceWeights).toFixed(2)} ${text.slice(0, 110)} -> ${bestPath}`);
  }
}

// Prints figures of the source's structure: how many files and lines, how full folders are, how long functions.
// `node scripts/house-figures.mjs [FOLDER]`; the folder is a checkout (default: this one).
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "src");
const paths = readdirSync(source, { recursive: true, encoding: "utf8" });
const isTest = (path) => path.endsWith(".test.ts");
const files = new Map(
  paths
    .filter((path) => path.endsWith(".ts") && !isTest(path))
    .map((path) => [path, readFileSync(join(source, path), "utf8")]),
);
const linesOf = (text) => text.split("\n").length - 1;

/** Files of ours that a file imports, types too. */
function importsOf(path, text) {
  const named = [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)"(\.[^"]+\.ts)"/g)];
  return new Set(named.map(([, specifier = ""]) => normalize(join(dirname(path), specifier))));
}

/**
 * Functions by their lines. The formatter closes a function at the indentation of its first line, so that no parser is
 * needed.
 */
function functionsOf(text) {
  const lines = text.split("\n");
  const found = [];
  lines.forEach((line, at) => {
    const [, indent] = /^( *)(?:export )?(?:async )?function\b/.exec(line) ?? [];
    if (indent === undefined) return;
    const end = lines.findIndex((other, index) => index > at && other === `${indent}}`);
    if (end > 0) found.push(end - at + 1);
  });
  return found;
}

const imports = new Map([...files].map(([path, text]) => [path, importsOf(path, text)]));
const importers = new Map();
for (const [path, targets] of imports)
  for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), path]);
const folders = new Map();
for (const path of files.keys()) {
  for (let place = path; place !== "."; place = dirname(place))
    folders.set(dirname(place), (folders.get(dirname(place)) ?? new Set()).add(basename(place)));
}
folders.delete(".");
const texts = [...files.values()];
const count = (test) => [...files].filter(test).length;
const tests = paths.filter(isTest).map((path) => readFileSync(join(source, path), "utf8"));
const fullest = [...folders].map(([, entries]) => entries.size).sort((a, b) => b - a);

const figures = {
  "source files": files.size,
  "lines of them": texts.reduce((sum, text) => sum + linesOf(text), 0),
  "lines of tests beside them": tests.reduce((sum, text) => sum + linesOf(text), 0),
  "entries of the fullest folders": fullest.slice(0, 5).join(", "),
  "files of at most 20 lines": count(([, text]) => linesOf(text) <= 20),
  "files with one importer, in the same folder, of at most 100 lines": count(([path, text]) => {
    const [only, ...others] = importers.get(path) ?? [];
    return only !== undefined && others.length === 0 && dirname(only) === dirname(path) && linesOf(text) <= 100;
  }),
  "functions of more than 80 lines": texts.flatMap(functionsOf).filter((lines) => lines > 80).length,
  "types called Deps, Options, Needs or Parts": texts.flatMap((text) => [
    ...text.matchAll(/^(?:export )?(?:interface|type) \w*(?:Deps|Options|Needs|Parts)\b/gm),
  ]).length,
  "files that import more than 25 of ours": [...imports.values()].filter(({ size }) => size > 25).length,
  "lines of more than 120 columns": texts.flatMap((text) => text.split("\n")).filter((line) => line.length > 120)
    .length,
};
for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name}: ${value}\n`);

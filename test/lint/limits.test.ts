import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sizeExceptions, sizeRules } from "../../scripts/lint-exceptions.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "toolyard-limits-"));
  const config = { categories: { correctness: "off" }, rules: sizeRules };
  writeFileSync(join(directory, ".oxlintrc.json"), JSON.stringify(config));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Which of the files have something beyond the limits, by the rules alone and without exceptions. */
function beyondLimits(paths: readonly string[]): ReadonlySet<string> {
  const options = ["--config", join(directory, ".oxlintrc.json"), "--format", "json"];
  const run = spawnSync(join(root, "node_modules/.bin/oxlint"), [...options, ...paths], { encoding: "utf8" });
  const { diagnostics } = JSON.parse(run.stdout) as { readonly diagnostics: readonly { readonly filename: string }[] };
  return new Set(diagnostics.map(({ filename }) => filename));
}

test("every exception from the limits of files and functions is still needed, and says why", () => {
  const files = Object.keys(sizeExceptions);
  const found = [...beyondLimits(files.map((file) => join(root, "src", file)))];
  expect(files.filter((file) => !found.some((path) => path.endsWith(`src/${file}`)))).toEqual([]);
  for (const [file, reason] of Object.entries(sizeExceptions)) expect(reason.length, file).toBeGreaterThan(10);
});

test("a file, a function and a list of parameters beyond the limits are found", () => {
  const planted = {
    "lines.ts": Array.from({ length: 301 }, (_, index) => `export const v${index} = ${index};`),
    "function.ts": ["export function f() {", ...Array.from({ length: 81 }, () => "  g();"), "}"],
    "parameters.ts": ["export const f = (a, b, c, d, e) => [a, b, c, d, e];"],
    "comments.ts": ["export function f() {", ...Array.from({ length: 400 }, () => "  // why"), "}"],
  };
  for (const [name, lines] of Object.entries(planted)) writeFileSync(join(directory, name), `${lines.join("\n")}\n`);
  const found = [...beyondLimits(Object.keys(planted).map((name) => join(directory, name)))];
  const names = found.map((path) => basename(path));
  expect(new Set(names)).toEqual(new Set(["lines.ts", "function.ts", "parameters.ts"]));
});

// Runs every test and prints, as its last line, `N passed, N failed`. Arguments go to vitest: paths, -t NAME.
// A file with a failure is run once more, by itself, and what it says then counts: on a busy machine a real process can
// be slower than any limit that one likes to wait for. What failed at first is named, because it is a lead to a race.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const strayReporter = join(root, "test/harness/stray-errors.mjs");
/** More than these failed because something is broken. */
const mostAgain = 5;

const first = run(process.argv.slice(2));
const failing = first.files.filter(({ failed }) => failed > 0);
const isAgain = failing.length > 0 && failing.length <= mostAgain && first.isWhole;
const second = isAgain
  ? run([...process.argv.slice(2).filter(isOption), ...failing.map(({ path }) => path)])
  : undefined;

const files = new Map(first.files.map((file) => [file.path, file]));
for (const file of second?.files ?? []) files.set(file.path, file);
const all = [...files.values()];
const passed = all.reduce((sum, file) => sum + file.passed, 0);
const isBroken = !first.isWhole || (second !== undefined && !second.isWhole);
const failed = Math.max(
  all.reduce((sum, file) => sum + file.failed, 0),
  isBroken ? 1 : 0,
);
if (second !== undefined)
  for (const { path, names } of failing)
    if (files.get(path)?.failed === 0)
      process.stdout.write(`\npassed only when run again: ${path}: ${names.join("; ")}`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * What each file said; `isWhole` unless something failed that is no test: a worker that died, whose other tests are in
 * no report, or an error that nobody waited for.
 */
function run(args) {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-vitest-"));
  const report = join(folder, "report.json");
  const strays = join(folder, "strays");
  const reporters = ["default", "json", strayReporter].map((name) => `--reporter=${name}`);
  const options = ["run", ...reporters, `--outputFile.json=${report}`, ...args];
  const env = { ...process.env, TEST_STRAY_ERRORS: strays };
  const { status } = spawnSync(process.execPath, [vitest, ...options], { cwd: root, stdio: "inherit", env });
  try {
    const result = JSON.parse(readFileSync(report, "utf8"));
    const results = result.testResults.map(toFile);
    const hasNoStrays = Number(readFileSync(strays, "utf8")) === 0;
    return { files: results, isWhole: hasNoStrays && (status === 0 || results.some((file) => file.failed > 0)) };
  } catch {
    return { files: [], isWhole: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function toFile({ name, status, assertionResults }) {
  const failures = assertionResults.filter((test) => test.status === "failed");
  // One that cannot be loaded has no tests.
  const failed = failures.length > 0 || status !== "failed" ? failures.length : 1;
  return {
    path: relative(root, name),
    passed: assertionResults.filter((test) => test.status === "passed").length,
    failed,
    names: failures.map((test) => test.fullName),
  };
}

function isOption(argument, at, given) {
  return argument.startsWith("-") || given[at - 1] === "-t";
}

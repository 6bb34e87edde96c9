// Runs every test and prints, as its last line, `N passed, N failed`. Arguments go to vitest: paths, -t NAME.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "toolyard-vitest-"));
const report = join(folder, "report.json");
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const run = spawnSync(
  process.execPath,
  [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { cwd: root, stdio: "inherit" },
);
let failed = run.status === 0 ? 0 : 1;
let passed = 0;
try {
  const result = JSON.parse(readFileSync(report, "utf8"));
  passed = result.numPassedTests;
  failed = Math.max(
    failed,
    result.numFailedTests +
      result.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length,
  );
} catch {
  failed = Math.max(failed, 1);
}
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

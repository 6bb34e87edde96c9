// Packs Toolyard and tries the tarball as its users do, on every Node line that we promise: what is in it, how much
// comes with it, whether npm warns, and whether the installed gateway serves, calls and records.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentProblems } from "./contents.mjs";
import { engineComplaints, limits } from "./limits.mjs";
import { findNodes } from "./node-versions.mjs";
import { bundledIn, noticedPackages } from "./sbom.mjs";
import { installPackage, usePackage } from "./trial.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "toolyard-package-"));
let failed = 0;

function report(where, problems) {
  for (const problem of problems) process.stderr.write(`${where}: ${problem}\n`);
  failed += problems.length;
}

/** Whose code is in the package is named with its licence and in the bill of materials. */
function missingNames(installed) {
  const dist = join(installed, "dist");
  const noticed = noticedPackages(readFileSync(join(dist, "THIRD-PARTY-NOTICES.txt"), "utf8"));
  const { components } = JSON.parse(readFileSync(join(dist, "sbom.cdx.json"), "utf8"));
  const listed = components.map((component) => component["bom-ref"]);
  const names = new Set(noticed.map((ref) => ref.slice(0, ref.lastIndexOf("@"))));
  return [
    ...bundledIn(dist)
      .filter((name) => !names.has(name))
      .map((name) => `the notices do not name ${name}`),
    ...noticed.filter((ref) => !listed.includes(ref)).map((ref) => `the bill of materials does not have ${ref}`),
  ];
}

try {
  execFileSync("npm", ["pack", "--pack-destination", folder, "--loglevel=error"], { cwd: root, encoding: "utf8" });
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  const paths = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
  report("contents", contentProblems(paths.map((path) => path.replace(/^package\//, ""))));
  for (const { line, node } of await findNodes()) {
    const installation = await installPackage({ node, tarball, folder: join(folder, `node${line}`) });
    const { packages, bytes, warnings } = installation;
    process.stdout.write(`Node ${line}: ${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB\n`);
    const where = `Node ${line}`;
    if (packages.length > limits.packages) report(where, [`there are more than ${limits.packages} packages`]);
    if (bytes > limits.bytes) report(where, [`they take more than ${limits.bytes / 1e6} MB`]);
    report(
      where,
      warnings.map((warning) => `npm says: ${warning}`),
    );
    report(where, engineComplaints(packages));
    report(where, missingNames(join(installation.folder, "node_modules/toolyard")));
    report(where, await usePackage(installation, version));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

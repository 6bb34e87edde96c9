// Runs a TypeScript file of bench/ on the built gateway: bundled by esbuild, packages left outside.
// `node scripts/run-bench.mjs bench/overhead.ts [args]`
import { execFileSync, spawnSync } from "node:child_process";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) {
  process.stderr.write("usage: node scripts/run-bench.mjs bench/NAME.ts [arguments]\n");
  process.exit(2);
}
execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
// Beside the sources, so that import.meta.url and package look-ups mean the same as in them.
const outfile = join(root, entry, "..", `.${basename(entry, ".ts")}.bundle.mjs`);
await build({
  entryPoints: [join(root, entry)],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  loader: { ".txt": "text" },
  logLevel: "warning",
});
const run = spawnSync(process.execPath, ["--expose-gc", outfile, ...args], { stdio: "inherit", cwd: root });
process.exitCode = run.status ?? 1;

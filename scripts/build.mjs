// Bundles src/ to dist/: two hundred small modules take Node 50 ms and 5 MB longer to load than a few large ones (bench/startup). Packages stay
// outside, what is loaded late stays a file of its own, and nothing is minified. Skips the work when dist/ is newer than every source.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}dist/cli/main.js`;

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}

/** Of everything that decides what comes out: the same sources have the same. */
function hashOf(paths) {
  const hash = createHash("sha256");
  const add = (path) => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) add(`${path}/${name}`);
    else hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path));
  };
  for (const path of paths) add(`${root}${path}`);
  return hash.digest("hex").slice(0, 16);
}

const sources = ["src", "tsconfig.json", "package.json", "scripts/build.mjs"].map((name) => newest(`${root}${name}`));
if (!existsSync(stamp) || statSync(stamp).mtimeMs < Math.max(...sources)) {
  rmSync(`${root}dist`, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    // The command, and what runs in threads and processes of its own. All in one folder: they find each other there.
    entryPoints: [
      "src/cli/main.ts",
      "src/engine/validation/compile-worker.ts",
      "src/catalog/discovery/fuse-worker.ts",
      "src/app/late-check-worker.ts",
      "src/servers/process/guardian-main.ts",
    ],
    outdir: "dist",
    entryNames: "cli/[name]",
    chunkNames: "cli/[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    loader: { ".txt": "text" },
    platform: "node",
    format: "esm",
    target: "node20",
    define: { TOOLYARD_BUILD_ID: JSON.stringify(hashOf(["src", "package.json", "scripts/build.mjs"])) },
    logLevel: "warning",
  });
  chmodSync(stamp, 0o755);
}

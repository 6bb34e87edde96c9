// Compiles src/ to dist/ with plain tsc. Skips the work when dist/ is newer than every source.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}dist/cli/main.js`;

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}

const sources = ["src", "tsconfig.json", "tsconfig.build.json", "package.json"].map((name) => newest(`${root}${name}`));
if (!existsSync(stamp) || statSync(stamp).mtimeMs < Math.max(...sources)) {
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", `${root}tsconfig.build.json`], {
    cwd: root,
    stdio: "inherit",
  });
  chmodSync(stamp, 0o755);
}

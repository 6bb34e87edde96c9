// Puts Debian's prometheus into .cache/prometheus/ unless there is one already: the tests of docs/grafana.json run it.
// Only the package is downloaded and unpacked, so that neither a service nor any other package is installed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../.cache/prometheus/", import.meta.url));
const isInstalled = spawnSync("prometheus", ["--version"]).status === 0;
if (!isInstalled && !existsSync(`${folder}usr/bin/prometheus`)) {
  mkdirSync(folder, { recursive: true });
  const download = () =>
    spawnSync("apt-get", ["download", "prometheus"], { cwd: folder, stdio: "inherit" }).status === 0;
  // On a fresh machine, apt has no lists yet.
  if (!download()) {
    execFileSync("apt-get", ["update"], { stdio: "inherit" });
    if (!download()) throw new Error("prometheus could not be downloaded with apt-get");
  }
  const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
  execFileSync("dpkg", ["-x", archive, "."], { cwd: folder, stdio: "inherit" });
}

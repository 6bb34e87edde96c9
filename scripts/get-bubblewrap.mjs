// Installs Debian's bubblewrap unless it is there: the tests start servers in sandboxes.
import { execFileSync, spawnSync } from "node:child_process";

if (spawnSync("bwrap", ["--version"]).status !== 0) {
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "bubblewrap"], { stdio: "inherit" }).status === 0;
  // On a fresh machine, apt has no lists yet.
  if (!install()) {
    execFileSync("apt-get", ["update"], { stdio: "inherit" });
    if (!install()) throw new Error("bubblewrap could not be installed with apt-get");
  }
}

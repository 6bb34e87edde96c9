// Installs Debian's Chromium unless there is one: the tests of the dashboard run in it.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (!existsSync("/usr/bin/chromium")) {
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], { stdio: "inherit" }).status === 0;
  // On a fresh machine, apt has no lists yet.
  if (!install()) {
    execFileSync("apt-get", ["update"], { stdio: "inherit" });
    if (!install()) throw new Error("chromium could not be installed with apt-get");
  }
}

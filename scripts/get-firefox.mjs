// Installs Debian's Firefox ESR unless there is one: the dashboard's pages are opened in it, too.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (!existsSync("/usr/bin/firefox-esr")) {
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "firefox-esr"], { stdio: "inherit" }).status ===
    0;
  // On a fresh machine, apt has no lists yet.
  if (!install()) {
    execFileSync("apt-get", ["update"], { stdio: "inherit" });
    if (!install()) throw new Error("firefox-esr could not be installed with apt-get");
  }
}

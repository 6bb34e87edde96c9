// Programs of Debian that some scripts and tests need.
import { execFileSync, spawnSync } from "node:child_process";

/**
 * Installs a package of Debian with apt-get, unless its program is there.
 * @param {string} name of the package
 * @param {string[]} probe the program, with arguments with which it ends at once
 * @throws where apt-get cannot install it
 */
export function needPackage(name, [program, ...args]) {
  if (spawnSync(program, args).status === 0) return;
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", name], { stdio: "inherit" }).status === 0;
  if (install()) return;
  // On a fresh machine, apt has no lists yet.
  execFileSync("apt-get", ["update"], { stdio: "inherit" });
  if (!install()) throw new Error(`${name} could not be installed with apt-get`);
}

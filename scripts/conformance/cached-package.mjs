// Installs what only the conformance runs need into .cache/, so that it never becomes a dependency of the project.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const projectDir = fileURLToPath(new URL("../../", import.meta.url));
export const cacheDir = join(projectDir, ".cache");

/**
 * Installs `spec` into `.cache/<name>` unless `expected` is there already.
 * @param {string} name folder in .cache
 * @param {string | string[]} spec package and version, as npm takes it, or several
 * @param {string} expected a path below that folder that exists once the package is complete
 * @param {readonly string[]} [options] more of npm's own
 * @returns {Promise<string>} the absolute path of `expected`
 */
export async function cachedPackage(name, spec, expected, options = []) {
  const target = join(cacheDir, name);
  const path = join(target, expected);
  if (existsSync(path)) return path;
  // Installed beside and renamed: two runs at once, or one that is interrupted, never leave half a package behind.
  const staging = `${target}.${process.pid}`;
  await mkdir(staging, { recursive: true });
  const args = ["install", "--prefix", staging, "--no-audit", "--no-fund", "--no-save", "--loglevel=error"].concat(
    options,
    spec,
  );
  await promisify(execFile)("npm", args, { cwd: cacheDir, shell: process.platform === "win32" });
  await rm(target, { recursive: true, force: true });
  await rename(staging, target).catch(async (error) => {
    await rm(staging, { recursive: true, force: true });
    if (!existsSync(path)) throw error;
  });
  if (!existsSync(path)) throw new Error(`npm installed ${String(spec)}, but ${path} is not there`);
  return path;
}

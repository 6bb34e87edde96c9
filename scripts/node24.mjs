// Some development tools need Node 22 or newer, the gateway itself does not. npm can supply one: package `node`.

import { argv, execPath, versions } from "node:process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cachedPackage } from "./conformance/cached-package.mjs";

const neededMajor = 22;

/**
 * The path of a Node binary of version 22 or newer: the running one if it will do, otherwise Node 24 in .cache/node24.
 * @returns {Promise<string>}
 */
export async function findNewerNode() {
  if (Number(versions.node.split(".")[0]) >= neededMajor) return execPath;
  const binary = process.platform === "win32" ? "node.exe" : "node";
  return cachedPackage("node24", "node@24", join("node_modules", "node", "bin", binary));
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) {
  process.stdout.write(`${await findNewerNode()}\n`);
}

// The Node lines that the package is tried on. npm can supply each of them: package `node`, into .cache/.
import { execPath, platform, versions } from "node:process";
import { join } from "node:path";
import { cachedPackage } from "../conformance/cached-package.mjs";

const lines = ["20", "22", "24"];

/** The path of a Node binary of each line; the running one where it is of that line. */
export async function findNodes() {
  const nodes = [];
  for (const line of lines) nodes.push({ line, node: await findNode(line) });
  return nodes;
}

async function findNode(line) {
  if (versions.node.split(".")[0] === line) return execPath;
  const binary = join("node_modules", "node", "bin", platform === "win32" ? "node.exe" : "node");
  return await cachedPackage(`node${line}`, `node@${line}`, binary);
}

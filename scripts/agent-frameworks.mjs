// Puts what docs/embedding.md shows Toolyard with into .cache/frameworks/, beside Toolyard itself, as in a project of
// somebody else. The tests of the examples need it, nothing else does. The lines are the last that run on Node 20.
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { cachedPackage, projectDir } from "./conformance/cached-package.mjs";

const packages = [
  "ai@^6",
  "@ai-sdk/mcp@^1",
  "@langchain/core@^1",
  "@langchain/mcp-adapters@^1.1",
  "hono@^4",
  "@hono/node-server@^2",
];

/** The folder of that project: what lies in it finds the packages. */
export async function installFrameworks() {
  const mcp = join("node_modules", "@langchain", "mcp-adapters", "package.json");
  const folder = join(await cachedPackage("frameworks", packages, mcp), "../../../..");
  const own = join(folder, "node_modules/toolyard");
  if (!existsSync(own)) symlinkSync(projectDir, own, "junction");
  return folder;
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href)
  process.stdout.write(`${await installFrameworks()}\n`);

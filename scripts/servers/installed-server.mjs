// A server of a package, in a folder of its own in .cache/servers.

import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cachedPackage, projectDir } from "../conformance/cached-package.mjs";
import { findNewerNode } from "../node24.mjs";

/**
 * What servers are built with, those that are built on another first. Only a package's own dependencies are asked.
 */
const sdkPackages = [
  "fastmcp",
  "firecrawl-fastmcp",
  "mcp-framework",
  "xmcp",
  "tmcp",
  "@mastra/mcp",
  "@sylphx/mcp-server-sdk",
  "mcp-use",
  "@primeuix/mcp",
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/sdk",
];

/**
 * @param {import("./server-rows.mjs").ServerRow} row
 * @param {{ isInstalled?: boolean }} [options] whether the project itself has it, in whatever version
 * @returns {Promise<{ command: string, args: readonly string[], sdk: string }>}
 */
export async function installServer(row, { isInstalled = false } = {}) {
  const { package: name, version, file, args = [], sdk, needsNewerNode = false } = row;
  const folder = `servers/${name.replace("@", "").replace("/", "+")}-${version}`;
  const own = join("node_modules", name, "package.json");
  const manifestFile = isInstalled
    ? join(projectDir, own)
    : await cachedPackage(folder, `${name}@${version}`, own, ["--ignore-scripts"]);
  const root = join(manifestFile, "..");
  const manifest = JSON.parse(await readFile(manifestFile, "utf8"));
  const used = sdk ?? (await readSdk(join(root, ...name.split("/").map(() => "..")), manifest));
  if (file !== undefined) {
    // npm marks only a package's commands as programs.
    await chmod(join(root, file), 0o755);
    return { command: join(root, file), args, sdk: used };
  }
  const bin = typeof manifest.bin === "string" ? manifest.bin : Object.values(manifest.bin)[0];
  const command = needsNewerNode ? await findNewerNode() : process.execPath;
  return { command, args: [join(root, bin), ...args], sdk: used };
}

async function readSdk(modules, manifest) {
  const dependencies = { ...manifest.dependencies, ...manifest.peerDependencies };
  const name = sdkPackages.find((one) => Object.hasOwn(dependencies, one));
  if (name === undefined) return "in its bundle";
  // A package may have a copy of its own; the one beside it is what npm installs unless two versions are needed.
  const { version } = JSON.parse(await readFile(join(modules, name, "package.json"), "utf8"));
  return `${name} ${version}`;
}

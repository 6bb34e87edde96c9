// The command line of the MCP Inspector, which needs a newer Node than the gateway: both are had from npm into .cache.

import { join } from "node:path";
import { cachedPackage } from "./conformance/cached-package.mjs";
import { findNewerNode } from "./node24.mjs";

const inspectorPackage = "@modelcontextprotocol/inspector@2.12.0";
const entry = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/** @returns {Promise<{ node: string, file: string }>} what to run it with: `node file --cli ...` */
export async function inspectorCli() {
  const node = await findNewerNode();
  return { node, file: await cachedPackage("inspector", inspectorPackage, join(...entry.split("/"))) };
}

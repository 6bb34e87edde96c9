// Servers that behave as those of SDKs that cannot be had here (test/servers/stand-ins).

import { join } from "node:path";
import { sdks } from "../../test/servers/stand-ins/sdks.mjs";
import { projectDir } from "../conformance/cached-package.mjs";

const program = join(projectDir, "test/servers/stand-ins/stand-in.mjs");

/**
 * @typedef {object} StandIn
 * @property {string} name
 * @property {string} follows the SDK and version
 * @property {"stdio" | "HTTP"} transport
 * @property {readonly string[]} args of Node; over HTTP, a port follows
 * @property {[tool: string, args: object]} call
 *
 * @type {readonly StandIn[]}
 */
export const standInRows = Object.entries(sdks).flatMap(([name, { follows, refuse }]) => {
  const row = { follows, args: [program, name], call: ["add", { a: 2, b: 40 }] };
  const stdio = { ...row, name, transport: "stdio" };
  return refuse === undefined ? [stdio] : [stdio, { ...row, name: `${name}-http`, transport: "HTTP" }];
});

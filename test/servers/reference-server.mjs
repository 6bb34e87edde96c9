#!/usr/bin/env node
// A well-behaved MCP server of both eras that offers everything the official conformance suite asks a server for.
// `node test/servers/reference-server.mjs [--port N] [--retry-ms N] [--stdio]`

import { parseArgs } from "node:util";
import { serveHttp } from "./reference/http.mjs";
import { serveReferenceStdio } from "./reference/stdio.mjs";

const { values: flags } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "retry-ms": { type: "string", default: "500" },
    stdio: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (flags.help) {
  process.stdout.write(
    "usage: reference-server.mjs [--port N (default: any free port)] [--retry-ms N (500)] [--stdio]\n",
  );
} else if (flags.stdio) {
  serveReferenceStdio();
} else {
  const server = await serveHttp(Number(flags.port), Number(flags["retry-ms"]));
  process.stdout.write(`listening on ${server.url}\n`);
  process.once("SIGTERM", () => process.exit(0));
}

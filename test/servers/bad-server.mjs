#!/usr/bin/env node
// An MCP server that misbehaves on demand, over stdio, Streamable HTTP or legacy SSE. Tools choose what goes wrong
// during a call, flags what goes wrong before. JSON-RPC by hand: an SDK would not let it break the rules.
// `node test/servers/bad-server.mjs --help` lists every flag and tool.

import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { describeOptions, parseOptions } from "./bad/options.mjs";
import { notePid } from "./bad/records.mjs";
import { createServer } from "./bad/server.mjs";
import { allTools } from "./bad/tools.mjs";
import { serveHttp } from "./bad/transport-http.mjs";
import { serveSse } from "./bad/transport-sse.mjs";
import { serveStdio } from "./bad/transport-stdio.mjs";

const options = parseOptions(process.argv.slice(2), process.env);

if (options.help) process.stdout.write(helpText());
else await start();

async function start() {
  notePid(options, process.pid, "server");
  if (options["ignore-sigterm"]) process.on("SIGTERM", () => {});
  for (let line = 1; line <= options["stderr-lines"]; line += 1) process.stderr.write(`stderr line ${line}\n`);
  if (options["crash-at-start"] || existsSync(options["crash-while-exists"])) {
    process.stderr.write("crashing at start, as asked\n");
    process.exit(1);
  }
  if (options["crash-after"] !== undefined) setTimeout(() => process.exit(1), options["crash-after"]);
  while (existsSync(options["wait-while-exists"])) await delay(20);
  await delay(options["start-delay"]);
  const server = createServer(options);
  if (options.sse) await serveSse(server);
  else if (options.http) await serveHttp(server);
  else serveStdio(server);
}

function helpText() {
  const tools = [...allTools()].map(([name, { description }]) => `  ${name.padEnd(30)} ${description}`);
  return `usage: bad-server.mjs [flags]; BAD_SERVER_ARGS may hold more flags as a JSON array\n\nflags\n${describeOptions()}\n\ntools\n${tools.join("\n")}\n`;
}

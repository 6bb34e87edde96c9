#!/usr/bin/env node
// Has the command lines that people use, in their newest versions from npm, work through a gateway: a scripted model
// makes each of them call discover_mcp_tools and execute_mcp_tool, and its own resource tools where it has such, and
// what comes back is compared with what the gateway itself answers. No account is needed, and nothing leaves the
// machine but what npm fetches. Each client is tried twice, once without its row in the table of client profiles, so
// that a row that is no longer needed is seen. Those that have a command for it also log in to a gateway for teams, in
// a browser whose person is a script. `npm run clients`; not part of the tests, because the packages are large
// and change every week.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clients } from "./clients/client-rows.mjs";
import { installNewest } from "./clients/installed-client.mjs";
import { observeClient } from "./clients/observe-client.mjs";
import { startRecordingProxy } from "./clients/recording-proxy.mjs";
import { startScriptedModel } from "./clients/scripted-model.mjs";
import { tryInTeam } from "./clients/team-trial.mjs";
import { projectDir } from "./conformance/cached-package.mjs";
import { startListening } from "./conformance/listening.mjs";
import { seenTable, teamTable } from "./docs/clients-page.mjs";
import { bundledTable } from "./docs/bundled-table.mjs";
import { writeDocs } from "./write-docs.mjs";

const { values: flags } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    verbose: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (flags.help) {
  const names = clients.map(({ command }) => command).join(", ");
  process.stdout.write(
    `usage: node scripts/clients.mjs [--client NAME ...] [--write] [--verbose]\n\n  --client NAME   only this one; may be repeated: ${names}\n  --write         keep what was seen in docs/clients.json and docs/clients.md\n  --verbose       also what the clients print\n`,
  );
} else process.exitCode = await main();

async function main() {
  const wanted = clients.filter(({ command }) => flags.client?.includes(command) ?? true);
  const directory = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
  const { clientProfiles } = await bundledTable("src/config/client-profiles.ts");
  const asIs = Object.fromEntries(
    Object.keys(clientProfiles).map((name) => [name, { toolMeta: {}, ownResourceTools: false }]),
  );
  const closers = [];
  try {
    const fronts = {};
    for (const [name, profiles] of Object.entries({ without: asIs, with: {} })) {
      const gateway = await startGateway(join(directory, name), profiles, closers);
      fronts[name] = { front: await startRecordingProxy(gateway.url), truth: await askGateway(gateway.url) };
      closers.push(fronts[name].front.close);
    }
    const model = await startScriptedModel({ server: "toolyard", query: "canary", resource: "text" });
    closers.push(model.close);
    const rows = [];
    for (const client of wanted) {
      const row = await tryClient(client, { directory, fronts, model });
      for (const problem of row.problems) process.stderr.write(`${client.name}: ${problem}\n`);
      rows.push(row);
    }
    process.stdout.write(`${seenTable(rows)}\n\n${teamTable(rows)}\n`);
    if (flags.write) await keep(rows);
    return rows.every(({ problems }) => problems.length === 0) ? 0 : 1;
  } finally {
    for (const close of closers.toReversed()) await close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function startGateway(directory, profiles, closers) {
  const config = `${directory}.json`;
  // One process for the whole run: it tells by the id of the process whether a result is really its own.
  const idleTimeoutMs = 3_600_000;
  const args = [join(projectDir, "test/servers/bad-server.mjs"), "--resources"];
  const bad = { command: process.execPath, args, idleTimeoutMs };
  await writeFile(config, JSON.stringify({ mcpServers: { bad }, toolyard: { clients: profiles } }));
  const entry = join(projectDir, "dist/cli/main.js");
  const gateway = await startListening([entry, "serve", "--config", config, "--port", "0", "--data-dir", directory]);
  closers.push(gateway.stop);
  return gateway;
}

/** What the clients have to bring back: the id that the server's process made up, and the text of its resource. */
async function askGateway(url) {
  const toolPath = "bad:canary";
  const called = await call(url, "tools/call", { name: "execute_mcp_tool", arguments: { tool_path: toolPath } });
  const { resources } = await call(url, "resources/list", {});
  const { uri } = resources.find(({ name }) => name === "text");
  const { contents } = await call(url, "resources/read", { uri });
  return { toolPath, executed: called.structuredContent.instance, resource: contents[0].text };
}

async function call(url, method, params) {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await response.json()).result;
}

/** The row of docs/clients.json. */
async function tryClient(client, { directory, fronts, model }) {
  const { name, package: packageName, needs, setup } = client;
  const told = { name, package: packageName, setup, ...(needs === undefined ? {} : { needs }) };
  const nothing = { clientName: null, revision: null, offered: [], offeredWithout: [], own: [], api: [] };
  try {
    const { version, command } = await installNewest(client);
    const observe = async (which) => {
      const home = join(directory, `${client.command}-${which}`);
      const onOutput = (chunk) => flags.verbose && process.stderr.write(chunk);
      return await observeClient({ client, command, home, model, onOutput, ...fronts[which] });
    };
    const without = await observe("without");
    const seen = await observe("with");
    const team = await inTeam(client, command, directory);
    const problems = [...seen.problems, ...(team?.failure === undefined ? [] : [`with a login, ${team.failure}`])];
    return { ...told, version, ...seen, problems, offeredWithout: without.offered, ...(team && { team }) };
  } catch (error) {
    return { ...told, version: null, ...nothing, problems: [`could not be tried: ${error.message}`] };
  }
}

/** Undefined for a client whose login needs a person at its keyboard. */
async function inTeam(client, command, directory) {
  if (client.team === undefined) return undefined;
  const onOutput = (chunk) => flags.verbose && process.stderr.write(chunk);
  return await tryInTeam({ client, command, directory: join(directory, `${client.command}-team`), onOutput });
}

/** Rows of clients that were not tried this time stay as they were. */
async function keep(rows) {
  const file = join(projectDir, "docs/clients.json");
  const { default: before } = await import(file, { with: { type: "json" } }).catch(() => ({ default: [] }));
  const all = clients.flatMap(({ name }) => {
    const row = rows.find((one) => one.name === name) ?? before.find((one) => one.name === name);
    return row === undefined ? [] : [row];
  });
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
  await writeDocs();
}

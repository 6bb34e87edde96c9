#!/usr/bin/env node
// Has the command lines that people use, in their newest versions from npm, work through a gateway beside a crowd of
// other MCP servers: a scripted model makes each of them find a tool and call it, wait, ask, and read a large result,
// and what comes back is compared with what the servers hold. Each has its default settings and permissions, and the
// entry that `toolyard connect` writes. No account is needed, and nothing leaves the machine but what npm fetches.
// Each is also tried without its row in the table of client profiles, so that a row that is no longer needed is seen.
// Those that have a command for it log in to a gateway for teams, in a browser whose person is a script. Where a call
// needs a person's yes, keys are typed on the client's terminal, or on that of the gateway's machine.
// `npm run clients`; not part of the tests, because the packages are large and change every week.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { tryAsking } from "./clients/asked/asked-trial.mjs";
import { askedRows } from "./clients/asked/asked-rows.mjs";
import { clients } from "./clients/client-rows.mjs";
import { tryClient } from "./clients/client-trial.mjs";
import { installNewest } from "./clients/installed-client.mjs";
import { projectDir } from "./conformance/cached-package.mjs";
import { needPackage } from "./debian-package.mjs";
import { askedTable } from "./docs/asked-section.mjs";
import { seenTable, teamTable } from "./docs/clients-page.mjs";
import { bundledTable } from "./docs/bundled-table.mjs";
import { writeDocs } from "./write-docs.mjs";

/** Longer than any limit for a silent call that was seen, and with `--long` longer than most builds and queries. */
const waits = { short: 100_000, long: 600_000 };
/** At the same time: most of a trial is waiting, but each client takes a few hundred megabytes and a core to start. */
const mostAtOnce = 4;

const { values: flags } = parseArgs({
  options: {
    asked: { type: "boolean", default: false },
    client: { type: "string", multiple: true },
    installed: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (flags.help) {
  const names = [...new Set(clients.map(({ command }) => command))].join(", ");
  process.stdout.write(`usage: node scripts/clients.mjs [options]

  --asked         only the calls that need a person's yes
  --client NAME   only this one; may be repeated: ${names}
  --installed     the versions that are in .cache/, without asking npm
  --long          the call that is waited for takes 600 s instead of 100 s
  --write         keep what was seen in docs/clients.json and the pages made from it
  --verbose       also what the clients print
`);
} else process.exitCode = await main();

async function main() {
  const wanted = clients.filter(
    ({ command, name }) => (flags.client?.includes(command) ?? true) && (!flags.asked || name in askedRows),
  );
  needPackage("tmux", ["tmux", "-V"]);
  const directory = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
  const { clientProfiles } = await bundledTable("src/config/rows/client-profiles.ts");
  const asIs = Object.fromEntries(
    Object.keys(clientProfiles).map((name) => [name, { toolMeta: {}, ownResourceTools: false }]),
  );
  const install = createInstaller();
  try {
    const onOutput = (chunk) => flags.verbose && process.stderr.write(chunk);
    const rows = await inTurn(wanted, async (client) => {
      const waitMs = flags.long ? waits.long : waits.short;
      const seen = flags.asked ? {} : await tryClient(client, { directory, asIs, install, waitMs, onOutput });
      const asking = await tryAsking({ client, directory, install, onOutput });
      const row = { name: client.name, ...seen, ...(asking && { asking }) };
      process.stderr.write(`${row.name}: ${problemsOf(row).join("\n  ") || "as it should be"}\n`);
      return row;
    });
    if (!flags.asked) process.stdout.write(`${seenTable(rows)}\n\n${teamTable(rows)}\n\n`);
    process.stdout.write(`${askedTable(rows)}\n`);
    if (flags.write) await keep(rows);
    return rows.every((row) => problemsOf(row).length === 0) ? 0 : 1;
  } finally {
    // What clients leave behind may write for a moment longer.
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  }
}

function problemsOf({ problems = [], asking }) {
  return [...problems, ...(asking?.problems ?? [])];
}

/** So many at once that the machine stays quiet enough. */
async function inTurn(wanted, run) {
  const waiting = [...wanted];
  const rows = [];
  const work = async () => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) rows.push(await run(client));
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  return inOrder(rows);
}

/** Each command once, though there are several rows of some. */
function createInstaller() {
  const installed = new Map();
  return (client) => {
    const { command } = client;
    if (!installed.has(command)) installed.set(command, installNewest(client, { isInstalled: flags.installed }));
    return installed.get(command);
  };
}

/** Rows of clients that were not tried this time stay as they were, and so does what was not tried of a client. */
async function keep(rows) {
  const file = join(projectDir, "docs/clients.json");
  const before = JSON.parse(await readFile(file, "utf8"));
  const kept = before.filter(({ name }) => rows.every((row) => row.name !== name));
  const next = rows.map((row) => ({ ...(flags.asked && before.find(({ name }) => name === row.name)), ...row }));
  await writeFile(file, `${JSON.stringify(inOrder([...kept, ...next]), null, 2)}\n`);
  await writeDocs();
}

/** As the table of clients has them; one that is no longer there is left out. */
function inOrder(rows) {
  return clients.flatMap(({ name }) => rows.filter((row) => row.name === name));
}

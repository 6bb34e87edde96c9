#!/usr/bin/env node
// Has real servers of other authors and SDKs asked by the official clients, directly and through a gateway in every
// exposure, and tells what differs. The servers come from npm, each in the version of its row, into .cache/servers;
// those of SDKs that cannot be had here are stand-ins. No account is needed. `npm run servers`; not part of the tests,
// because the packages are large.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectDir } from "./conformance/cached-package.mjs";
import { triedTable } from "./docs/servers-tried-page.mjs";
import { authorRows } from "./servers/author-rows.mjs";
import { nativeRows } from "./servers/native-rows.mjs";
import { referenceRows } from "./servers/server-rows.mjs";
import { standInRows } from "./servers/stand-in-rows.mjs";
import { tryPackage, tryStandIn } from "./servers/try-row.mjs";
import { writeDocs } from "./write-docs.mjs";

const { values: flags, positionals: wanted } = parseArgs({
  options: { write: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  allowPositionals: true,
});

const trials = [
  ...[...referenceRows, ...authorRows, ...nativeRows].map((row) => ({ name: row.package, run: () => tryPackage(row) })),
  ...standInRows.map((row) => ({ name: row.name, run: () => tryStandIn(row) })),
];

if (flags.help) {
  const names = trials.map(({ name }) => `  ${name}`).join("\n");
  process.stdout.write(
    `usage: node scripts/servers.mjs [NAME ...] [--write]\n\n  NAME      only these\n  --write   keep what was seen in docs/servers-tried.json and docs/servers-tried.md\n\n${names}\n`,
  );
} else process.exitCode = await main();

async function main() {
  const unknown = wanted.filter((name) => trials.every((trial) => trial.name !== name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(", ")}; --help lists them`);
  const rows = [];
  for (const { name, run } of trials) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const row = await run();
    process.stderr.write(`${name}: ${row.notStarted ?? (row.differences.join("\n  ") || "no difference")}\n`);
    rows.push(row);
    if (flags.write) await keep(rows);
  }
  process.stdout.write(`${triedTable(rows)}\n`);
  if (flags.write) await writeDocs();
  return rows.every(({ differences }) => differences.length === 0) ? 0 : 1;
}

/** Rows of servers that were not tried this time stay as they were. */
async function keep(rows) {
  const file = join(projectDir, "docs/servers-tried.json");
  const before = JSON.parse(await readFile(file, "utf8"));
  const all = trials.flatMap(({ name }) => {
    const row = rows.find((one) => one.name === name) ?? before.find((one) => one.name === name);
    return row === undefined ? [] : [row];
  });
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
}

#!/usr/bin/env node
// Runs the official MCP conformance suite against the reference server, directly and through the gateway, and fails
// if the gateway loses anything on the way. `node scripts/conformance.mjs --help` says how.

import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir, projectDir } from "./conformance/cached-package.mjs";
import { countPassed, findLosses, lossTable, scenarioTable, summaryTable } from "./conformance/comparison.mjs";
import { startGateway } from "./conformance/gateway.mjs";
import { startListening } from "./conformance/listening.mjs";
import { runClientScenarios, runServerScenarios } from "./conformance/suite.mjs";

// What the reference server passes, [scenarios, checks]. Fewer means that the measure itself is broken.
const expectedDirect = {
  "2025-03-26": [1, 3],
  "2025-06-18": [27, 56],
  "2025-11-25": [33, 84],
  "2026-07-28": [40, 152],
};
// As the reference server of the official SDK has its clients wait: longer than the suite itself has patience.
const referenceFlags = ["--retry-ms", "5000"];
const clientRevisions = ["2025-06-18", "2025-11-25", "2026-07-28"];

const usage = `usage: node scripts/conformance.mjs [options]

  --direct-only        only the reference server itself, without the gateway
  --client-scenarios   the suite's client scenarios (without authorization): the gateway is the client
  --revision DATE      only this protocol revision; may be repeated
  --gateway FILE       the gateway's command (default: dist/cli/main.js)
  --all                a table of every scenario, not only the summary
  --help

Results are written to .cache/conformance/results-*.json. Exit code 1 if a scenario or a check is lost.
`;

const { values: flags } = parseArgs({
  options: {
    "direct-only": { type: "boolean", default: false },
    "client-scenarios": { type: "boolean", default: false },
    revision: { type: "string", multiple: true },
    gateway: { type: "string", default: join(projectDir, "dist/cli/main.js") },
    all: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (flags.help) process.stdout.write(usage);
else process.exitCode = await main();

async function main() {
  if (!flags["direct-only"] && !existsSync(flags.gateway)) {
    process.stderr.write(`${flags.gateway} does not exist: run \`npm run build\`, or use --direct-only\n`);
    return 2;
  }
  const kind = flags["client-scenarios"] ? "client" : "server";
  const known = kind === "client" ? clientRevisions : Object.keys(expectedDirect);
  const runs = [];
  for (const revision of flags.revision ?? known) {
    process.stderr.write(`${kind} scenarios of ${revision}\n`);
    runs.push(kind === "client" ? await runAsClient(revision) : await runAsServer(revision));
  }
  await writeResults(kind, runs);
  return report(kind, runs);
}

async function runAsServer(revision) {
  const server = await startListening([join(projectDir, "test/servers/reference-server.mjs"), ...referenceFlags]);
  try {
    const direct = await runServerScenarios(revision, server.url);
    if (flags["direct-only"]) return { revision, direct };
    const gateway = await startGateway(flags.gateway, server.url);
    try {
      return { revision, direct, gateway: await runServerScenarios(revision, gateway.url) };
    } finally {
      await gateway.stop();
    }
  } finally {
    await server.stop();
  }
}

async function runAsClient(revision) {
  const driver = `"${process.execPath}" scripts/conformance/client-driver.mjs`;
  const direct = await runClientScenarios(revision, driver);
  if (flags["direct-only"]) return { revision, direct };
  return {
    revision,
    direct,
    gateway: await runClientScenarios(revision, `${driver} --gateway "${flags.gateway}"`),
  };
}

async function writeResults(kind, runs) {
  const directory = join(cacheDir, "conformance");
  await mkdir(directory, { recursive: true });
  for (const run of runs) {
    await writeFile(join(directory, `results-${kind}-${run.revision}.json`), `${JSON.stringify(run, null, 2)}\n`);
  }
}

function report(kind, runs) {
  const losses = runs.flatMap(({ revision, direct, gateway }) =>
    gateway === undefined ? [] : findLosses(direct, gateway).map((loss) => ({ revision, ...loss })),
  );
  const short = kind === "server" ? runs.filter(isShort).map(({ revision }) => revision) : [];
  const parts = [
    summaryTable(runs),
    ...(flags.all ? [scenarioTable(runs)] : []),
    ...(losses.length > 0 ? [lossTable(losses)] : []),
    ...short.map((revision) => `The reference server itself passes too little of ${revision}.`),
  ];
  process.stdout.write(`${parts.join("\n\n")}\n`);
  return losses.length > 0 || short.length > 0 ? 1 : 0;
}

function isShort({ revision, direct }) {
  const [scenarios, checks] = expectedDirect[revision];
  const passed = countPassed(direct);
  return passed.scenarios < scenarios || passed.checks < checks;
}

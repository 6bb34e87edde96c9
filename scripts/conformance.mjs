#!/usr/bin/env node
// Runs the official MCP conformance suite against the reference server, directly and through the gateway, and fails
// if the gateway loses anything on the way. `node scripts/conformance.mjs --help` says how.

import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir, projectDir } from "./conformance/cached-package.mjs";
import {
  countPassed,
  findFailures,
  findLosses,
  lossTable,
  revisionTable,
  scenarioTable,
  summaryTable,
} from "./conformance/comparison.mjs";
import { startGateway } from "./conformance/gateway.mjs";
import { startListening } from "./conformance/listening.mjs";
import { runClientScenarios, runLoginScenarios, runServerScenarios } from "./conformance/suite.mjs";
import { runAsAuthorizationServer } from "./conformance/team-issuer.mjs";

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
// The oldest one has servers that are their own authorization servers.
const loginRevisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
// [scenarios, checks] of the suite's scenarios for authorization servers; nothing stands before the gateway here.
const expectedLogins = { "2025-11-25": [2, 3], "2026-07-28": [2, 3] };

const usage = `usage: node scripts/conformance.mjs [options]

  --direct-only        only the reference server itself, without the gateway
  --client-scenarios   the suite's client scenarios (without authorization): the gateway is the client
  --login-scenarios    the suite's client scenarios about authorization: the gateway logs in at a server
  --authorization      only the suite's scenarios for authorization servers: people log in to the gateway
  --revision DATE      only this protocol revision; may be repeated
  --gateway FILE       the gateway's command (default: dist/cli/main.js)
  --all                a table of every scenario, not only the summary
  --help

Results are written to .cache/conformance/results-*.json. Exit code 1 if a scenario or a check is lost.
`;

const kinds = {
  server: { known: Object.keys(expectedDirect), run: (revision) => runAsServer(revision) },
  client: { known: clientRevisions, run: (revision) => runDriver(revision, "client-driver.mjs", runClientScenarios) },
  login: { known: loginRevisions, run: (revision) => runDriver(revision, "auth-driver.mjs", runLoginScenarios) },
};

const { values: flags } = parseArgs({
  options: {
    "direct-only": { type: "boolean", default: false },
    "client-scenarios": { type: "boolean", default: false },
    "login-scenarios": { type: "boolean", default: false },
    authorization: { type: "boolean", default: false },
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
  if (flags.authorization) return await checkAuthorization();
  const kind = flags["client-scenarios"] ? "client" : flags["login-scenarios"] ? "login" : "server";
  const { known, run } = kinds[kind];
  const runs = [];
  for (const revision of flags.revision ?? known) {
    process.stderr.write(`${kind} scenarios of ${revision}\n`);
    runs.push(await run(revision));
  }
  await writeResults(kind, runs);
  const code = report(kind, runs);
  const isWhole = kind === "server" && flags.revision === undefined && !flags["direct-only"];
  return isWhole ? Math.max(code, await checkAuthorization()) : code;
}

/** The gateway as an authorization server: everything has to pass, because nothing is in front of it. */
async function checkAuthorization() {
  const runs = [];
  for (const revision of Object.keys(expectedLogins)) {
    process.stderr.write(`authorization server scenarios of ${revision}\n`);
    runs.push({ revision, direct: await runAsAuthorizationServer(flags.gateway, revision) });
  }
  await writeResults("authorization", runs);
  const short = runs.filter(({ revision, direct }) => isShort(expectedLogins[revision], direct));
  process.stdout.write(`${scenarioTable(runs)}\n`);
  for (const { direct } of short)
    for (const { checks } of direct)
      for (const { id, status, message } of checks)
        if (status !== "SUCCESS") process.stdout.write(`${id}: ${status}: ${message}\n`);
  return short.length === 0 ? 0 : 1;
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

async function runDriver(revision, file, runScenarios) {
  const driver = `"${process.execPath}" scripts/conformance/${file}`;
  const direct = await runScenarios(revision, driver);
  if (flags["direct-only"]) return { revision, direct };
  return { revision, direct, gateway: await runScenarios(revision, `${driver} --gateway "${flags.gateway}"`) };
}

async function writeResults(kind, runs) {
  const directory = join(cacheDir, "conformance");
  await mkdir(directory, { recursive: true });
  for (const run of runs) {
    await writeFile(join(directory, `results-${kind}-${run.revision}.json`), `${JSON.stringify(run, null, 2)}\n`);
  }
}

function report(kind, runs) {
  const find = kind === "login" ? findFailures : findLosses;
  const losses = runs.flatMap(({ revision, direct, gateway }) =>
    gateway === undefined ? [] : find(direct, gateway).map((loss) => ({ revision, ...loss })),
  );
  const short =
    kind === "server"
      ? runs.filter(({ revision, direct }) => isShort(expectedDirect[revision], direct)).map(({ revision }) => revision)
      : [];
  const parts = [
    summaryTable(runs, find),
    ...(flags.all ? [kind === "login" ? revisionTable(runs) : scenarioTable(runs)] : []),
    ...(losses.length > 0 ? [lossTable(losses)] : []),
    ...short.map((revision) => `The reference server itself passes too little of ${revision}.`),
  ];
  process.stdout.write(`${parts.join("\n\n")}\n`);
  return losses.length > 0 || short.length > 0 ? 1 : 0;
}

function isShort([scenarios, checks], direct) {
  const passed = countPassed(direct);
  return passed.scenarios < scenarios || passed.checks < checks;
}

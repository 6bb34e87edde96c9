// Runs the official suite (@modelcontextprotocol/conformance) and reads the files that it writes.

import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNewerNode } from "../node24.mjs";
import { cachedPackage, projectDir } from "./cached-package.mjs";

// The one release with both eras; no dist-tag points at it.
const suitePackage = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const suiteEntry = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
// A scenario takes three seconds, and the suite itself gives up a client after thirty.
const scenarioLimitMs = 120_000;
// Each has a server and a gateway of its own, and mostly waits for the other side.
const scenariosAtOnce = 2;

/**
 * @typedef {{ id: string, status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED", message: string }} Check
 * @typedef {{ name: string, checks: Check[] }} Scenario
 */

/**
 * @param {string} revision
 * @param {string} url the server under test
 * @returns {Promise<Scenario[]>}
 */
export async function runServerScenarios(revision, url) {
  const args = ["server", "--url", url, "--suite", "all", "--spec-version", revision];
  const scenarios = await collect((outputDir) => runSuite([...args, "--output-dir", outputDir]));
  // The suite puts this word before the folders of these scenarios, many of which start with it anyway.
  return scenarios.map(({ name, checks }) => ({ name: name.replace(/^server-/, ""), checks }));
}

/**
 * The client scenarios of a revision, without those about authorization. Two at a time: the suite itself would run
 * all of them at once, each with a gateway.
 * @param {string} revision
 * @param {string} command is started with the URL of the suite's own server as its last argument
 * @returns {Promise<Scenario[]>}
 */
export async function runClientScenarios(revision, command) {
  const names = await listClientScenarios(revision);
  return await runEach(
    revision,
    command,
    names.filter((name) => !name.startsWith("auth/")),
  );
}

/**
 * The client scenarios of a revision that are about authorization.
 * @param {string} revision
 * @param {string} command as above
 * @returns {Promise<Scenario[]>}
 */
export async function runLoginScenarios(revision, command) {
  const names = await listClientScenarios(revision);
  return await runEach(
    revision,
    command,
    names.filter((name) => name.startsWith("auth/")),
  );
}

async function runEach(revision, command, names) {
  const found = new Map();
  const waiting = [...names];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      found.set(name, await runClient(revision, command, name));
  };
  await Promise.all(Array.from({ length: scenariosAtOnce }, work));
  return names.flatMap((name) => found.get(name));
}

/** One that does not end, or ends without results, has failed: the others are run all the same. */
async function runClient(revision, command, scenario) {
  const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
  try {
    return await collect((outputDir) => runSuite([...args, "--output-dir", outputDir]));
  } catch (error) {
    const name = scenario.replace(/^auth\//, "");
    return [{ name, checks: [{ id: name, status: "FAILURE", message: error.message }] }];
  }
}

async function listClientScenarios(revision) {
  const { stdout } = await runSuite(["list", "--client", "--spec-version", revision]);
  return [...stdout.matchAll(/^ +- (\S+)/gm)].map(([, name]) => name);
}

/**
 * The scenarios for an authorization server. `visit` brings a person to the address at which the suite waits.
 * @param {string} revision
 * @param {{ issuer: string, clientId: string, port: number, visit: (url: string) => Promise<unknown> }} options
 * @returns {Promise<Scenario[]>}
 */
export async function runServerLogins(revision, { issuer, clientId, port, visit }) {
  const args = ["authorization", "--url", issuer, "--client-id", clientId, "--resource", `${issuer}/mcp`];
  return await collect((outputDir) =>
    runSuite([...args, "--port", String(port), "--spec-version", revision, "--output-dir", outputDir], visit),
  );
}

/** @param {(url: string) => Promise<unknown>} [visit] is called with an address that a person is asked to open */
async function runSuite(args, visit) {
  const node = await findNewerNode();
  const entry = await cachedPackage("conformance", suitePackage, suiteEntry);
  const child = spawn(node, [entry, ...args], {
    cwd: projectDir,
    stdio: ["ignore", "pipe", "pipe"],
    ...(args[0] === "client" && { timeout: scenarioLimitMs, killSignal: "SIGKILL" }),
  });
  const output = { stdout: "", stderr: "" };
  let isAsked = false;
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    output.stdout += chunk;
    const address = /^(http\S+\/oauth\/authorize\S+)\n/m.exec(output.stdout)?.[1];
    if (isAsked || visit === undefined || address === undefined) return;
    isAsked = true;
    visit(address).catch((error) => {
      output.stderr += error.stack;
      child.kill();
    });
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => (output.stderr += chunk));
  // A failed check is exit code 1 too: what counts is what was written. Only a suite that died says nothing.
  const ending = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(signal ?? code));
  });
  if (ending !== 0 && ending !== 1) throw new Error(`the suite ended with ${ending}\n${output.stderr.slice(-4_000)}`);
  return output;
}

async function collect(run) {
  const outputDir = await mkdtemp(join(tmpdir(), "toolyard-conformance-results-"));
  try {
    const { stdout, stderr } = await run(outputDir);
    const folders = await readdir(outputDir, { recursive: true, withFileTypes: true });
    const scenarios = await Promise.all(
      folders.filter(isResultFolder).map((folder) => readScenario(join(folder.parentPath, folder.name), folder.name)),
    );
    if (scenarios.length === 0) throw new Error(`the suite wrote no results\n${stdout}\n${stderr}`);
    return scenarios.sort((a, b) => a.name.localeCompare(b.name));
  } finally {
    await rm(outputDir, { recursive: true, force: true });
  }
}

const timestamp = /-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z$/;
const isResultFolder = (entry) => entry.isDirectory() && timestamp.test(entry.name);

async function readScenario(folder, folderName) {
  const name = folderName.replace(timestamp, "");
  const file = await readFile(join(folder, "checks.json"), "utf8").catch(() => undefined);
  // The suite makes the folder first: one without checks is a scenario that threw.
  if (file === undefined)
    return {
      name,
      checks: [{ id: name, status: "FAILURE", message: "the scenario did not finish" }],
    };
  const checks = JSON.parse(file).map(({ id, status, errorMessage, description }) => ({
    id,
    status,
    message: errorMessage ?? description ?? "",
  }));
  return { name, checks };
}

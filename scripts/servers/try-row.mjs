// One row of the tables tried, in a home folder of its own.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { installServer } from "./installed-server.mjs";
import { startServer } from "./listening-server.mjs";
import { tryServer } from "./server-trial.mjs";

/**
 * A row of docs/servers.json.
 * @typedef {object} TriedServer
 * @property {string} name the package, or the stand-in
 * @property {string | null} version null for a stand-in
 * @property {string} sdk
 * @property {"stdio" | "HTTP"} transport
 * @property {string} tool that was called
 * @property {string | null} notStarted why it cannot be used directly either
 * @property {Record<string, number>} offers
 * @property {string[]} differences
 * @property {string} date
 */

/**
 * @param {import("./server-rows.mjs").ServerRow} row
 * @param {{ isInstalled?: boolean }} [options]
 * @returns {Promise<TriedServer>}
 */
export async function tryPackage(row, options) {
  return await inHome(async (home) => {
    const filled = JSON.parse(JSON.stringify(row).replaceAll("{home}", home));
    const { package: name, version, call, capabilities } = row;
    const told = { name, version, transport: "stdio", tool: call[0] };
    try {
      const { command, args, sdk } = await installServer(filled, options);
      const target = { command, args, env: { ...filled.env, HOME: home }, cwd: home };
      const directory = join(home, "gateway");
      const { volatile } = row;
      const trial = await tryServer({ target, call: filled.call, volatile, capabilities, directory });
      return { ...told, sdk, ...trial, ...today() };
    } catch (error) {
      const notStarted = `it is not installed: ${error.message}`;
      return { ...told, sdk: "", notStarted, offers: {}, differences: [], ...today() };
    }
  });
}

/**
 * @param {import("./stand-in-rows.mjs").StandIn} row
 * @returns {Promise<TriedServer>}
 */
export async function tryStandIn({ name, follows, transport, args, call }) {
  return await inHome(async (home) => {
    const directory = join(home, "gateway");
    const told = { name, version: null, sdk: follows, transport, tool: call[0], ...today() };
    if (transport === "stdio") {
      const target = { command: process.execPath, args, env: { HOME: home }, cwd: home };
      return { ...told, ...(await tryServer({ target, call, directory })) };
    }
    const server = await startServer(args);
    try {
      const { url, restart } = server;
      return { ...told, ...(await tryServer({ target: { url }, call, restart, directory })) };
    } finally {
      await server.stop();
    }
  });
}

const today = () => ({ date: new Date().toISOString().slice(0, 10) });

async function inHome(work) {
  const home = await mkdtemp(join(tmpdir(), "toolyard-servers-"));
  try {
    await fill(home);
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** What the servers are asked about. */
async function fill(home) {
  await mkdir(join(home, "files"));
  await mkdir(join(home, "repository"));
  await writeFile(join(home, "files/notes.txt"), "one\ntwo\n");
  await writeFile(join(home, "kubeconfig"), kubeconfig);
  await promisify(execFile)("git", ["init", "--quiet", join(home, "repository")]);
}

/** Of a cluster that is not there. */
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: "http://127.0.0.1:9" } }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
users: [{ name: none, user: { token: none } }]
current-context: none
`;

// The newest version of a client from npm, kept in .cache/ until there is a newer one.

import { execFile, spawn } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, cachedPackage } from "../conformance/cached-package.mjs";
import { findNewerNode } from "../node24.mjs";

// Starting takes seconds, the script a few requests; this only keeps a client that waits for a person from holding
// the run for ever.
const clientTimeoutMs = 120_000;

/**
 * @param {import("./client-rows.mjs").Client} client
 * @returns {Promise<{ version: string, command: string }>}
 */
export async function installNewest(client) {
  const { package: name } = client;
  const asked = await promisify(execFile)("npm", ["view", `${name}@latest`, "version"], {
    shell: process.platform === "win32",
  });
  return await installVersion(client, asked.stdout.trim());
}

/**
 * @param {import("./client-rows.mjs").Client} client
 * @param {string} version
 * @returns {Promise<{ version: string, command: string }>}
 */
export async function installVersion({ package: name, command }, version) {
  const folder = `client-${command}-${version}`;
  // By its number: for a range, npm would take the newest version that says it runs on this Node, not the newest
  // there is.
  const path = await cachedPackage(folder, `${name}@${version}`, join("node_modules", ".bin", command));
  await removeOlder(`client-${command}`, folder);
  return { version, command: path };
}

/** Hundreds of megabytes each, and most are updated every week. */
async function removeOlder(prefix, kept) {
  const old = (await readdir(cacheDir)).filter(
    (folder) => folder !== kept && (folder === prefix || folder.startsWith(`${prefix}-`)),
  );
  for (const folder of old) await rm(join(cacheDir, folder), { recursive: true, force: true });
}

/**
 * Runs the client until it ends, or has taken too long. Nothing of this process's own environment reaches it but PATH.
 * @returns {Promise<string>} the end of what it printed
 */
export async function runClient(command, { args, env, cwd, onOutput }) {
  const node = await findNewerNode();
  const child = spawn(command, args, {
    cwd,
    env: { ...env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, TERM: "dumb" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed = `${printed}${chunk}`.slice(-4_000);
      onOutput(chunk);
    });
  const stop = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself, with everything that it started.
    }
  };
  const deadline = setTimeout(stop, clientTimeoutMs);
  await new Promise((resolve) => {
    child.once("error", (error) => resolve((printed += error.message)));
    child.once("exit", resolve);
  });
  clearTimeout(deadline);
  stop();
  return printed;
}

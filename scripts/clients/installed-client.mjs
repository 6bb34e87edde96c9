// The newest version of a client from npm, kept in .cache/ until there is a newer one.

import { execFile, spawn } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, cachedPackage } from "../conformance/cached-package.mjs";
import { findNewerNode } from "../node24.mjs";

// Starting takes seconds, the script a few requests; this only keeps a client that waits for a person from holding
// the run for ever.
export const clientTimeoutMs = 120_000;

/**
 * @param {import("./client-rows.mjs").Client} client
 * @param {{ isInstalled?: boolean }} [options] with `isInstalled`, the version that is in .cache/, without a network
 * @returns {Promise<{ version: string, command: string }>}
 */
export async function installNewest(client, { isInstalled = false } = {}) {
  const { package: name, command } = client;
  if (isInstalled) {
    const prefix = `client-${command}-`;
    const folder = (await readdir(cacheDir)).find((entry) => /^\d[\w.-]*$/.test(after(entry, prefix)));
    if (folder === undefined) throw new Error(`${name} is not in .cache/`);
    return await installVersion(client, after(folder, prefix));
  }
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

const after = (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : "");

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
export async function runClient(command, { args, env, cwd, onOutput, timeoutMs = clientTimeoutMs }) {
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
  const deadline = setTimeout(stop, timeoutMs);
  await new Promise((resolve) => {
    child.once("error", (error) => resolve((printed += error.message)));
    child.once("exit", resolve);
  });
  clearTimeout(deadline);
  stop();
  return printed;
}

/**
 * Ends what clients left in the background for their next start. Such a process is known by its home.
 * @param {string} home of a run that has ended
 */
export async function stopDaemons(home) {
  if (process.platform !== "linux") return;
  for (const id of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    const variables = await readFile(join("/proc", id, "environ"), "utf8").catch(() => "");
    if (!variables.split("\0").includes(`HOME=${home}`)) continue;
    try {
      process.kill(Number(id), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

// Tells a client about the gateway as its user does: with `toolyard connect`.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectDir } from "../conformance/cached-package.mjs";

/**
 * @param {import("./client-rows.mjs").Client} client
 * @param {{ url: string, configFile: string, env: Record<string, string> }} options `url` as the command takes it,
 *   `env` as the client has it
 * @returns {Promise<{ token?: string }>} what the command said
 */
export async function connectClient({ id }, { url, configFile, env }) {
  const options = ["--url", url, "--config", configFile, "--yes", "--json"];
  const main = join(projectDir, "dist/cli/main.js");
  const { stdout } = await promisify(execFile)(process.execPath, [main, "connect", id, ...options], {
    env: { ...process.env, ...env },
    cwd: env.HOME,
  });
  return JSON.parse(stdout);
}

// A gateway for a team, with one person in it who is logged in.

import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectDir } from "../conformance/cached-package.mjs";
import { startListening } from "../conformance/listening.mjs";
import { createPerson } from "./person.mjs";

const password = "correct horse battery";

/**
 * @param {{ directory: string, entry?: string, servers: Record<string, unknown>, settings?: object }} options
 *   `directory` is empty, `entry` the built command
 */
export async function startTeamGateway({
  directory,
  entry = join(projectDir, "dist/cli/main.js"),
  servers,
  settings = {},
}) {
  await mkdir(directory, { recursive: true });
  const configFile = join(directory, "toolyard.json");
  await writeFile(configFile, JSON.stringify({ mcpServers: servers, toolyard: settings }));
  const places = ["--config", configFile, "--data-dir", join(directory, "data")];
  const start = (port) => startListening([entry, "serve", "--team", ...places, "--port", port]);
  let gateway = await start("0");

  /** A command of its owner. */
  async function ask(...words) {
    const { stdout } = await promisify(execFile)(process.execPath, [entry, ...words, ...places, "--json"]);
    return JSON.parse(stdout);
  }

  await ask("user", "add", "ann", "--admin", "--team", "red");
  const { link } = await ask("user", "link", "ann");
  const person = createPerson();
  const page = await person.open(`${gateway.url}/setup`);
  const done = await person.submit(page, { code: link.split("#")[1], password, again: password });
  if (!done.text.includes("You are <strong>ann</strong>")) throw new Error(`ann is not logged in: ${done.text}`);

  return {
    configFile,
    person,
    ask,
    url: gateway.url,
    stop: () => gateway.stop(),
    /** On the same port, so that what clients know of it stays true. */
    async restart() {
      await gateway.stop();
      gateway = await start(new URL(gateway.url).port);
    },
    /** The person takes back what they allowed last. */
    async disconnectNewest() {
      const account = await person.open(`${gateway.url}/account`);
      const [, id] = [...account.text.matchAll(/name="id" value="(g_[a-z0-9]+)"/g)].at(-1) ?? [];
      await person.submit(account, {}, `value="${id}"`);
    },
  };
}

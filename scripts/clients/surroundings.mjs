// What a client has around it in a run: a gateway with two servers behind it, and a crowd of three servers beside it,
// with a hundred tools as people wrote them.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { projectDir } from "../conformance/cached-package.mjs";
import { startListening } from "../conformance/listening.mjs";
import { startRecordingProxy } from "./recording-proxy.mjs";

const badServer = join(projectDir, "test/servers/bad-server.mjs");
/** As one that waits for ten minutes has to be configured: a call without a word is given up after five otherwise. */
const silentCallMs = 1_200_000;

/** The definitions of which packages each of them has. The last one is reached over HTTP. */
const crowd = { "chrome-devtools": ["chrome-devtools"], workspace: ["git", "filesystem"], github: ["github"] };

export const note = { path: "kettle.md", text: "The kettle is on the third shelf, behind the oats." };
/** A text that a model has no room for. Each line says which it is. */
export const log = { path: "server.log", lines: 900, lineLength: 100 };

/**
 * @param {{ directory: string, profiles?: object }} options `directory` does not exist yet; `profiles` are those of the
 *   gateway's configuration
 * @returns {Promise<{ front: Awaited<ReturnType<typeof startRecordingProxy>>, configFile: string,
 *   servers: Record<string, import("./client-rows.mjs").Server>, close: () => Promise<void> }>}
 */
export async function startSurroundings({ directory, profiles = {} }) {
  const closers = [];
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const notes = join(directory, "notes");
    await mkdir(notes, { recursive: true });
    await writeFile(join(notes, note.path), `${note.text}\n`);
    await writeFile(join(notes, log.path), logText());
    const configFile = join(directory, "toolyard.json");
    await writeFile(configFile, JSON.stringify({ mcpServers: behind(notes), toolyard: { clients: profiles } }));
    const places = ["--config", configFile, "--data-dir", join(directory, "data")];
    const entry = join(projectDir, "dist/cli/main.js");
    const gateway = await startListening([entry, "serve", ...places, "--port", "0"]);
    closers.push(gateway.stop);
    const front = await startRecordingProxy(gateway.url);
    closers.push(front.close);
    const servers = await startCrowd(directory, closers);
    return { front, configFile, servers, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A real server with files, and one that asks, waits, and has resources. */
function behind(notes) {
  const require = createRequire(import.meta.url);
  const filesystem = require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
  const [command, callTimeoutMs] = [process.execPath, silentCallMs];
  return {
    files: { command, args: [filesystem, notes], cwd: notes },
    bad: { command, args: [badServer, "--resources"], callTimeoutMs },
  };
}

/** @returns {Promise<Record<string, import("./client-rows.mjs").Server>>} */
async function startCrowd(directory, closers) {
  const { tools } = JSON.parse(await readFile(join(projectDir, "test/servers/public-tools.json"), "utf8"));
  const servers = {};
  const names = Object.keys(crowd);
  for (const name of names) {
    const file = join(directory, `${name}.json`);
    const own = tools.filter(({ server }) => crowd[name].includes(server));
    await writeFile(
      file,
      JSON.stringify(own.map(({ id: _id, server: _server, serverTitle: _title, ...tool }) => tool)),
    );
    const args = [badServer, "--behaviours", "none", "--server-name", name, "--tools-json", file];
    if (name !== names.at(-1)) servers[name] = { command: process.execPath, args };
    else {
      const listening = await startListening([...args, "--http"]);
      closers.push(listening.stop);
      servers[name] = { url: listening.url };
    }
  }
  return servers;
}

function logText() {
  const words = "the nightly job copied what had changed since the day before, and found nothing that it had to mend";
  const lines = Array.from({ length: log.lines }, (_, index) =>
    `line ${String(index + 1).padStart(4, "0")}: ${words}`.slice(0, log.lineLength - 1).padEnd(log.lineLength - 1, "."),
  );
  return `${lines.join("\n")}\n`;
}

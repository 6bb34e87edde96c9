// A gateway that shows one server transparently, with a configuration and a data directory of its own.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startListening } from "./listening.mjs";

const readyLimit = { attempts: 100, pauseMs: 100 };

/**
 * @param {string} entry the built command, normally dist/cli/main.js
 * @param {string} upstreamUrl the one server behind it
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} url is that of its MCP endpoint
 */
export async function startGateway(entry, upstreamUrl) {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-conformance-"));
  const removeDirectory = () => rm(directory, { recursive: true, force: true });
  const configFile = join(directory, "config.json");
  await writeFile(configFile, JSON.stringify(configuration(upstreamUrl)));
  try {
    const dataDir = join(directory, "data");
    const gateway = await startListening([
      entry,
      "serve",
      "--config",
      configFile,
      "--port",
      "0",
      "--data-dir",
      dataDir,
    ]);
    await waitUntilReady(gateway.url);
    const stop = async () => {
      await gateway.stop();
      await removeDirectory();
    };
    return { url: new URL("/mcp", gateway.url).href, stop };
  } catch (error) {
    await removeDirectory();
    throw error;
  }
}

// Scenarios ask for the client's roots, which only an instance of its own gets.
const configuration = (url) => ({
  mcpServers: { reference: { type: "http", url, scope: "client" } },
  toolyard: { transparent: "reference" },
});

/** Gives up quietly: the suite then reports whatever a gateway that is not ready answers. */
async function waitUntilReady(url) {
  for (let attempt = 0; attempt < readyLimit.attempts; attempt += 1) {
    const response = await fetch(new URL("/readyz", url)).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok || response?.status === 404) return;
    await delay(readyLimit.pauseMs);
  }
}

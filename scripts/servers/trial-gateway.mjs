// A gateway with one server behind it, whose idle processes are stopped after seconds.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { projectDir } from "../conformance/cached-package.mjs";
import { startListening } from "../conformance/listening.mjs";

// A process that is stopped earlier than at the step that waits for it is only started once more.
const idleTimeoutMs = 1_000;
const waitLimit = { attempts: 400, pauseMs: 100 };

/**
 * @param {{ directory: string, slug: string, entry: object }} options directory is for its files, entry that of the
 *   configuration
 */
export async function startTrialGateway({ directory, slug, entry }) {
  const config = {
    mcpServers: { [slug]: { ...entry, idleTimeoutMs } },
    toolyard: { instances: { idleGraceMs: 0, idleCheckMs: 200, restartDelaysMs: [100, 100, 100] } },
  };
  const file = join(directory, "toolyard.json");
  await writeFile(file, JSON.stringify(config));
  const main = join(projectDir, "dist/cli/main.js");
  const dataDir = join(directory, "data");
  const { url, stop } = await startListening([main, "serve", "--config", file, "--port", "0", "--data-dir", dataDir]);

  async function ask(path, body) {
    const asked = body === undefined ? {} : { method: "POST", headers: json, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, asked);
    return await response.json();
  }

  /** Waits until the server is as asked, or will not be; resolves to what the gateway says of it. */
  async function until(isSo) {
    let server;
    for (let attempt = 0; attempt < waitLimit.attempts; attempt += 1) {
      ({
        servers: [server],
      } = await ask("/api/servers"));
      if (isSo(server) || givenUp.has(server.status)) break;
      await delay(waitLimit.pauseMs);
    }
    return server;
  }

  return {
    url,
    stop,
    ask,
    untilOnline: () => until(({ status }) => status === "online"),
    untilDormant: () => until(({ dormant }) => dormant),
    restart: () => ask(`/api/instances/${slug}/restart`, {}),
  };
}

const json = { "content-type": "application/json" };
const givenUp = new Set([
  "error",
  "offline",
  "permanently_failed",
  "requires_reauth",
  "awaiting_user_config",
  "disabled",
]);

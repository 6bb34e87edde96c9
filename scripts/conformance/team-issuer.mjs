// The suite's scenarios for authorization servers against a gateway for teams: a person who is logged in agrees.

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTeamGateway } from "../clients/team-gateway.mjs";
import { runServerLogins } from "./suite.mjs";

/**
 * @param {string} entry the built command
 * @param {string} revision
 * @returns {Promise<import("./suite.mjs").Scenario[]>}
 */
export async function runAsAuthorizationServer(entry, revision) {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-issuer-"));
  const gateway = await startTeamGateway({ directory, entry, servers: {} });
  try {
    const port = await freePort();
    const answer = await fetch(`${gateway.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Suite", redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
    });
    const { client_id: clientId } = await answer.json();
    return await runServerLogins(revision, { issuer: gateway.url, clientId, port, visit: gateway.person.allow });
  } finally {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

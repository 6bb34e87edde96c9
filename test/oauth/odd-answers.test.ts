import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { run } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startTeamWorld } from "../people/team-world.ts";
import { runCommand } from "./login-command.ts";
import { browse } from "./odd-login.ts";
import { startOddServer, type OddAnswers } from "./odd-server.ts";
import { executeSoon } from "./world.ts";

/** What only looks for what it needs gets along with all of this. */
const odd: OddAnswers = {
  challenge: () => 'Bearer resource_metadata="/.well-known/oauth-protected-resource/mcp", scope=""',
  resource: (own) => ({ authorization_servers: `${own}/`, scopes_supported: null, jwks_uri: null }),
  metadata: () => ({ jwks_uri: "", service_documentation: null, scopes_supported: {}, response_types_supported: null }),
  registration: () => ({ client_id: "c", client_uri: "", client_secret: null, client_id_issued_at: "today" }),
  tokens: [
    { access_token: "t1", token_type: null, expires_in: "1", refresh_token: "r1", scope: ["read"] },
    "access_token=t2&scope=&expires_in=3600",
  ],
};

test("toolyard login, calls and renewals get along with authorization servers as they are", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-odd-"));
  try {
    await using server = await startOddServer(odd);
    const config = { mcpServers: { odd: { type: "http", url: server.url } } };
    await writeFile(join(directory, "toolyard.json"), JSON.stringify(config));
    const command = runCommand(directory, ["login", "odd"]);
    await browse(await command.address());
    expect([await command.ended, command.stdout()], command.stderr()).toEqual([0, "logged in to odd\n"]);
    await using gateway = await startGateway({ config, directory });
    await executeSoon(gateway.url, "odd:ping");
    await until(async () => {
      expect((await execute(gateway.url, "odd:ping")).isError).not.toBe(true);
      return server.asked.some(({ authorization }) => authorization === "Bearer t2");
    });
    const renewal = server.asked.findLast(({ path }) => path === "/token");
    expect(Object.fromEntries(new URLSearchParams(renewal?.body))).toMatchObject({
      ...{ grant_type: "refresh_token", refresh_token: "r1", client_id: "c", resource: server.url },
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("so do logins of people on the gateway's page", async () => {
  await using server = await startOddServer(odd);
  await using world = await startTeamWorld({
    port: await freePort(),
    servers: { odd: { type: "http", url: server.url, scope: "user" } },
  });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  const { token } = (await world.ask("user", "add", "bob", "--team", "red")).made;
  const bob = await world.logIn("bob");
  const page = await until(async () => {
    const { json } = await run(world.url, "odd:ping", {}, { authorization: `Bearer ${token}` });
    return /http\S+\/connect\/[^\s"]+/.exec(JSON.stringify(json))?.[0];
  });
  const shown = await bob.submit(await bob.open(page), {}, 'value="login"');
  const address = /<a class="button" rel="noreferrer" href="([^"]+)"/.exec(shown.text)?.[1]?.replaceAll("&#38;", "&");
  const { headers } = await fetch(address ?? "", { redirect: "manual" });
  expect((await bob.open(headers.get("location") ?? "")).text).toContain("You are logged in.");
  await until(async () => (await run(world.url, "odd:ping", {}, { authorization: `Bearer ${token}` })).status === 200);
});

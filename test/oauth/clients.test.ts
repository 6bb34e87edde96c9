import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { clickThrough } from "./browser.ts";
import { runCommand } from "./login-command.ts";
import { createWorld, discover, executeSoon } from "./world.ts";

test("a client that the user registered: its secret proves it at login and at refresh", async () => {
  const client = {
    client_id: "mine",
    client_secret: "canary-secret-of-the-client",
    application_type: "native",
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "client_secret_basic",
  };
  await using world = await createWorld({ clients: [client] });
  await world.logIn({ TOOLYARD_CLIENT_SECRET: client.client_secret }, ["--client-id", "mine"]);
  await using gateway = await world.gateway();
  await executeSoon(gateway.url, "vault:headers");
  await world.authorization.revoke((await world.kept()).tokens.access);
  await executeSoon(gateway.url, "vault:headers");
  expect(world.authorization.grants).toEqual(["authorization_code", "refresh_token"]);
  expect(world.authorization.registrations).toBe(0);
});

test("a client ID metadata document goes before dynamic registration", async () => {
  // The authorization server uses it, and Node 20 does not have it yet.
  // oxlint-disable-next-line typescript/unbound-method -- only asked whether it is there
  URL.parse ??= (text: string | URL, base?: string | URL) =>
    URL.canParse(String(text), base?.toString()) ? new URL(text, base) : null;
  const id = "https://toolyard.example/client.json";
  await using world = await createWorld({
    clientDocument: (url) => ({
      client_id: url,
      client_name: "Toolyard",
      application_type: "native",
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    }),
  });
  await world.logIn({}, ["--client-metadata-url", id]);
  expect((await world.kept()).client).toMatchObject({ id, auth: "none" });
  expect(world.authorization.registrations).toBe(0);
});

test("a tool that wants more scopes says how to get them, and the others go on", async () => {
  let wantsMore = false;
  await using world = await createWorld({
    intercept(_request, response, rpc) {
      if (!wantsMore || rpc !== "tools/call") return false;
      response.writeHead(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="mcp:admin"' }).end();
      return true;
    },
  });
  await world.logIn();
  await using gateway = await world.gateway();
  await executeSoon(gateway.url, "vault:headers");
  wantsMore = true;
  const refused = await execute(gateway.url, "vault:headers");
  expect(JSON.parse(refused.content[0].text)).toMatchObject({
    code: "SERVER_NEEDS_LOGIN",
    hint: 'Run `toolyard login vault --scope "mcp:admin"`.',
  });
  expect((await discover(gateway.url, "headers")).tools[0]).toMatchObject({ tool_path: "vault:headers" });

  await world.logIn({}, ["--scope", "mcp:admin"]);
  expect(new Set((await world.kept()).scope?.split(" "))).toEqual(new Set(["mcp:use", "mcp:admin"]));
});

test("the browser gets the address as one argument, and no shell ever sees it", async () => {
  await using world = await createWorld();
  const bin = join(world.directory, "bin");
  const seen = join(world.directory, "seen");
  await mkdir(bin);
  await writeFile(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$#" "$1" >> '${seen}'\n`);
  await chmod(join(bin, "xdg-open"), 0o755);
  const command = runCommand(world.directory, ["login", "vault"], { PATH: `${bin}:${process.env["PATH"]}` }, true);
  const address = await command.address();
  await until(async () => (await readFile(seen, "utf8").catch(() => "")).includes("\n"));
  expect(await readFile(seen, "utf8")).toBe(`1\n${address}\n`);
  await clickThrough(address);
  expect(await command.ended).toBe(0);
});

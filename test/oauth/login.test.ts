import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { closeServer } from "./authorization-server.ts";
import { clickThrough } from "./browser.ts";
import { runCommand } from "./login-command.ts";
import { contentOf, createWorld, executeSoon, untilLoginIsWanted } from "./world.ts";

test("a running gateway says which command cures requires_reauth, and uses the login as soon as it is there", async () => {
  await using world = await createWorld();
  await using gateway = await world.gateway();
  expect(await untilLoginIsWanted(gateway.url)).toMatchObject({
    server: "vault",
    action: expect.stringContaining("toolyard login vault"),
  });
  const refused = await execute(gateway.url, "vault:headers");
  expect(refused.isError).toBe(true);
  expect(JSON.parse(refused.content[0].text)).toMatchObject({
    code: "SERVER_NEEDS_LOGIN",
    hint: expect.stringContaining("toolyard login vault"),
  });

  await world.logIn();

  expect((await executeSoon(gateway.url, "vault:headers")).content[0].text).toContain("authorization");
  expect(world.authorization.grants).toEqual(["authorization_code"]);
  expect(world.authorization.registrations).toBe(1);
});

test("a login outlives the gateway, and goes to the server that it was made for only", async () => {
  await using world = await createWorld();
  await world.logIn();
  {
    await using gateway = await world.gateway();
    await executeSoon(gateway.url, "vault:headers");
  }
  await using other = await createWorld({ accepts: async () => true });
  await using gateway = await world.gateway({
    config: { mcpServers: { vault: { type: "http", url: other.server.url } } },
  });
  await untilLoginIsWanted(gateway.url);
  expect(other.server.seen.length).toBeGreaterThan(0);
  expect(other.server.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test("FAULT 103: a server gets its own token, never the client's, and no other host gets any by a redirect", async () => {
  const trapped: string[] = [];
  const trap = createServer((request, response) => {
    trapped.push(`${request.url} ${request.headers.authorization ?? ""}`);
    response.end();
  });
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  let redirects = false;
  await using world = await createWorld({
    intercept(_request, response, rpcMethod) {
      if (!redirects || rpcMethod !== "tools/call") return false;
      response.writeHead(307, { location: `http://127.0.0.1:${(trap.address() as AddressInfo).port}/mcp` }).end();
      return true;
    },
  });
  await world.logIn();
  const mine = createToken();
  const headers = { authorization: `Bearer ${mine.token}` };
  await using gateway = await world.gateway({
    config: {
      mcpServers: { vault: { type: "http", url: world.server.url } },
      toolyard: { auth: { tokenHashes: [mine.hash] } },
    },
  });
  const call = async () =>
    (
      await rpc(
        `${gateway.url}/mcp`,
        "tools/call",
        { name: "execute_mcp_tool", arguments: { tool_path: "vault:headers", arguments: {} } },
        headers,
      )
    ).json.result;
  await until(async () => (await call()).isError !== true);
  redirects = true;
  expect((await call()).isError).toBe(true);

  const { tokens } = await world.kept();
  const sent = new Set(world.server.seen.map((request) => request.headers.authorization));
  expect(sent).toEqual(new Set([undefined, `Bearer ${tokens.access}`]));
  expect(world.server.seen.some((request) => JSON.stringify(request.headers).includes(mine.token))).toBe(false);
  expect(trapped).toEqual([]);
  await closeServer(trap);
});

test("everybody has a login of their own at a server of scope user", async () => {
  await using world = await createWorld();
  const alice = createToken();
  const bob = createToken();
  const principals = { alice: { tokenHash: alice.hash }, bob: { tokenHash: bob.hash } };
  const config = {
    mcpServers: { vault: { type: "http", url: world.server.url, scope: "user" } },
    toolyard: { principals },
  };
  await using gateway = await world.gateway({ config });
  const whose = runCommand(world.directory, ["login", "vault"]);
  expect(await whose.ended).toBe(2);
  expect(whose.stderr()).toContain("--principal alice | bob");
  await world.logIn({}, ["--principal", "alice"]);

  const call = async (token: string) =>
    (
      await rpc(
        `${gateway.url}/mcp`,
        "tools/call",
        { name: "execute_mcp_tool", arguments: { tool_path: "vault:headers", arguments: {} } },
        { authorization: `Bearer ${token}` },
      )
    ).json.result;
  await until(async () => (await call(alice.token)).isError !== true);
  const text = await until(async () => {
    const answer = await call(bob.token);
    return answer.content[0].text.includes("SERVER_NEEDS_LOGIN") ? answer.content[0].text : undefined;
  });
  expect(JSON.parse(text).hint).toContain("toolyard login vault");
});

test("no token, code or verifier in any output or file, with the log at its most talkative", async () => {
  await using world = await createWorld();
  let code = "";
  await using gateway = await world.gateway({ args: ["--log-level", "debug"] });
  const command = runCommand(world.directory, ["login", "vault"]);
  const page = await clickThrough(await command.address(), {
    atCallback: (callback) => void (code = callback.searchParams.get("code") ?? ""),
  });
  expect(await command.ended).toBe(0);
  await executeSoon(gateway.url, "vault:headers");
  const { tokens } = await world.kept();
  await world.authorization.revoke(tokens.access);
  await executeSoon(gateway.url, "vault:headers");
  const renewed = (await world.kept()).tokens;
  expect(renewed.access).not.toBe(tokens.access);

  const status = await rpc(`${gateway.url}/mcp`, "tools/call", {
    name: "discover_mcp_tools",
    arguments: { query: "" },
  });
  const everything = [
    gateway.stdout(),
    gateway.stderr(),
    command.stdout(),
    command.stderr(),
    page.text,
    status.text,
    await contentOf(world.directory),
  ].join("\n");
  expect(code).not.toBe("");
  for (const secret of [tokens.access, tokens.refresh, renewed.access, renewed.refresh, code]) {
    expect(secret).toBeTypeOf("string");
    expect(everything.includes(secret ?? "")).toBe(false);
  }
});

test("an answer with a wrong state is refused, and the right one is still taken", async () => {
  await using world = await createWorld();
  const command = runCommand(world.directory, ["login", "vault"]);
  let right: URL | undefined;
  const refused = await clickThrough(await command.address(), {
    atCallback(callback) {
      right ??= new URL(callback);
      const wrong = new URL(callback);
      wrong.searchParams.set("state", "x".repeat(43));
      return wrong;
    },
  });
  expect(refused.status).toBe(400);
  expect(world.authorization.grants).toEqual([]);
  expect((await clickThrough(right?.href ?? "")).status).toBe(200);
  expect(await command.ended).toBe(0);
});

test("an answer that another authorization server issued is not used and not shown", async () => {
  await using world = await createWorld();
  const command = runCommand(world.directory, ["login", "vault"]);
  await clickThrough(await command.address(), {
    atCallback(callback) {
      const mixed = new URL(callback);
      mixed.searchParams.set("iss", "https://evil.example");
      mixed.searchParams.set("error", "evil_text");
      return mixed;
    },
  });
  expect(await command.ended).toBe(1);
  expect(command.stderr()).toContain("came from another authorization server");
  expect(command.stderr()).not.toContain("evil_text");
  expect(world.authorization.grants).toEqual([]);
});

test("an answer that names no issuer is refused where the authorization server always names one", async () => {
  await using world = await createWorld();
  const command = runCommand(world.directory, ["login", "vault"]);
  await clickThrough(await command.address(), {
    atCallback(callback) {
      const bare = new URL(callback);
      bare.searchParams.delete("iss");
      return bare;
    },
  });
  expect(await command.ended).toBe(1);
  expect(world.authorization.grants).toEqual([]);
});

test("a person who says no is told so, and nothing is kept", async () => {
  await using world = await createWorld();
  const command = runCommand(world.directory, ["login", "vault"]);
  await clickThrough(await command.address(), {
    atCallback(callback) {
      const denied = new URL(callback);
      denied.searchParams.delete("code");
      denied.searchParams.set("error", "access_denied");
      return denied;
    },
  });
  expect(await command.ended).toBe(1);
  expect(command.stderr()).toContain("access_denied");
  await expect(world.kept()).rejects.toThrow("none");
});

test("a login that is interrupted ends at once, and nothing is kept", async () => {
  await using world = await createWorld();
  const command = runCommand(world.directory, ["login", "vault"]);
  await command.address();
  command.interrupt();
  expect(await command.ended).toBe(1);
  expect(command.stderr()).toContain("interrupted");
  await expect(world.kept()).rejects.toThrow("none");
});

test("logging out ends the login at once: here, in the running gateway, and at the authorization server", async () => {
  await using world = await createWorld();
  await world.logIn();
  await using gateway = await world.gateway();
  await executeSoon(gateway.url, "vault:headers");
  const { tokens } = await world.kept();
  const command = runCommand(world.directory, ["logout", "vault"]);
  expect(await command.ended).toBe(0);
  expect(command.stdout()).toBe("logged out of vault\n");
  expect(await world.authorization.audienceOf(tokens.access)).toBeUndefined();
  await until(async () => (await execute(gateway.url, "vault:headers")).isError === true);
  await untilLoginIsWanted(gateway.url);
});

test("the key file and the logins are for their owner only, and useless without the key", async () => {
  await using world = await createWorld();
  await world.logIn();
  const data = join(world.directory, "data");
  expect((await stat(join(data, "vault.key"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(data, "tokens"))).mode & 0o777).toBe(0o700);
  await writeFile(join(data, "vault.key"), `${Buffer.alloc(32, 7).toString("base64")}\n`);
  await using gateway = await world.gateway();
  expect((await untilLoginIsWanted(gateway.url)).reason).toContain("another key");
  await world.logIn();
  await executeSoon(gateway.url, "vault:headers");
});

test("with TOOLYARD_KEY there is no key file, and who does not have it has no login", async () => {
  await using world = await createWorld();
  const env = { TOOLYARD_KEY: "a passphrase of mine" };
  await world.logIn(env);
  await expect(stat(join(world.directory, "data", "vault.key"))).rejects.toThrow("ENOENT");
  {
    await using gateway = await world.gateway({ env });
    await executeSoon(gateway.url, "vault:headers");
  }
  await using gateway = await world.gateway();
  expect((await untilLoginIsWanted(gateway.url)).reason).toContain("TOOLYARD_KEY");
});

test.each([
  [["login"], "say which server"],
  [["login", "nobody"], "there is no server"],
  [["login", "local"], "needs no login"],
  [["login", "fixed"], "Authorization header in the configuration"],
  [["login", "vault", "--principal", "alice"], "shared by everybody"],
  [["login", "vault", "--callback-port", "x"], "--callback-port"],
  [["logout", "nobody"], "there is no server"],
])("%j is wrong usage", async (args, sentence) => {
  await using world = await createWorld();
  const mcpServers = {
    vault: { type: "http", url: world.server.url },
    fixed: { type: "http", url: world.server.url, headers: { Authorization: "Bearer configured" } },
    local: { command: "node" },
  };
  await writeFile(join(world.directory, "toolyard.json"), JSON.stringify({ mcpServers }));
  const command = runCommand(world.directory, args);
  expect(await command.ended).toBe(2);
  expect(command.stderr()).toContain(sentence);
  expect(world.server.seen).toEqual([]);
});

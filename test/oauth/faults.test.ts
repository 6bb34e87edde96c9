import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { createAddressRules } from "../../src/servers/logins/protocol/addresses.ts";
import { checkUrl } from "../../src/servers/logins/outgoing.ts";
import { execute } from "../harness/rpc.ts";
import { clickThrough } from "./browser.ts";
import { runCommand } from "./login-command.ts";
import { json } from "./mcp-server.ts";
import { createWorld, executeSoon, untilLoginIsWanted } from "./world.ts";

/** Addresses that the person was asked to open. */
function prompts(stderr: string): number {
  return [...stderr.matchAll(/open this address/g)].length;
}

test("FAULT 105: a server that answers 401 whatever it is shown: one browser prompt, and nothing is kept", async () => {
  await using world = await createWorld({ accepts: async () => false });
  const command = runCommand(world.directory, ["login", "vault"]);
  await clickThrough(await command.address());
  expect(await command.ended).toBe(1);
  expect(command.stderr()).toContain("refuses the token");
  expect(prompts(command.stderr())).toBe(1);
  await expect(world.kept()).rejects.toThrow("none");
});

test("FAULT 105: a server that takes a login no longer is asked a bounded number of times, and the authorization server once", async () => {
  let isOpen = true;
  await using world = await createWorld({
    accepts: async (token, resource) => isOpen && (await world.authorization.audienceOf(token)) === resource,
  });
  await world.logIn();
  await using gateway = await world.gateway({
    config: {
      mcpServers: { vault: { type: "http", url: world.server.url } },
      toolyard: { instances: { idleCheckMs: 100 } },
    },
  });
  await executeSoon(gateway.url, "vault:headers");
  isOpen = false;
  expect((await execute(gateway.url, "vault:headers")).isError).toBe(true);
  await untilLoginIsWanted(gateway.url);
  const refusals = () => world.server.seen.filter(({ status }) => status === 401).length;
  const before = refusals();
  for (let call = 0; call < 10; call += 1) expect((await execute(gateway.url, "vault:headers")).isError).toBe(true);
  expect(refusals()).toBe(before);
  expect(world.authorization.grants).toEqual(["authorization_code", "refresh_token"]);
});

const badMetadata: readonly (readonly [
  what: string,
  sentence: string,
  metadata: (response: ServerResponse, hits: number, origin: string) => void,
])[] = [
  ["10 MB of metadata", "more than 256 KB", (response) => response.end(Buffer.alloc(10 * 1024 * 1024, 32))],
  [
    "metadata that redirects for ever",
    "stopped after 3",
    (response, hits) => response.writeHead(302, { location: `/.well-known/oauth-protected-resource/${hits}` }).end(),
  ],
  [
    "a redirect to a file",
    "not http or https (file:)",
    (response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
  ],
  [
    "a redirect to a link-local address",
    "not encrypted",
    (response) => response.writeHead(302, { location: "http://169.254.169.254/latest/" }).end(),
  ],
  [
    "metadata of another resource",
    "for another resource",
    (response) =>
      json(response, 200, { resource: "https://other.example/mcp", authorization_servers: ["https://other.example"] }),
  ],
  ["metadata that is no JSON", "names no resource", (response) => response.end("<html>")],
  ["a failing metadata endpoint", "HTTP 500", (response) => response.writeHead(500).end()],
  [
    "an authorization server by gopher",
    "not http or https (gopher:)",
    (response, _hits, origin) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: ["gopher://127.0.0.1/"] }),
  ],
  [
    "an authorization server with a password",
    "user name or password",
    (response, _hits, origin) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: ["https://user:canary@example.com/"] }),
  ],
  [
    "an authorization server without encryption",
    "not encrypted",
    (response, _hits, origin) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: ["http://example.com/"] }),
  ],
  [
    "an authorization server at a cloud's metadata address",
    "not in the public Internet",
    (response, _hits, origin) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: ["https://169.254.169.254/"] }),
  ],
  [
    "an authorization server that is none",
    "publishes no metadata",
    (response, _hits, origin) => json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] }),
  ],
  ["no metadata at all", "metadata that is not there", (response) => response.writeHead(404).end()],
];

describe("FAULT 104, 105: metadata that leads astray ends the login before the browser", () => {
  test.each(badMetadata)("%s", async (_what, sentence, metadata) => {
    let hits = 0;
    await using world = await createWorld({
      metadata(response, request) {
        hits += 1;
        metadata(response, hits, `http://${request.headers.host}`);
      },
    });
    const command = runCommand(world.directory, ["login", "vault"]);
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toContain(sentence);
    expect(command.stderr()).not.toContain("canary");
    expect(prompts(command.stderr())).toBe(0);
    expect(hits).toBeLessThanOrEqual(4);
    await expect(world.kept()).rejects.toThrow("none");
  });

  test("a server without a challenge and without metadata is its own authorization server, or says that it wants no login", async () => {
    const bare = { intercept: (_request: unknown, response: ServerResponse) => (response.writeHead(401).end(), true) };
    await using world = await createWorld(bare);
    const command = runCommand(world.directory, ["login", "vault"]);
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toContain("publishes no metadata of an authorization server");

    const failing = (request: IncomingMessage, response: ServerResponse): boolean => {
      if (request.url === "/register") json(response, 503, { error: "temporarily_unavailable" });
      else response.writeHead(request.method === "POST" ? 401 : 404).end();
      return true;
    };
    await using busy = await createWorld({ intercept: failing });
    const refused = runCommand(busy.directory, ["login", "vault"]);
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain("does not register clients: temporarily_unavailable");
    expect(refused.stderr()).not.toContain("publishes no metadata");

    await using open = await createWorld({ intercept: (_request, response) => (json(response, 404, {}), true) });
    const other = runCommand(open.directory, ["login", "vault"]);
    expect(await other.ended).toBe(1);
    expect(other.stderr()).toContain("asks for no login");
  });
});

test.each([
  ["is that of another server", { issuer: "https://other.example" }, "that of another one"],
  ["names no PKCE", { code_challenge_methods_supported: undefined }, "does not support PKCE"],
  [
    "names a token endpoint elsewhere without encryption",
    { token_endpoint: "http://example.com/token" },
    "not encrypted",
  ],
  ["names an authorization endpoint that is no web page", { authorization_endpoint: "javascript:alert(1)" }, "login"],
  ["takes no registrations", { registration_endpoint: undefined }, "lets no client register itself"],
])("an authorization server whose metadata %s is not used", async (_what, change, sentence) => {
  await using world = await createWorld({ authorizationMetadata: (metadata) => ({ ...metadata, ...change }) });
  const command = runCommand(world.directory, ["login", "vault"]);
  expect(await command.ended).toBe(1);
  expect(command.stderr()).toContain(sentence);
  expect(prompts(command.stderr())).toBe(0);
  expect(world.authorization.registrations).toBe(0);
});

describe("FAULT 104: addresses", () => {
  const rules = createAddressRules("public");

  test.each([
    "169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "0x7f.1",
    "2130706433",
    "10.0.0.1",
    "192.168.1.1",
    "172.31.0.1",
    "100.64.0.1",
    "[::1]",
    "[fd00::1]",
    "[fe80::1]",
    "0.0.0.0",
    "[::]",
    "[64:ff9b::a9fe:a9fe]",
  ])("a server in the Internet cannot send a login to https://%s/", (host) => {
    expect(() => checkUrl(`https://${host}/`, rules, "https://mcp.example.com")).toThrow("not in the public Internet");
  });

  test.each(["localhost", "localhost."])("nor to the name %s, whatever it resolves to", async (host) => {
    const error = await new Promise((resolve) => rules.lookup(host, {}, resolve));
    // Where the resolver does not know the second spelling, that is as good.
    expect(error).toBeInstanceOf(Error);
  });

  test.each(["93.184.215.14", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]"])("but to https://%s/", (host) => {
    expect(checkUrl(`https://${host}/`, rules, "https://mcp.example.com").protocol).toBe("https:");
  });

  test("a server on this machine may, but not to a cloud's metadata service", () => {
    const local = createAddressRules("private");
    expect(checkUrl("http://127.0.0.1:9/", local, "http://127.0.0.1:8").port).toBe("9");
    expect(() => checkUrl("https://169.254.169.254/", local, "http://127.0.0.1:8")).toThrow(
      "not in the public Internet",
    );
  });
});

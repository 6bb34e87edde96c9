import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { closeServer } from "./authorization-server.ts";
import { createWorld, executeSoon } from "./world.ts";

test("MUST: a resource is asked for exactly as its server's metadata write it, without a slash at its end", async () => {
  const origin = (): string => new URL(world.server.url).origin;
  await using world = await createWorld({
    // The authorization server gives tokens for this text and no other.
    resource: () => origin(),
    accepts: async (token) => (await world.authorization.audienceOf(token)) === origin(),
    metadata(response) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ resource: origin(), authorization_servers: [world.authorization.issuer] }));
    },
  });
  await world.logIn();
  expect((await world.kept()).resource).toBe(origin());
  await using gateway = await world.gateway();
  expect((await executeSoon(gateway.url, "vault:headers")).content[0].text).toContain("authorization");
});

test("a server of revision 2025-03-26 that publishes nothing is logged in to at the places of that revision", async () => {
  const asked: string[] = [];
  const ports = { server: 0, authorization: 0 };
  const front = createServer((request, response) => {
    const path = request.url ?? "/";
    asked.push(path.split("?", 1)[0] ?? "");
    if (path.startsWith("/.well-known/")) return void response.writeHead(404).end();
    const port = path === "/mcp" ? ports.server : ports.authorization;
    // The provider has other names for two of the places.
    const inner = path.replace(/^\/register$/, "/reg").replace(/^\/authorize\?/, "/auth?");
    const options = { port, host: "127.0.0.1", path: inner, method: request.method, headers: request.headers };
    const forwarded = httpRequest(options, (answer) => {
      const { headers } = answer;
      if (headers["www-authenticate"] !== undefined) headers["www-authenticate"] = 'Bearer scope="mcp:use"';
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  const origin = await listen(front);
  try {
    await using world = await createWorld({
      publicOrigin: origin,
      publicUrl: `${origin}/mcp`,
      accepts: async () => world.authorization.grants.includes("authorization_code"),
    });
    Object.assign(ports, { server: world.server.port, authorization: world.authorization.port });
    await world.logIn();
    expect(await world.kept()).toMatchObject({ issuer: origin, tokenEndpoint: `${origin}/token` });
    expect((await world.kept()).resource).toBeUndefined();
    expect(asked.filter((path) => ["/register", "/authorize", "/token"].includes(path))).toEqual([
      "/register",
      "/authorize",
      "/token",
    ]);
    await using gateway = await world.gateway({
      config: { mcpServers: { vault: { type: "http", url: `${origin}/mcp` } } },
    });
    expect((await executeSoon(gateway.url, "vault:headers")).content[0].text).toContain("authorization");
  } finally {
    await closeServer(front);
  }
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

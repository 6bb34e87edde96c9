import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, untilOnline } from "../harness/rest.ts";
import { rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";

const alice = createToken();
const bearer = { authorization: `Bearer ${alice.token}` };
const mcpServers = { all: { ...badServer("--behaviours=canary"), scope: "shared" } };
const principals = { alice: { tokenHash: alice.hash, roles: ["admin"] } };

/**
 * A reverse proxy as people run one: takes its own path off, says how it was reached, and asks the gateway under the
 * gateway's own name.
 */
async function startProxy(target: string, said: Readonly<Record<string, string>>, prefix = ""): Promise<Server> {
  const { hostname, port } = new URL(target);
  const proxy = createServer((request, response) => {
    const url = request.url ?? "/";
    if (!url.startsWith(prefix)) return void response.writeHead(404).end("not mine");
    const headers = { ...request.headers, ...said, host: `${hostname}:${port}` };
    const onward = httpRequest(
      { hostname, port, method: request.method, path: url.slice(prefix.length) || "/", headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return proxy;
}

const addressOf = (proxy: Server): string => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

/** Every absolute URL that a gateway gives out, each as it begins. */
async function urlsOf(base: string): Promise<Record<string, unknown>> {
  const challenge = async (path: string): Promise<string> => {
    const { headers } = await rpc(`${base}${path}`, "tools/list");
    return /resource_metadata="([^"]*)"/.exec(headers["www-authenticate"] ?? "")?.[1] ?? "";
  };
  const page = await get(`${base}/`);
  const instance = (await get(`${base}/api/instances`, bearer)).json.instances[0];
  return {
    challenge: await challenge("/mcp/flat"),
    restChallenge: /resource_metadata="([^"]*)"/.exec(
      (await get(`${base}/api/servers`)).headers["www-authenticate"] ?? "",
    )?.[1],
    resource: (await get(`${base}/.well-known/oauth-protected-resource/mcp/flat`)).json.resource,
    openapi: (await get(`${base}/openapi.json`)).json.servers,
    documentation: (await get(`${base}/documentation/json`)).json.servers,
    frontPage: /claude mcp add --transport http toolyard (\S+)/.exec(page.text)?.[1],
    instance: instance.url,
    token: (await post(`${base}/api/instances/all/token`, {}, bearer)).json.url,
  };
}

function urlsAt(base: string): Record<string, unknown> {
  const wellKnown = `${base}/.well-known/oauth-protected-resource`;
  return {
    challenge: `${wellKnown}/mcp/flat`,
    restChallenge: wellKnown,
    resource: `${base}/mcp/flat`,
    openapi: [{ url: base }],
    documentation: [{ url: base }],
    frontPage: `${base}/mcp`,
    instance: `${base}/i/all/mcp`,
    token: `${base}/i/all/mcp`,
  };
}

describe("behind a reverse proxy", () => {
  let gateway: RunningGateway;
  const proxies: Server[] = [];
  const config = (over: object = {}): object => ({ mcpServers, toolyard: { principals, ...over } });
  const proxy = async (said: Readonly<Record<string, string>>, prefix = ""): Promise<string> => {
    const started = await startProxy(gateway.url, said, prefix);
    proxies.push(started);
    return addressOf(started);
  };
  const said = { "x-forwarded-proto": "https", "x-forwarded-host": "tools.example.com" };

  /** Writes the file anew and waits until the gateway tells another address than before. */
  async function configure(over: object, probe: (gatewayUrl: string) => Promise<boolean>): Promise<void> {
    await writeFile(gateway.configFile, JSON.stringify(config(over)));
    await until(async () => await probe(gateway.url));
  }

  beforeAll(async () => {
    gateway = await startGateway({ config: config() });
    await untilOnline(gateway.url, bearer);
  });
  afterEach(() => {
    for (const one of proxies.splice(0)) {
      one.closeAllConnections();
      one.close();
    }
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const resourceWith = async (url: string): Promise<string> =>
    (await get(`${url}/.well-known/oauth-protected-resource`, said)).json.resource;

  test("what a proxy says that nobody trusts is ignored: every URL is the gateway's own", async () => {
    const url = await proxy({ ...said, "x-forwarded-prefix": "/yard" });
    expect(await urlsOf(url)).toEqual(urlsAt(gateway.url));
    expect(await urlsOf(gateway.url)).toEqual(urlsAt(gateway.url));
  });

  test("a trusted proxy's word makes every URL, from the next request on", async () => {
    await configure({ trustedProxies: ["127.0.0.0/8"] }, async (url) => (await resourceWith(url)).startsWith("https:"));
    expect(await urlsOf(await proxy(said))).toEqual(urlsAt("https://tools.example.com"));
    // Without a proxy in between they are still the gateway's own.
    expect(await urlsOf(gateway.url)).toEqual(urlsAt(gateway.url));
  });

  test("below a path too: a client of HTTP+SSE is sent back through it", async () => {
    await configure({ trustedProxies: ["127.0.0.1"] }, async (url) => (await resourceWith(url)).startsWith("https:"));
    const base = await proxy({ ...said, "x-forwarded-prefix": "/yard" }, "/yard");
    expect(await urlsOf(`${base}/yard`)).toEqual(urlsAt("https://tools.example.com/yard"));
    const stream = await openSse(`${base}/yard/sse/flat`, bearer);
    expect(stream.announced).toMatch(/^\/yard\/sse\/flat\/messages\?/);
    await stream.initialize();
    expect((await stream.call(2, "tools/list")).result.tools).toHaveLength(1);
    stream.close();
  });

  test("publicUrl is stronger than all of it, and its host and its pages are the gateway's own", async () => {
    const refused = async (headers: Record<string, string>): Promise<RawAnswer> =>
      await send(`${gateway.url}/`, { method: "GET", headers });
    expect((await refused({ host: "yard.example" })).status).toBe(403);
    const publicUrl = "https://Yard.example:443/a/";
    await configure({ publicUrl, trustedProxies: ["127.0.0.1"] }, async (url) =>
      (await resourceWith(url)).includes("yard.example"),
    );
    expect(await urlsOf(await proxy(said))).toEqual(urlsAt("https://yard.example/a"));
    expect(await urlsOf(gateway.url)).toEqual(urlsAt("https://yard.example/a"));
    expect((await refused({ host: "yard.example" })).status).toBe(200);
    expect((await refused({ host: "127.0.0.1", origin: "https://yard.example" })).status).toBe(200);
    expect((await refused({ host: "127.0.0.1", origin: "https://other.example" })).status).toBe(403);
    expect((await refused({ host: "other.example" })).status).toBe(403);
  });
});

test("--public-url and TOOLYARD_PUBLIC_URL name the address, the flag before the variable; the line on stdout stays where it listens", async () => {
  await using gateway = await startGateway({
    config: { mcpServers },
    args: ["--public-url", "https://flag.example/yard"],
    env: { TOOLYARD_PUBLIC_URL: "https://variable.example" },
  });
  expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { json } = await get(`${gateway.url}/.well-known/oauth-protected-resource`);
  expect(json.resource).toBe("https://flag.example/yard/mcp");
});

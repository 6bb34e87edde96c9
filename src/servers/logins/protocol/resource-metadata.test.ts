import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createAddressRules } from "./addresses.ts";
import { createOutgoing, type Outgoing } from "../outgoing.ts";
import { fetchResourceMetadata, probe, type Challenge } from "./resource-metadata.ts";

const signal = new AbortController().signal;
const unnamed: Challenge = { status: 401, resourceMetadata: undefined, scope: undefined };
let close = (): void => undefined;
afterEach(() => close());

interface Place {
  readonly origin: string;
  readonly outgoing: Outgoing;
  readonly asked: string[];
}
/** A real server, and the way that logins reach it. */
async function serve(listener: (origin: string) => RequestListener): Promise<Place> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    listener(origin)(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const route = async () => await Promise.resolve(undefined);
  return { origin, asked, outgoing: createOutgoing(createAddressRules("private"), { serverUrl: origin, route }) };
}
async function challengeOf(header: string): Promise<Challenge> {
  const { origin, outgoing } = await serve(() => (_request, response) => {
    response.writeHead(401, header === "" ? {} : { "www-authenticate": header }).end();
  });
  try {
    return await probe(`${origin}/mcp`, {}, outgoing, signal);
  } finally {
    close();
  }
}

test.each([
  ["nothing, where there is none", "", undefined, undefined],
  ["nothing, where it has no parameters", "Bearer", undefined, undefined],
  ["nothing, where what it says is empty", 'Bearer resource_metadata="", scope=""', undefined, undefined],
  [
    "place and scope in quotation marks",
    'Bearer resource_metadata="https://a.example/m", scope="read write"',
    "https://a.example/m",
    "read write",
  ],
  [
    "place and scope without quotation marks, in any case",
    "Bearer Scope=read, RESOURCE_METADATA=https://a.example/m",
    "https://a.example/m",
    "read",
  ],
  ["a quotation mark inside quotation marks", String.raw`Bearer scope="a\"b"`, undefined, 'a"b'],
  ["the first of two scopes", 'Bearer scope="first", Bearer scope="second"', undefined, "first"],
  [
    "no scope that another parameter quotes",
    'Bearer error_description="asked with scope=admin", scope="read"',
    undefined,
    "read",
  ],
  ["no parameter whose name only ends alike", 'Bearer x-scope="admin"', undefined, undefined],
  [
    "nothing beyond its first 4,096 characters",
    `Bearer realm="${"x".repeat(5_000)}", scope="late"`,
    undefined,
    undefined,
  ],
])("of a challenge is read: %s", async (_name, header, resourceMetadata, scope) => {
  expect(await challengeOf(header)).toEqual({ status: 401, resourceMetadata, scope });
});

test("without a named place, the well-known ones are asked: that of the path first", async () => {
  const { origin, outgoing, asked } = await serve((own) => (request, response) => {
    if (request.url !== "/.well-known/oauth-protected-resource") response.writeHead(404).end();
    else
      response.end(
        JSON.stringify({
          resource: own,
          authorization_servers: ["https://as.example", 5],
          scopes_supported: [null, "", "x"],
        }),
      );
  });
  await expect(fetchResourceMetadata(`${origin}/mcp/`, unnamed, outgoing, signal)).resolves.toEqual({
    resource: origin,
    authorizationServers: ["https://as.example"],
    scopes: ["x"],
  });
  const root = "/.well-known/oauth-protected-resource";
  expect(asked).toEqual([`${root}/mcp`, root]);
});

test("a server without metadata has none, but one that names a place must have it there", async () => {
  const { origin, outgoing } = await serve(() => (_request, response) => response.writeHead(404).end());
  await expect(fetchResourceMetadata(origin, unnamed, outgoing, signal)).resolves.toBeUndefined();
  const named = { ...unnamed, resourceMetadata: `${origin}/m` };
  await expect(fetchResourceMetadata(origin, named, outgoing, signal)).rejects.toMatchObject({ code: "LOGIN_FAILED" });
});

test("a server that fails is not taken for one without metadata", async () => {
  const { origin, outgoing } = await serve(() => (_request, response) => response.writeHead(503).end());
  await expect(fetchResourceMetadata(origin, unnamed, outgoing, signal)).rejects.toThrow("HTTP 503");
});

test.each([
  ["its own URL", "/team/mcp", true],
  ["a folder above it", "/team", true],
  ["the whole origin", "/", true],
  ["a path that only begins alike", "/te", false],
  ["a path below it", "/team/mcp/deep", false],
  ["another origin", "https://other.example/team/mcp", false],
])("metadata for %s: is it the server's", async (_name, resource, isAccepted) => {
  const { origin, outgoing } = await serve((own) => (_request, response) => {
    response.end(JSON.stringify({ resource: new URL(resource, own).href }));
  });
  const found = fetchResourceMetadata(`${origin}/team/mcp`, unnamed, outgoing, signal);
  if (isAccepted) await expect(found).resolves.toMatchObject({ authorizationServers: [] });
  else await expect(found).rejects.toThrow("is for another resource");
});

test.each([
  ["{}", "has no resource"],
  ['{"resource":null}', "has null as resource"],
  ['{"resource":""}', "has an empty resource"],
  ['{"resource":"no url"}', "has an unusable resource"],
  ['{"resource":5}', "has a number as resource"],
  ['{"resource":["https://a.example"]}', "has a list as resource"],
])("metadata %j names no resource, and it is said why", async (body, flaw) => {
  const { origin, outgoing } = await serve(() => (_request, response) => response.end(body));
  await expect(fetchResourceMetadata(origin, unnamed, outgoing, signal)).rejects.toThrow(
    `names no resource: it ${flaw}`,
  );
});

test.each(["", "[]", "{", "null", "<!doctype html><title>App</title>"])(
  "a site that answers every path with %j has no metadata, unless it says that they are there",
  async (body) => {
    const { origin, outgoing } = await serve(() => (_request, response) => response.end(body));
    await expect(fetchResourceMetadata(origin, unnamed, outgoing, signal)).resolves.toBeUndefined();
    const named = { ...unnamed, resourceMetadata: `${origin}/m` };
    await expect(fetchResourceMetadata(origin, named, outgoing, signal)).rejects.toThrow("it is no JSON object");
  },
);

test.each([
  ["a path", "/elsewhere/metadata", "/elsewhere/metadata"],
  ["a path beside the server's", "metadata", "/team/metadata"],
])("a named place that is %s is one of the server's own", async (_name, resourceMetadata, path) => {
  const { origin, outgoing, asked } = await serve((own) => (request, response) => {
    if (request.url === path) response.end(JSON.stringify({ resource: own }));
    else response.writeHead(404).end();
  });
  const named = { ...unnamed, resourceMetadata };
  await expect(fetchResourceMetadata(`${origin}/team/mcp`, named, outgoing, signal)).resolves.toMatchObject({
    resource: origin,
  });
  expect(asked).toEqual([path]);
});

test("where the named place is empty, or the first of the well-known ones says nothing of a resource, the next is asked", async () => {
  const root = "/.well-known/oauth-protected-resource";
  const { origin, outgoing, asked } = await serve((own) => (request, response) => {
    if (request.url === root) response.end(JSON.stringify({ resource: own }));
    else if (request.url === `${root}/mcp`) response.end('{"detail":"not found"}');
    else response.writeHead(404).end();
  });
  const named = { ...unnamed, resourceMetadata: `${origin}/m` };
  await expect(fetchResourceMetadata(`${origin}/mcp`, named, outgoing, signal)).resolves.toMatchObject({
    resource: origin,
  });
  expect(asked).toEqual(["/m", `${root}/mcp`, root]);
});

test.each([
  ["null", null, []],
  ["an empty list", [], []],
  ["one URL in place of a list", "https://as.example", ["https://as.example"]],
  ["a list with others in it", [null, "", 5, {}, "https://as.example"], ["https://as.example"]],
  ["an object", {}, []],
])("authorization_servers that are %s", async (_name, authorization_servers, found) => {
  const { origin, outgoing } = await serve((own) => (_request, response) => {
    // As an editor of Windows saves it, and as a server of files sends it.
    response.writeHead(200, { "content-type": "text/html" });
    const metadata = { resource: own, authorization_servers, scopes_supported: null, jwks_uri: null };
    response.end(`\uFEFF${JSON.stringify(metadata)}`);
  });
  await expect(fetchResourceMetadata(origin, unnamed, outgoing, signal)).resolves.toMatchObject({
    authorizationServers: found,
    scopes: [],
  });
});

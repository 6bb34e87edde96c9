import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDocumentFetch } from "../../src/people/authorization-server/client-documents.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { get } from "../harness/rest.ts";
import { authorize, callbackUrl, consent, redeem } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

/** Publishes documents of clients, as the maker of an app does. */
interface Publisher extends AsyncDisposable {
  readonly origin: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** Connections, also those that came to nothing. */
  readonly connections: () => number;
}

let folder: string;
let publisher: Publisher;
/** One whose certificate nobody vouches for. */
let stranger: Publisher;
let world: TeamWorld;
let ann: PageBrowser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-documents-"));
  const certificates = makeCertificates(folder, ["localhost"]);
  publisher = await publish({ key: certificates.read("server-key"), cert: certificates.read("server") });
  const other = await mkdtemp(join(folder, "other-"));
  const unknown = makeCertificates(other, ["localhost"]);
  stranger = await publish({ key: unknown.read("server-key"), cert: unknown.read("server") });
  world = await startTeamWorld({ env: { NODE_EXTRA_CA_CERTS: certificates.path("ca") } });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  for (const one of [publisher, stranger]) await one[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function publish(options: { readonly key: string; readonly cert: string }): Promise<Publisher> {
  const asked: string[] = [];
  let connections = 0;
  const server: Server = createServer(options, (request, response) => {
    const path = request.url ?? "/";
    asked.push(path);
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    const about = { client_name: "Ledger", redirect_uris: [callbackUrl], token_endpoint_auth_method: "none" };
    const send = (document: object): void => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(document));
    };
    if (path === "/app/client.json" || path === "/app/second.json") send({ client_id: origin + path, ...about });
    else if (path === "/app/of-another.json") send({ client_id: `${origin}/app/client.json`, ...about });
    else if (path === "/app/large.json")
      send({ client_id: origin + path, ...about, client_name: "x".repeat(64 * 1024) });
    else if (path === "/app/moved.json") response.writeHead(302, { location: `${origin}/app/client.json` }).end();
    else response.writeHead(404).end();
  });
  server.on("connection", () => (connections += 1));
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    asked,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("an app that publishes a document of its own is let in by its address alone, and consent says where that is", async () => {
  const id = `${publisher.origin}/app/client.json`;
  const start = authorize(world.url, id, { resource: `${world.url}/mcp` });
  const page = await ann.open(start.url);
  expect(page.text).toContain("Ledger");
  expect(page.text).toContain("localhost");
  expect(publisher.asked).toEqual(["/app/client.json"]);
  const callback = await consent(ann, authorize(world.url, id, { resource: `${world.url}/mcp` }));
  expect([callback.searchParams.get("error"), callback.searchParams.get("iss")]).toEqual([null, world.url]);
  const again = authorize(world.url, id, { resource: `${world.url}/mcp` });
  const code = (await consent(ann, again)).searchParams.get("code") ?? "";
  const { status, json } = await redeem(world.url, id, { code, verifier: again.verifier });
  expect([status, json.token_type]).toEqual([200, "Bearer"]);
  const used = await get(`${world.url}/api/me`, { authorization: `Bearer ${json.access_token as string}` });
  expect([used.status, used.json.user.name]).toEqual([200, "ann"]);
  // One document for all of it: the gateway keeps what it read.
  expect(publisher.asked).toEqual(["/app/client.json"]);
});

test.each(["/app/of-another.json", "/app/large.json", "/app/moved.json", "/app/none.json"])(
  "a document that is not its client's own, too large, elsewhere or not there lets nobody in: %s",
  async (path) => {
    const before = publisher.asked.length;
    const page = await ann.open(authorize(world.url, publisher.origin + path).url);
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.url).not.toContain("code=");
    // It was asked for, and a redirect was not followed.
    expect(new Set(publisher.asked.slice(before))).toEqual(new Set([path]));
  },
);

test("a server that cannot show who it is is asked for nothing", async () => {
  const page = await ann.open(authorize(world.url, `${stranger.origin}/app/client.json`).url);
  expect(page.status).toBeGreaterThanOrEqual(400);
  expect([stranger.connections() > 0, stranger.asked]).toEqual([true, []]);
});

test("FAULT 104: a gateway that others reach connects to no document on its own machine", async () => {
  const before = publisher.connections();
  const far = createDocumentFetch("https://tools.example.com");
  const options = { signal: AbortSignal.timeout(60_000) };
  for (const host of [publisher.origin, publisher.origin.replace("localhost", "127.0.0.1")])
    await expect(far(`${host}/app/client.json`, options)).rejects.toThrow("is not in the public Internet");
  expect(publisher.connections()).toBe(before);
});

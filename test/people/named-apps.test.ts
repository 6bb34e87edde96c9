import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCertificates } from "../harness/certificates.ts";
import { freePort } from "../harness/free-port.ts";
import { authorize, callbackUrl, consent, redeem } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const preload = fileURLToPath(new URL("../harness/named-hosts.mjs", import.meta.url));
/** An address of the Internet, at which the documents of apps lie: the network leads from there to this machine. */
const far = "203.0.113.9";

let folder: string;
let documents: HttpsServer;
let trap: Server;
/** Of the trap: documents are named with this port. What is meant for the far address never comes there. */
let port: number;
let deadPort: number;
let trapped = 0;
/** What was asked of the far address. */
const asked: string[] = [];
let world: TeamWorld;
let ann: PageBrowser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-documents-"));
  const names = ["app.example", "first.example", "then.example"];
  const certificates = makeCertificates(folder, names);
  const keys = { key: certificates.read("server-key"), cert: certificates.read("server") };
  documents = createHttpsServer(keys, ({ url = "", headers: { host = "" } }, response) => {
    asked.push(url);
    if (url === "/silent.json") return;
    if (url === "/moved.json") return void response.writeHead(302, { location: "/app.json" }).end();
    response.writeHead(200, { "content-type": "application/json" }).end(documentAt(`https://${host}${url}`, url));
  });
  await new Promise<void>((resolve) => documents.listen(0, "127.0.0.1", resolve));
  trap = createServer((socket) => {
    trapped += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  ({ port } = trap.address() as AddressInfo);
  deadPort = await freePort();
  world = await startTeamWorld({
    env: {
      NODE_OPTIONS: `--import ${preload}`,
      NODE_EXTRA_CA_CERTS: certificates.path("ca"),
      TOOLYARD_TEST_HOSTS: JSON.stringify({
        "app.example": far,
        "nowhere.example": "203.0.113.10",
        // Look-ups that are answered otherwise a moment later: DNS rebinding.
        "first.example": [far, "127.0.0.1"],
        "then.example": ["127.0.0.1", far],
      }),
      TOOLYARD_TEST_ROUTES: JSON.stringify({
        [far]: (documents.address() as AddressInfo).port,
        "203.0.113.10": deadPort,
      }),
    },
  });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann", { stopAt: "http://127.0.0.1:6123" });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  documents.closeAllConnections();
  await Promise.all([documents, trap].map(async (server) => await new Promise((resolve) => server.close(resolve))));
  await rm(folder, { recursive: true, force: true });
});

/** What the paths of the far host say of an app that is named by them. */
function documentAt(id: string, path: string): string {
  const document = { client_id: id, client_name: "Far app", redirect_uris: [callbackUrl] };
  if (path === "/other.json") return JSON.stringify({ ...document, client_id: id.replace("other", "app") });
  if (path === "/no-port.json") return JSON.stringify({ ...document, client_id: id.replace(/:\d+/, "") });
  if (path === "/upper.json") return JSON.stringify({ ...document, client_id: id.replace("upper", "UPPER") });
  if (path === "/secret.json") return JSON.stringify({ ...document, client_secret: "x" });
  if (path === "/page.json") return "<html>";
  if (path === "/evil.json") return JSON.stringify({ ...document, redirect_uris: ["http://evil.example/callback"] });
  if (path === "/script.json") return JSON.stringify({ ...document, redirect_uris: ["javascript:alert(1)"] });
  const padding = "x".repeat(65_537 - JSON.stringify({ ...document, padding: "" }).length);
  return JSON.stringify(path === "/large.json" ? { ...document, padding } : document);
}

const named = (path: string, host = "app.example"): string => `https://${host}:${port}${path}`;
const isAsked = async (id: string, more: Readonly<Record<string, string>> = {}): Promise<boolean> =>
  (await ann.open(authorize(world.url, id, more).url)).text.includes('name="answer"');

test("MUST: an app is who its document says, comes back on any port of its machine, and is fetched once for a while", async () => {
  const id = named("/app.json");
  const start = authorize(world.url, id, { redirect_uri: "http://127.0.0.1:6123/callback" });
  const page = await ann.open(start.url);
  expect(page.text).toContain("Far app");
  const back = await consent(ann, start);
  expect(back.port).toBe("6123");
  const code = back.searchParams.get("code") ?? "";
  const given = { code, verifier: start.verifier, redirect_uri: "http://127.0.0.1:6123/callback" };
  expect((await redeem(world.url, id, given)).status).toBe(200);
  for (const uri of ["http://127.0.0.1:6123/other", "http://localhost:6123/callback", "https://app.example/callback"])
    expect([uri, await isAsked(id, { redirect_uri: uri })]).toEqual([uri, false]);
  expect(asked.filter((path) => path === "/app.json")).toHaveLength(1);
});

test.each([
  ["is another app's", "/other.json"],
  ["names itself without the port", "/no-port.json"],
  ["names itself with other letters", "/upper.json"],
  ["has a secret", "/secret.json"],
  ["is no JSON", "/page.json"],
  ["has one byte more than 64 KB", "/large.json"],
  ["leads elsewhere", "/moved.json"],
  ["never comes", "/silent.json"],
  ["comes back to somebody else's machine without TLS", "/evil.json"],
  ["comes back to a script", "/script.json"],
])("FAULT 102: an app whose document %s is refused, and nobody is asked", async (_what, path) => {
  const before = asked.length;
  expect(
    await isAsked(named(path), path === "/evil.json" ? { redirect_uri: "http://evil.example/callback" } : {}),
  ).toBe(false);
  expect(asked.slice(before)).toEqual([path]);
});

test("FAULT 102: a document that cannot be reached, or has another address than the app says, is no document", async () => {
  const before = asked.length;
  expect(await isAsked(`https://nowhere.example:${deadPort}/app.json`)).toBe(false);
  // Not even fetched: they are no addresses of documents.
  for (const id of [
    `http://app.example:${port}/app.json`,
    `https://user@app.example:${port}/app.json`,
    `https://app.example:${port}/app.json#x`,
    `https://app.example:${port}/x/../app.json`,
    `https://app.example:${port}/x/%2e%2e/app.json`,
    `https:\\\\app.example:${port}\\app.json`,
  ])
    expect([id, await isAsked(id)]).toEqual([id, false]);
  expect(asked.slice(before)).toEqual([]);
  // A query belongs to the address; its document would have to say so.
  expect(await isAsked(named("/other.json?x=1"))).toBe(true);
  expect(asked.slice(before)).toEqual(["/other.json?x=1"]);
});

test("FAULT 104: a name that leads elsewhere at the next look-up is connected to where it was seen to lead", async () => {
  expect(await isAsked(named("/app.json", "first.example"))).toBe(true);
  // Whoever looks it up now is led to this machine.
  expect(await isAsked(named("/again.json", "first.example"))).toBe(false);
  expect(asked).not.toContain("/again.json");
  // Refused for the address that it led to, although it would lead to a good one a moment later.
  expect(await isAsked(named("/then.json", "then.example"))).toBe(false);
  expect(asked).not.toContain("/then.json");
  expect(trapped).toBe(0);
});

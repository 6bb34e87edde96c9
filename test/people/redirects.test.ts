import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorize } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let ann: PageBrowser;
let registrations = 0;
beforeAll(async () => {
  world = await startTeamWorld({ settings: { trustedProxies: ["127.0.0.1"] } });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann");
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** Each from another address, so that none of them is one too many. */
async function registerAt(redirectUris: readonly unknown[]): Promise<{ status: number; id: string; error?: string }> {
  registrations += 1;
  const answer = await fetch(`${world.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": `198.51.100.${registrations}` },
    body: JSON.stringify({ client_name: "App", redirect_uris: redirectUris }),
  });
  const { client_id: id = "", error } = (await answer.json()) as { client_id?: string; error?: string };
  return { status: answer.status, id, ...(error === undefined ? {} : { error }) };
}

/** Whether the person is asked; where not, the browser stays with a page of the gateway that says why. */
async function isAsked(id: string, uri: string): Promise<boolean> {
  const page = await ann.open(authorize(world.url, id, { redirect_uri: uri }).url);
  const isConsent = page.text.includes('name="answer"');
  if (!isConsent) expect([uri, page.status, new URL(page.url).origin]).toEqual([uri, 400, world.url]);
  return isConsent;
}

type Rows = Readonly<Record<string, readonly (readonly [uri: string, isTaken: boolean, why: string])[]>>;

/** By what an app registered: what it may ask to be called back at. */
const asked: Rows = {
  "http://127.0.0.1:5999/callback": [
    ["http://127.0.0.1:5999/callback", true, "the same"],
    ["http://127.0.0.1:6000/callback", true, "an application listens on whatever port is free (RFC 8252, 7.3)"],
    ["http://127.0.0.1/callback", true, "which is port 80"],
    ["http://127.0.0.1:80/callback", true, "the same, written out"],
    ["http://127.0.0.1:65536/callback", false, "no port"],
    ["http://127.0.0.1:5999/callback/", false, "another path"],
    ["http://127.0.0.1:5999/Callback", false, "another path"],
    ["http://127.0.0.1:5999/", false, "another path"],
    ["http://127.0.0.1:5999", false, "another path"],
    ["http://127.0.0.1:5999/x/../callback", false, "the same path for a browser, but not what was registered"],
    ["http://127.0.0.1:5999//callback", false, "another path"],
    ["http://127.0.0.1:5999/%63allback", false, "the same letters, but not what was registered"],
    ["http://127.0.0.1:5999/callback%2f..%2fevil", false, "another path"],
    ["http://127.0.0.1:5999/callback;x=1", false, "another path"],
    ["http://127.0.0.1:5999/callback?x=1", false, "a query that was not registered"],
    ["http://127.0.0.1:5999/callback?", false, "an empty query"],
    ["http://127.0.0.1:5999/callback#x", false, "a fragment"],
    ["http://127.0.0.1:5999/callback#", false, "an empty fragment"],
    ["http://127.0.0.1:5999/callback ", false, "a space"],
    ["\thttp://127.0.0.1:5999/callback", false, "a tab, which browsers leave out"],
    ["http://user@127.0.0.1:5999/callback", false, "a user name"],
    ["http://evil.example@127.0.0.1:5999/callback", false, "what looks like a host is a user name"],
    ["http://127.0.0.1:5999@evil.example/callback", false, "another host"],
    ["http://evil.example\\@127.0.0.1:5999/callback", false, "another host for a browser"],
    ["http://127.0.0.1.evil.example:5999/callback", false, "another host"],
    ["http://127.0.0.1.:5999/callback", false, "a dot at the end"],
    ["http://127.1:5999/callback", false, "a short form"],
    ["http://0x7f000001:5999/callback", false, "hexadecimal"],
    ["http://2130706433:5999/callback", false, "one number"],
    ["http://１２７.0.0.1:5999/callback", false, "wide digits"],
    ["http://127.0.0.2:5999/callback", false, "another address of the machine"],
    ["http://localhost:5999/callback", false, "a name that may lead elsewhere"],
    ["http://[::1]:5999/callback", false, "another address"],
    ["http://[::ffff:127.0.0.1]:5999/callback", false, "IPv4 as IPv6"],
    ["https://127.0.0.1:5999/callback", false, "another scheme"],
    ["HTTP://127.0.0.1:5999/callback", false, "not as it was registered"],
    ["//127.0.0.1:5999/callback", false, "no scheme"],
    ["javascript:alert(1)//http://127.0.0.1:5999/callback", false, "a script"],
  ],
  "http://localhost/callback": [
    ["http://localhost:53252/callback", true, "as Claude Code does it"],
    ["http://LOCALHOST:53252/callback", false, "not as it was registered"],
    ["http://localhost.:53252/callback", false, "a dot at the end"],
    ["http://localhost.evil.example:53252/callback", false, "another host"],
    ["http://127.0.0.1:53252/callback", false, "registered by name"],
  ],
  "http://[::1]/callback": [
    ["http://[::1]:7000/callback", true, "any port of this machine"],
    ["http://[0:0:0:0:0:0:0:1]:7000/callback", false, "another way to write it"],
    ["http://[::]:7000/callback", false, "every address"],
  ],
  "https://app.example/callback": [
    ["https://app.example/callback", true, "the same"],
    ["https://app.example:443/callback", false, "not as it was registered"],
    ["https://app.example:8443/callback", false, "another port: pages have one"],
    ["https://APP.example/callback", false, "not as it was registered"],
    ["https://app.example./callback", false, "a dot at the end"],
    ["https://app.example/callback/", false, "another path"],
    ["https://app.example/callback?x=1", false, "a query that was not registered"],
    ["https://app.example/callback\\..\\evil", false, "another path for a browser"],
    ["https://sub.app.example/callback", false, "another host"],
    ["http://app.example/callback", false, "without TLS"],
  ],
  "https://app.example/callback?tenant=1&x=2": [
    ["https://app.example/callback?tenant=1&x=2", true, "the same"],
    ["https://app.example/callback?x=2&tenant=1", false, "another order"],
    ["https://app.example/callback", false, "without its query"],
  ],
  "https://bücher.example/callback": [
    ["https://bücher.example/callback", true, "the same"],
    ["https://xn--bcher-kva.example/callback", false, "the same host, but not what was registered"],
    ["https://bucher.example/callback", false, "another host"],
  ],
  "cursor://anysphere.cursor-mcp/oauth/callback": [
    ["cursor://anysphere.cursor-mcp/oauth/callback", true, "the same"],
    ["cursor://anysphere.cursor-mcp:80/oauth/callback", false, "another port: it is no address of this machine"],
    ["CURSOR://anysphere.cursor-mcp/oauth/callback", false, "not as it was registered"],
    ["cursor://evil/oauth/callback", false, "another host"],
  ],
  "com.example.app:/callback": [
    ["com.example.app:/callback", true, "the same"],
    ["com.example.app:/other", false, "another path"],
    ["com.example.app.evil:/callback", false, "another scheme"],
  ],
};

describe.each(Object.entries(asked))("FAULT 102: an app that registered %s", (registered, rows) => {
  let id: string;
  beforeAll(async () => {
    const made = await registerAt([registered]);
    expect(made.status).toBe(201);
    ({ id } = made);
  });

  test.each(rows)("and asks for %s is let on: %s (%s)", async (uri, isTaken) => {
    expect(await isAsked(id, uri)).toBe(isTaken);
  });
});

test.each([
  ["http://evil.example/callback", "without TLS, beyond this machine"],
  ["http://127.0.0.1.evil.example/callback", "the same, under a name that looks like this machine"],
  ["http://0.0.0.0/callback", "every address"],
  ["http://192.168.0.7/callback", "another machine of the network"],
  ["https://app.example/callback#x", "a fragment"],
  ["https://app.example/callback#", "an empty fragment"],
  ["https://user:password@app.example/callback", "a password"],
  ["https://app.example@evil.example/callback", "what looks like a host is a user name"],
  ["javascript:alert(1)", "a script"],
  ["JavaScript:alert(1)", "a script"],
  ["\njavascript:alert(1)", "a script"],
  ["data:text/html,x", "a page of its own"],
  ["vbscript:x", "a script"],
  ["file:///etc/passwd", "a file"],
  ["blob:https://app.example/1", "no place"],
  ["about:blank", "no place"],
  ["intent://x#Intent;scheme=https;end", "an action of Android"],
  ["ms-officecmd:x", "a command of Windows"],
  ["search-ms:query=x", "a search of Windows"],
  ["view-source:https://app.example/callback", "a page of the browser"],
  ["mailto:a@app.example", "a letter"],
  ["ftp://app.example/callback", "another protocol"],
  ["/callback", "no URL"],
  ["https://", "no URL"],
  ["http://[::1/callback", "no URL"],
  ["", "nothing"],
  [7, "no text"],
])("FAULT 102: an app does not get to register %j: %s", async (uri, _why) => {
  const alone = await registerAt([uri]);
  expect([alone.status, alone.id]).toEqual([400, ""]);
  expect(alone.error).toMatch(/^invalid_(?:redirect_uri|client_metadata)$/);
  // Nor among good ones.
  expect((await registerAt(["http://127.0.0.1/callback", uri])).status).toBe(400);
});

test("an app that registers a scheme of its own, a page and this machine at once is called back at each of them", async () => {
  const all = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "http://localhost:8787/callback",
  ];
  const { id, status } = await registerAt(all);
  expect(status).toBe(201);
  for (const uri of [...all, "http://localhost:9999/callback"])
    expect([uri, await isAsked(id, uri)]).toEqual([uri, true]);
  expect(await isAsked(id, "https://www.cursor.com:9999/agents/mcp/oauth/callback")).toBe(false);
});

test("an app that registers twice for one login, as claude.ai does, is two apps, of which either works", async () => {
  const page = "https://claude.ai/api/mcp/auth_callback";
  const [first, second] = [await registerAt([page]), await registerAt([page])];
  expect(first.id).not.toBe(second.id);
  expect([await isAsked(first.id, page), await isAsked(second.id, page)]).toEqual([true, true]);
});

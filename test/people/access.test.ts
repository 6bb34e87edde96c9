import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";
import { authorize, callbackUrl, connectApp, consent, redeem } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let tokens: Readonly<Record<"ann" | "bob", string>>;
let bob: PageBrowser;
beforeAll(async () => {
  world = await startTeamWorld();
  const ann = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
  tokens = { ann, bob: (await world.ask("user", "add", "bob", "--team", "red")).made.token };
  bob = await world.logIn("bob", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function ask(who: keyof typeof tokens, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens[who]}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, ...(text === "" ? {} : (JSON.parse(text) as object)) };
}

test("people see their own apps and take them back, and an admin those of everybody", async () => {
  const app = await connectApp(world.url, bob);
  const { apps } = await ask("bob", "GET", "/api/me/apps");
  expect(apps).toMatchObject([
    { name: "Test app", client: app.clientId, user: "bob", team: "red", audience: [`${world.url}/mcp`] },
  ]);
  expect(apps[0].scopes).toEqual(["mcp:read", "mcp:tools:execute"]);
  const { id } = apps[0];
  expect((await ask("ann", "GET", "/api/me/apps")).apps).toEqual([]);
  expect((await ask("ann", "GET", "/api/users/bob/apps")).apps).toEqual(apps);
  expect((await ask("bob", "GET", "/api/users/ann/apps")).status).toBe(403);
  // Not theirs is not there.
  const foreign = await ask("ann", "DELETE", `/api/me/apps/${id}`, {});
  expect([foreign.status, foreign.code]).toEqual([404, "PERSON_UNKNOWN"]);
  const stream = await openSse(`${world.url}/sse`, { authorization: `Bearer ${app.access_token}` });
  await stream.initialize();
  expect((await ask("bob", "DELETE", `/api/me/apps/${id}`, {})).status).toBe(200);
  await until(() => stream.ended);
  expect((await ask("bob", "GET", "/api/me/apps")).apps).toEqual([]);
  await connectApp(world.url, bob);
  const [again] = (await ask("ann", "GET", "/api/users/bob/apps")).apps as { id: string }[];
  expect((await ask("ann", "DELETE", `/api/users/bob/apps/${again?.id ?? ""}`, {})).status).toBe(200);
  const { stdout } = await world.command("audit", "--action", "app.revoke", "--json");
  expect(stdout.trim().split("\n")).toHaveLength(2);
});

test("people see the browsers that they are logged in with, and log them out; an admin does it for anybody", async () => {
  const one = await world.logIn("ann");
  const { sessions } = await ask("ann", "GET", "/api/me/sessions");
  expect(sessions).toMatchObject([{ user: "ann", via: "password" }]);
  const [cookie = ""] = one.cookies.values();
  expect(JSON.stringify(sessions)).not.toContain(cookie);
  expect((await ask("bob", "DELETE", `/api/me/sessions/${sessions[0].id}`, {})).status).toBe(404);
  expect((await ask("ann", "DELETE", `/api/me/sessions/${sessions[0].id}`, {})).status).toBe(200);
  expect((await one.open(`${world.url}/account`)).text).toContain("Log in");
  const of = (await ask("ann", "GET", "/api/users/bob/sessions")).sessions as { id: string }[];
  expect(of.length).toBeGreaterThan(0);
  expect((await world.ask("session", "list", "--user", "bob")).sessions).toHaveLength(of.length);
  expect((await ask("ann", "DELETE", "/api/users/bob/sessions", {})).ended).toBe(of.length);
  expect((await bob.open(`${world.url}/account`)).text).toContain("Log in");
  bob = await world.logIn("bob", { stopAt: callbackUrl });
  const [last] = (await ask("ann", "GET", "/api/users/bob/sessions")).sessions as { id: string }[];
  expect((await ask("ann", "DELETE", `/api/users/bob/sessions/${last?.id ?? ""}`, {})).status).toBe(200);
  const none = await world.command("session", "end", "nothing");
  expect([none.code, none.stderr.includes("there is no such browser")]).toEqual([1, true]);
  bob = await world.logIn("bob", { stopAt: callbackUrl });
});

test("an app that an admin registers is connected as any other, keeps its secret, and goes with all that it has", async () => {
  const made = await ask("ann", "POST", "/api/auth/clients", {
    ...{ name: "Billing", redirectUris: ["https://billing.example/callback"], hasSecret: true },
  });
  expect(made).toMatchObject({ status: 200, secret: expect.stringMatching(/^[\w-]{43}$/) as string });
  const listed = (await world.ask("client", "list")).clients as { id: string }[];
  expect(listed.find(({ id }) => id === made.id)).toMatchObject({
    ...{ name: "Billing", hasSecret: true, apps: 0, expires: null },
  });
  expect(JSON.stringify(listed)).not.toContain(made.secret);
  const browser = await world.logIn("bob", { stopAt: "https://billing.example/" });
  const redirect_uri = "https://billing.example/callback";
  const start = authorize(world.url, made.id, { redirect_uri });
  const code = (await consent(browser, start)).searchParams.get("code") ?? "";
  const given = { client_secret: made.secret, code, verifier: start.verifier, redirect_uri };
  const { client_secret: _secret, ...without } = given;
  expect((await redeem(world.url, made.id, without)).status).toBe(401);
  const basic = Buffer.from(`${made.id}:${made.secret}`).toString("base64");
  const form = { grant_type: "authorization_code", code, code_verifier: start.verifier, redirect_uri };
  const answer = await fetch(`${world.url}/oauth/token`, {
    method: "POST",
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams(form),
  });
  expect(answer.status).toBe(200);
  const { access_token } = (await answer.json()) as { access_token: string };
  const asApp = async (): Promise<number> =>
    (await fetch(`${world.url}/api/servers`, { headers: { authorization: `Bearer ${access_token}` } })).status;
  expect(await asApp()).toBe(200);
  expect((await ask("ann", "DELETE", `/api/auth/clients/${made.id}`, {})).status).toBe(200);
  expect(await asApp()).toBe(401);
  expect((await ask("ann", "DELETE", `/api/auth/clients/${made.id}`, {})).status).toBe(404);
});

test("a service registers to ask what tokens are, and what is no client is refused", async () => {
  const { client } = await world.ask("client", "add", "Proxy");
  const app = await connectApp(world.url, await world.logIn("bob", { stopAt: callbackUrl }));
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString("base64");
  const introspect = async (authorization: string) =>
    await fetch(`${world.url}/oauth/introspect`, {
      method: "POST",
      headers: { authorization },
      body: new URLSearchParams({ token: app.access_token }),
    });
  expect(await (await introspect(`Basic ${basic}`)).json()).toMatchObject({ active: true, team_name: "red" });
  expect((await world.command("client", "rm", client.id)).code).toBe(0);
  expect((await introspect(`Basic ${basic}`)).status).toBe(401);
  for (const redirectUris of [["javascript:alert(1)"], ["not a url"]])
    expect((await ask("ann", "POST", "/api/auth/clients", { name: "x", redirectUris })).status).toBe(400);
  const misused = await world.command("client", "add");
  expect([misused.code, misused.stdout]).toEqual([2, ""]);
});

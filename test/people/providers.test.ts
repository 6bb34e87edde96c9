import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { get } from "../harness/rest.ts";
import { connectApp } from "./app-client.ts";
import { clientSecret, goOn, logInAt, startIdentityProvider, type IdentityProvider } from "./identity-provider.ts";
import { createPageBrowser, type PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let idp: IdentityProvider;
let world: TeamWorld;
let names: readonly { readonly gateway: string; readonly name: string; readonly id: string }[];

beforeAll(async () => {
  idp = await startIdentityProvider();
  const port = await freePort();
  const gateway = `http://127.0.0.1:${port}`;
  names = ["closed", "mapped", "domain", "mail"].map((name) => ({ gateway, name, id: `toolyard-${name}` }));
  idp.serve(names);
  const about = { issuer: idp.issuer, clientSecret: "${IDP_SECRET:-" + clientSecret + "}" };
  const providers = {
    closed: { ...about, clientId: "toolyard-closed", title: "Closed & Co" },
    mapped: {
      ...about,
      clientId: "toolyard-mapped",
      scopes: ["openid", "profile", "email", "groups"],
      provision: "groups",
      groups: { engineering: { red: "member" }, leads: { red: "admin", blue: "member" } },
      adminGroups: ["it"],
    },
    domain: {
      ...about,
      clientId: "toolyard-domain",
      provision: "domains",
      domains: ["example.com"],
      teams: { all: "member" },
    },
    mail: { ...about, clientId: "toolyard-mail", linkByEmail: true },
  };
  world = await startTeamWorld({ settings: { auth: { providers } }, port });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
});

const audit = async (): Promise<string> => (await world.command("audit", "--json")).stdout;
/** The role of somebody in a team; undefined for those who are not in it. */
const roleIn = async (team: string, name: string): Promise<string | undefined> => {
  const { members } = await world.ask("team", "members", team);
  return members.find((member: { name: string; role: string }) => member.name === name)?.role;
};
const userNamed = async (name: string): Promise<{ role: string; status: string } | undefined> =>
  (await world.ask("user", "list")).users.find((user: { name: string }) => user.name === name);
const logIn = async (name: string, person: IdentityProvider["person"], browser = createPageBrowser()) => {
  idp.person = person;
  return { browser, page: await logInAt(browser, world.url, name) };
};
const cookieOf = (browser: PageBrowser): string => `ty_session=${browser.cookies.get("ty_session") ?? ""}`;
const statusOf = async (browser: PageBrowser): Promise<number> =>
  (await get(`${world.url}/api/servers`, { cookie: cookieOf(browser) })).status;

test("the login page has a button for each provider, and a stranger's account there opens nothing", async () => {
  const { page, browser } = await logIn("closed", { sub: "stranger", preferred_username: "ann", email: "ann@x.test" });
  expect([page.status, page.text.includes("<code>IDENTITY_UNKNOWN</code>")]).toEqual([403, true]);
  expect(page.text).toContain("You have no account here.");
  expect([
    browser.cookies.has("ty_session"),
    [...browser.cookies.keys()].filter((name) => name.includes("ty_login")),
  ]).toEqual([false, []]);
  expect((await createPageBrowser().open(`${world.url}/auth/login`)).text).toContain("Log in with Closed &#38; Co");
  expect(await audit()).toMatch(/"action":"login".*"object":"closed".*"outcome":"denied".*IDENTITY_UNKNOWN/);
});

test("groups give an account, teams and roles, and take back what they gave and nothing else", async () => {
  const eve = { sub: "s-eve", preferred_username: "Eve.Müller@corp.test", groups: ["engineering"] };
  const { page, browser } = await logIn("mapped", eve);
  expect(page.text).toContain("You are <strong>eve.muller</strong>");
  expect([await roleIn("red", "eve.muller"), (await userNamed("eve.muller"))?.role]).toEqual(["member", "user"]);
  expect(await statusOf(browser)).toBe(200);

  await logIn("mapped", { ...eve, groups: ["engineering", "leads", "it"] });
  expect([await roleIn("red", "eve.muller"), await roleIn("blue", "eve.muller")]).toEqual(["admin", "member"]);
  expect((await userNamed("eve.muller"))?.role).toBe("admin");
  // With another role, people log in again.
  expect(await statusOf(browser)).toBe(401);

  await world.ask("team", "add", "green");
  await world.ask("team", "members", "green", "--add", "eve.muller");
  const { browser: last } = await logIn("mapped", { ...eve, groups: ["other"] });
  expect([await roleIn("red", "eve.muller"), await roleIn("blue", "eve.muller")]).toEqual([undefined, undefined]);
  expect([await roleIn("green", "eve.muller"), (await userNamed("eve.muller"))?.role]).toEqual(["member", "user"]);
  expect(await statusOf(last)).toBe(200);
  const { page: stranger } = await logIn("mapped", { sub: "s-none", preferred_username: "none", groups: ["other"] });
  expect(stranger.text).toContain("IDENTITY_UNKNOWN");
  const written = await audit();
  expect(written).toMatch(/"actor":"eve.muller".*"action":"user.provision".*"object":"eve.muller"/);
  expect(written).toMatch(/"action":"user.groups".*blue/);
});

test("what somebody here changed by hand is theirs, and the last admin stays", async () => {
  const ike = { sub: "s-ike", preferred_username: "ike", groups: ["leads"] };
  await logIn("mapped", ike);
  await world.ask("team", "members", "red", "--add", "ike", "--role", "member").catch(() => undefined);
  await world.ask("team", "members", "blue", "--remove", "ike");
  await world.ask("team", "members", "blue", "--add", "ike", "--role", "admin");
  await logIn("mapped", { ...ike, groups: ["leads"] });
  expect(await roleIn("blue", "ike")).toBe("admin");
  await logIn("mapped", { ...ike, groups: [] });
  expect([await roleIn("red", "ike"), await roleIn("blue", "ike")]).toEqual([undefined, "admin"]);
});

test("a verified address of a domain gives an account; another one, or one that nobody verified, does not", async () => {
  const person = { sub: "d-1", preferred_username: "dan", email: "Dan@Example.com", email_verified: true };
  expect((await logIn("domain", person)).page.text).toContain("You are <strong>dan</strong>");
  expect(await roleIn("all", "dan")).toBe("member");
  const others = [
    { ...person, sub: "d-2", email_verified: false },
    { ...person, sub: "d-3", email: "dan@sub.example.com" },
    { ...person, sub: "d-4", email: "dan@example.com.evil.test" },
    { ...person, sub: "d-5", email: undefined },
  ];
  for (const other of others) expect((await logIn("domain", other)).page.status).toBe(403);
  // A name that is taken is not the one who has it.
  const { page } = await logIn("domain", { ...person, sub: "d-6", email: "dan2@example.com" });
  expect(page.text).toContain("You are <strong>dan-2</strong>");
});

test("an address is taken for a user's only where that is switched on, verified, and one user has it", async () => {
  const same = { preferred_username: "dan", email: "dan@example.com" };
  expect((await logIn("closed", { ...same, sub: "m-1", email_verified: true })).page.status).toBe(403);
  expect((await logIn("mail", { ...same, sub: "m-2", email_verified: false })).page.status).toBe(403);
  expect((await logIn("mail", { ...same, sub: "m-3", email_verified: true })).page.text).toContain(
    "<strong>dan</strong>",
  );
});

test("whoever is disabled or removed stays out, whatever the provider says", async () => {
  const fay = { sub: "s-fay", preferred_username: "fay", groups: ["engineering"] };
  const { browser } = await logIn("mapped", fay);
  await world.ask("user", "disable", "fay");
  expect(await statusOf(browser)).toBe(401);
  const { page } = await logIn("mapped", fay);
  expect([page.status, page.text.includes("Your account here is disabled.")]).toEqual([403, true]);
  await world.ask("user", "enable", "fay");
  await world.ask("user", "remove", "fay");
  const { page: removed } = await logIn("mapped", fay);
  expect([removed.status, removed.text.includes("Your account here was removed.")]).toEqual([403, true]);
  expect(await userNamed("fay")).toBeUndefined();
  const { secret } = (await world.ask("invite", "new", "--team", "red")).invite ?? {};
  expect(secret).toEqual(expect.any(String));
});

test("somebody who is logged in links an account, which then logs them in; another user's stays theirs", async () => {
  await world.ask("user", "add", "gus", "--team", "red");
  const browser = await world.logIn("gus");
  idp.person = { sub: "c-gus", preferred_username: "whoever" };
  const account = await browser.open(`${world.url}/account`);
  const linked = await goOn(browser, await browser.submit(account, {}, "/auth/oidc/closed/start?link"));
  expect(linked.text).toContain("You are <strong>gus</strong>");
  expect((await logIn("closed", { sub: "c-gus" })).page.text).toContain("You are <strong>gus</strong>");
  expect(await audit()).toMatch(/"actor":"gus".*"action":"identity.link".*"object":"gus"/);

  await world.ask("user", "add", "hal", "--team", "red");
  const other = await world.logIn("hal");
  const theirs = await other.submit(await other.open(`${world.url}/account`), {}, "/auth/oidc/closed/start?link");
  idp.person = { sub: "c-gus" };
  const refused = await goOn(other, theirs);
  expect([refused.status, refused.text.includes("PEOPLE_CONFLICT")]).toEqual([409, true]);
  // A form of before the login links nothing.
  const stranger = createPageBrowser();
  const page = await stranger.open(`${world.url}/auth/login`);
  const bent = { ...page, text: page.text.replaceAll("/auth/oidc/closed/start", "/auth/oidc/closed/start?link") };
  idp.person = { sub: "c-new" };
  expect((await goOn(stranger, await stranger.submit(bent, {}, "closed/start?link"))).text).toContain(
    "IDENTITY_UNKNOWN",
  );
});

test("a link for an account and an invitation are taken with an account elsewhere, once", async () => {
  await world.ask("user", "add", "jo", "--team", "red");
  const { link } = await world.ask("user", "link", "jo");
  const code = new URL(link).hash.slice(1);
  const browser = createPageBrowser();
  idp.person = { sub: "c-jo", preferred_username: "somebody" };
  const setup = await browser.open(`${world.url}/setup`);
  const toProvider = { ...setup, text: setup.text.replace('action="/setup"', 'action="/auth/oidc/closed/start"') };
  expect((await goOn(browser, await browser.submit(toProvider, { code }))).text).toContain(
    "You are <strong>jo</strong>",
  );
  const second = createPageBrowser();
  idp.person = { sub: "c-thief" };
  const again = await second.open(`${world.url}/setup`);
  const bent = { ...again, text: again.text.replace('action="/setup"', 'action="/auth/oidc/closed/start"') };
  expect((await goOn(second, await second.submit(bent, { code }))).text).toContain("LOGIN_EXPIRED");

  const { secret } = await world.ask("invite", "new", "--team", "red");
  const invited = createPageBrowser();
  const login = await invited.open(`${world.url}/auth/login`);
  idp.person = { sub: "c-kim", preferred_username: "kim" };
  const page = await goOn(invited, await invited.submit(login, { invite: secret }, "/auth/oidc/closed/start"));
  expect(page.text).toContain("You are <strong>kim</strong>");
  expect(await roleIn("red", "kim")).toBe("member");
  const late = createPageBrowser();
  idp.person = { sub: "c-leo", preferred_username: "leo" };
  const used = await late.submit(await late.open(`${world.url}/auth/login`), { invite: secret }, "closed/start");
  expect((await goOn(late, used)).status).toBe(404);
});

test("two first logins of one account at the same moment make one user", async () => {
  idp.person = { sub: "s-twin", preferred_username: "twin", groups: ["engineering"] };
  const browsers = [createPageBrowser(), createPageBrowser(), createPageBrowser()];
  const pages = await Promise.all(browsers.map(async (browser) => await logInAt(browser, world.url, "mapped")));
  expect(pages.map(({ text }) => text.includes("You are <strong>twin</strong>"))).toEqual([true, true, true]);
  expect(await userNamed("twin-2")).toBeUndefined();
});

test("logging out at the provider ends the browser here, and the app that was connected in it; others stay", async () => {
  const liz = { sub: "s-liz", preferred_username: "liz", groups: ["engineering"] };
  const { browser } = await logIn("mapped", liz);
  const { browser: other } = await logIn("mapped", liz);
  const app = await connectApp(world.url, browser);
  const kept = await connectApp(world.url, other);
  const call = async (token: string): Promise<number> =>
    (await get(`${world.url}/api/servers`, { authorization: `Bearer ${token}` })).status;
  expect([await statusOf(browser), await call(app.access_token), await call(kept.access_token)]).toEqual([
    200, 200, 200,
  ]);
  // The provider asks; its page has a form that says yes.
  const page = await browser.open(`${idp.issuer}/session/end?client_id=toolyard-mapped`);
  await browser.submit(page, { logout: "yes" });
  await expect.poll(async () => await statusOf(browser), { timeout: 60_000 }).toBe(401);
  expect([await call(app.access_token), await statusOf(other), await call(kept.access_token)]).toEqual([401, 200, 200]);
  expect(await audit()).toMatch(/"action":"logout.provider".*"object":"liz".*"sessions\\":1.*"apps\\":1/);
});

test("FAULT 102: an answer of the provider counts once, in the browser that asked, at the provider that was asked", async () => {
  const mia = { sub: "s-mia", preferred_username: "mia", groups: ["engineering"] };
  const begin = async (browser: PageBrowser, name: string): Promise<URL> => {
    idp.person = mia;
    const page = await browser.submit(await browser.open(`${world.url}/auth/login`), {}, `/auth/oidc/${name}/start`);
    return new URL((await goOn(browser, page)).url);
  };
  const stops = (): PageBrowser => createPageBrowser({ stopAt: `${world.url}/auth/oidc/` });
  const browser = stops();
  const answer = await begin(browser, "mapped");
  const expectRefused = async (where: PageBrowser, url: URL | string, code = "LOGIN_EXPIRED"): Promise<void> => {
    const page = await where.open(String(url));
    expect([page.status >= 400, page.text.includes(`<code>${code}</code>`), where.cookies.has("ty_session")]).toEqual([
      true,
      true,
      false,
    ]);
  };
  // Somebody else's browser: with no cookie, and with one of a login of its own.
  await expectRefused(createPageBrowser(), answer);
  const victim = stops();
  const own = await begin(victim, "mapped");
  await expectRefused(victim, answer);
  // A code of one login with the state of another: the proof key does not fit.
  const injected = new URL(own);
  injected.searchParams.set("code", answer.searchParams.get("code") ?? "");
  await expectRefused(victim, injected, "PROVIDER_REFUSED");
  const bent = (change: (query: URLSearchParams) => void): URL => {
    const url = new URL(answer);
    change(url.searchParams);
    return url;
  };
  await expectRefused(
    browser,
    bent((query) => query.delete("state")),
  );
  await expectRefused(
    browser,
    bent((query) => query.append("state", query.get("state") ?? "")),
  );
  await expectRefused(
    browser,
    bent((query) => query.set("state", "x".repeat(43))),
  );
  await expectRefused(browser, answer.href.replace("/mapped/", "/closed/"));
  // Another issuer's answer, with everything else right (RFC 9207): it uses up the login.
  const mixed = stops();
  const url = await begin(mixed, "mapped");
  url.searchParams.set("iss", "https://evil.example");
  await expectRefused(mixed, url, "PROVIDER_ANSWER_INVALID");
  url.searchParams.set("iss", idp.issuer);
  await expectRefused(mixed, url);
  // Used once, it is used up, also with a cookie that was kept.
  const fresh = createPageBrowser({ stopAt: `${world.url}/auth/oidc/` });
  const good = await begin(fresh, "mapped");
  const [pair] = [...fresh.cookies].filter(([name]) => name.startsWith("ty_login_"));
  const follows = createPageBrowser();
  for (const [name, value] of fresh.cookies) follows.cookies.set(name, value);
  expect((await follows.open(good.href)).text).toContain("You are <strong>mia</strong>");
  const replayed = createPageBrowser();
  replayed.cookies.set(...(pair as [string, string]));
  await expectRefused(replayed, good);
});

test("after the login people come to a page of this gateway, whatever the form said", async () => {
  idp.person = { sub: "s-mia", groups: ["engineering"] };
  for (const next of [
    "//evil.example",
    "https://evil.example/account",
    "/\\evil.example",
    "/account?x=//evil.example",
  ]) {
    const browser = createPageBrowser();
    const page = await browser.open(`${world.url}/auth/login`);
    const end = await goOn(browser, await browser.submit(page, { next }, "/auth/oidc/mapped/start"));
    expect(end.url).toBe(`${world.url}/account`);
  }
});

test("a provider that says no, is away, or is none, is said on the page, and it works again by itself", async () => {
  idp.refuses = true;
  const { page } = await logIn("mapped", { sub: "s-mia" });
  expect([page.status, page.text.includes("PROVIDER_REFUSED"), page.text.includes("access_denied")]).toEqual([
    403,
    true,
    true,
  ]);
  idp.refuses = false;
  const stopped = createPageBrowser({ stopAt: `${world.url}/auth/oidc/` });
  idp.person = { sub: "s-mia", groups: ["engineering"] };
  const answer = await logInAt(stopped, world.url, "mapped");
  const follows = createPageBrowser();
  for (const [name, value] of stopped.cookies) follows.cookies.set(name, value);
  idp.isDown = true;
  const down = await follows.open(answer.url);
  expect([down.status, down.text.includes("PROVIDER_UNREACHABLE")]).toEqual([502, true]);
  idp.isDown = false;
  expect((await logIn("mapped", idp.person)).page.text).toContain("You are <strong>mia</strong>");
  const other = createPageBrowser();
  const login = await other.open(`${world.url}/auth/login`);
  const bent = { ...login, text: login.text.replaceAll("/auth/oidc/closed/", "/auth/oidc/none/") };
  expect((await other.submit(bent, {}, "/auth/oidc/none/start")).status).toBe(404);
  expect((await other.open(`${world.url}/auth/oidc/mapped/start`)).status).toBe(405);
});

test("the provider's new keys are read as soon as something is signed with them", async () => {
  const person = { sub: "s-mia", groups: ["engineering"] };
  expect((await logIn("mapped", person)).page.status).toBe(200);
  const before = idp.keyRequests;
  idp.serve(names);
  expect((await logIn("mapped", person)).page.text).toContain("You are <strong>mia</strong>");
  expect((await logIn("mapped", person)).page.status).toBe(200);
  expect(idp.keyRequests).toBe(before + 1);
});

test("no secret of a login stands in the data directory or in the log", async () => {
  const { stdout } = await world.command("audit", "--json");
  const log = world.gateway.stderr();
  for (const text of [clientSecret, "code_verifier", "id_token"]) expect([stdout, log].join("")).not.toContain(text);
});

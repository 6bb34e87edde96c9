import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { get } from "../harness/rest.ts";
import { callbackUrl, connectApp } from "./app-client.ts";
import {
  clientSecret,
  forgetProvider,
  goOn,
  logInAt,
  startIdentityProvider,
  type IdentityProvider,
} from "./identity-provider.ts";
import { createPageBrowser, type PageBrowser, type SeenPage } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

let idp: IdentityProvider;
let world: TeamWorld;
/** Of the first admin. */
let token: string;
/** Codes and states that went through a browser. */
const seenCodes: string[] = [];
/** What the first admin saw, without a team, without a name, and with both. */
const firstLogin: SeenPage[] = [];
/** The code of another link for the first admin. */
let leftOver: string;
let names: readonly { readonly gateway: string; readonly name: string; readonly id: string }[];

beforeAll(async () => {
  idp = await startIdentityProvider();
  const port = await freePort();
  const gateway = `http://127.0.0.1:${port}`;
  names = ["closed", "mapped", "domain", "mail"].map((name) => ({ gateway, name, id: `toolyard-${name}` }));
  idp.serve(names);
  const client = { issuer: idp.issuer, clientSecret: "${IDP_SECRET:-" + clientSecret + "}" };
  const providers = {
    closed: { ...client, clientId: "toolyard-closed", title: "Closed & Co" },
    mapped: {
      ...client,
      clientId: "toolyard-mapped",
      scopes: ["openid", "profile", "email", "groups"],
      provision: "groups",
      groups: { engineering: { red: "member" }, leads: { red: "admin", blue: "member" } },
      adminGroups: ["it"],
    },
    domain: {
      ...client,
      clientId: "toolyard-domain",
      provision: "domains",
      domains: ["example.com"],
      teams: { all: "member" },
    },
    mail: { ...client, clientId: "toolyard-mail", linkByEmail: true },
  };
  world = await startTeamWorld({ settings: { auth: { providers } }, port });
  const [{ link }, { link: other }] = [await world.ask("user", "link"), await world.ask("user", "link")];
  idp.person = { sub: "c-ann", preferred_username: "elsewhere" };
  const about = { name: "ann", team: "red" };
  firstLogin.push(
    await useLink(link.split("#")[1], { ...about, team: "" }),
    await useLink(link.split("#")[1], { ...about, name: "" }),
    await useLink(link.split("#")[1], about),
  );
  leftOver = other.split("#")[1];
  token = (await world.ask("token", "new", "--user", "ann", "--team", "red")).made.token;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
const rest = async (method: string, path: string, body?: unknown): Promise<any> => {
  const answer = await fetch(`${world.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
};
interface SeenUser {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly teams: readonly { readonly team: string; readonly role: string; readonly membership: string }[];
}
const userNamed = async (name: string): Promise<SeenUser | undefined> =>
  (await rest("GET", "/users")).users.find((user: SeenUser) => user.name === name);
/** The role of somebody in each of their teams. */
const rolesOf = async (name: string): Promise<Record<string, string>> =>
  Object.fromEntries(((await userNamed(name))?.teams ?? []).map(({ team, role }) => [team, role]));
/** The newest entry of an action, as text. */
const audited = async (action: string): Promise<string> => {
  const { entries } = await rest("GET", "/audit?limit=200");
  return JSON.stringify(entries.find((entry: { action: string }) => entry.action === action));
};
const logIn = async (name: string, person: IdentityProvider["person"], browser = createPageBrowser()) => {
  idp.person = person;
  return { browser, page: await logInAt(browser, world.url, name) };
};
const statusOf = async (browser: PageBrowser): Promise<number> =>
  (await get(`${world.url}/api/servers`, { cookie: `ty_session=${browser.cookies.get("ty_session") ?? ""}` })).status;

/** Takes a link with the account that is logged in at a provider. */
async function useLink(
  code: string,
  about: Readonly<Record<string, string>> = {},
  browser = createPageBrowser(),
  name = "closed",
): Promise<SeenPage> {
  const page = await browser.open(`${world.url}/setup`);
  expect(page.text).toContain(`formaction="/auth/oidc/${name}/start" formnovalidate`);
  const bent = { ...page, text: page.text.replace('action="/setup"', `action="/auth/oidc/${name}/start"`) };
  const way = await browser.submit(bent, { code: `${world.url}/setup#${code}`, ...about });
  return way.status === 200 ? await goOn(browser, way) : way;
}

test("the first admin comes in with an account elsewhere, and a form that lacks a name leaves the link good", () => {
  const [unteamed, unnamed, page] = firstLogin;
  for (const refused of [unteamed, unnamed])
    expect([refused?.status, refused?.text.includes("The code is still good.")]).toEqual([400, true]);
  expect(page?.text).toContain("You are <strong>ann</strong>, an admin");
});

test("a link for the first admin that was left over gives nobody a team, whether they are known or not", async () => {
  const ned = { sub: "s-ned", preferred_username: "ned", groups: ["engineering"] };
  await logIn("mapped", ned);
  for (const person of [ned, { ...ned, sub: "s-none" }]) {
    idp.person = person;
    const page = await useLink(leftOver, { name: "boss", team: "red" }, createPageBrowser(), "mapped");
    expect([page.status, page.text.includes("There is an admin already.")]).toEqual([409, true]);
  }
  expect([await rolesOf("ned"), await userNamed("boss")]).toEqual([{ red: "member" }, undefined]);
});

test("the login page has a button for each provider, and a stranger's account there opens nothing", async () => {
  const { page, browser } = await logIn("closed", { sub: "stranger", preferred_username: "ann", email: "ann@x.test" });
  expect([page.status, page.text.includes("<code>IDENTITY_UNKNOWN</code>")]).toEqual([403, true]);
  expect(page.text).toContain("You have no account here.");
  const ours = [...browser.cookies.keys()].filter((name) => /^ty_(?:login|session)/.test(name));
  expect(ours).toEqual([]);
  expect((await createPageBrowser().open(`${world.url}/auth/login?next=/account`)).text).toContain(
    "Log in with Closed &#38; Co",
  );
  const entry = await audited("login");
  expect([entry.includes('"denied"'), entry.includes("IDENTITY_UNKNOWN")]).toEqual([true, true]);
});

test("groups give an account, teams and roles, and take back what they gave and nothing else", async () => {
  const eve = { sub: "s-eve", preferred_username: "Eve.Müller@corp.test", groups: ["engineering"] };
  const { page, browser } = await logIn("mapped", eve);
  expect(page.text).toContain("You are <strong>eve.muller</strong>");
  expect([await rolesOf("eve.muller"), (await userNamed("eve.muller"))?.role]).toEqual([{ red: "member" }, "user"]);
  expect(await audited("user.provision")).toContain('"actor":"eve.muller"');
  expect(await statusOf(browser)).toBe(200);

  await logIn("mapped", { ...eve, groups: ["engineering", "leads", "it"] });
  expect(await rolesOf("eve.muller")).toEqual({ red: "admin", blue: "member" });
  expect((await userNamed("eve.muller"))?.role).toBe("admin");
  // With another role, people log in again.
  expect(await statusOf(browser)).toBe(401);

  await rest("POST", "/teams", { slug: "green" });
  await rest("POST", "/teams/green/members", { user: "eve.muller" });
  const { browser: last } = await logIn("mapped", { ...eve, groups: ["other"] });
  expect([await rolesOf("eve.muller"), (await userNamed("eve.muller"))?.role]).toEqual([{ green: "member" }, "user"]);
  expect(await audited("user.groups")).toContain("blue");
  expect(await statusOf(last)).toBe(200);
  const { page: stranger } = await logIn("mapped", { sub: "s-none", preferred_username: "none", groups: ["other"] });
  expect(stranger.text).toContain("IDENTITY_UNKNOWN");
});

test("what somebody here changed by hand is theirs", async () => {
  const ike = { sub: "s-ike", preferred_username: "ike", groups: ["leads"] };
  await logIn("mapped", ike);
  const blue = (await userNamed("ike"))?.teams.find(({ team }) => team === "blue");
  await rest("PATCH", `/teams/blue/members/${blue?.membership}`, { role: "admin" });
  await logIn("mapped", ike);
  expect(await rolesOf("ike")).toEqual({ red: "admin", blue: "admin" });
  await logIn("mapped", { ...ike, groups: [] });
  expect(await rolesOf("ike")).toEqual({ blue: "admin" });
});

test("a verified address of a domain gives an account; another one, or one that nobody verified, does not", async () => {
  const person = { sub: "d-1", preferred_username: "dan", email: "Dan@Example.com", email_verified: true };
  expect((await logIn("domain", person)).page.text).toContain("You are <strong>dan</strong>");
  expect(await rolesOf("dan")).toEqual({ all: "member" });
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
  const { page } = await logIn("mail", { ...same, sub: "m-3", email_verified: true });
  expect(page.text).toContain("You are <strong>dan</strong>");
  await logIn("domain", { ...same, sub: "d-7", preferred_username: "double", email_verified: true });
  expect((await logIn("mail", { ...same, sub: "m-4", email_verified: true })).page.status).toBe(403);
});

test("whoever is disabled or removed stays out, whatever the provider says, until somebody invites them", async () => {
  const fay = { sub: "s-fay", preferred_username: "fay", groups: ["engineering"] };
  const { browser } = await logIn("mapped", fay);
  const id = (await userNamed("fay"))?.id ?? "";
  await rest("POST", `/users/${id}/disable`);
  expect(await statusOf(browser)).toBe(401);
  const { page } = await logIn("mapped", fay);
  expect([page.status, page.text.includes("Your account here is disabled.")]).toEqual([403, true]);
  await rest("POST", `/users/${id}/enable`);
  await rest("DELETE", `/users/${id}`);
  const { page: removed } = await logIn("mapped", fay);
  expect([removed.status, removed.text.includes("Your account here was removed,")]).toEqual([403, true]);
  expect(await userNamed("fay")).toBeUndefined();
  const { secret } = await rest("POST", "/teams/red/invites", { role: "admin" });
  const invited = createPageBrowser();
  const login = await invited.open(`${world.url}/auth/login?next=/invite/${secret}`);
  const again = await goOn(invited, await invited.submit(login, {}, "/auth/oidc/mapped/start"));
  expect(again.text).toContain("You are <strong>fay</strong>");
  // What the invitation gave is not the groups' to take.
  await logIn("mapped", { ...fay, groups: [] });
  expect(await rolesOf("fay")).toEqual({ red: "admin" });
});

test("somebody who is logged in links an account, which then logs them in; another user's stays theirs", async () => {
  const link = async (browser: PageBrowser, sub: string) => {
    const account = await browser.open(`${world.url}/account`);
    idp.person = { sub };
    forgetProvider(browser);
    return await goOn(browser, await browser.submit(account, {}, "/auth/oidc/closed/start?link"));
  };
  const { browser } = await logIn("mapped", { sub: "s-gus", preferred_username: "gus", groups: ["engineering"] });
  expect((await link(browser, "c-gus")).text).toContain("You are <strong>gus</strong>");
  expect(await audited("identity.link")).toContain('"actor":"gus"');
  expect((await logIn("closed", { sub: "c-gus" })).page.text).toContain("You are <strong>gus</strong>");

  const { browser: other } = await logIn("mapped", {
    sub: "s-hal",
    preferred_username: "hal",
    groups: ["engineering"],
  });
  const refused = await link(other, "c-gus");
  expect([refused.status, refused.text.includes("PEOPLE_CONFLICT")]).toEqual([409, true]);
  // A form of before the login links nothing, and neither does one that another session has begun.
  const stranger = createPageBrowser();
  const page = await stranger.open(`${world.url}/auth/login?next=/account`);
  const bent = { ...page, text: page.text.replaceAll("/auth/oidc/closed/start", "/auth/oidc/closed/start?link") };
  idp.person = { sub: "c-new" };
  const unlinked = await goOn(stranger, await stranger.submit(bent, {}, "closed/start?link"));
  expect(unlinked.text).toContain("IDENTITY_UNKNOWN");
  forgetProvider(other);
  const begun = await other.submit(await other.open(`${world.url}/account`), {}, "/auth/oidc/closed/start?link");
  const { browser: gus } = await logIn("closed", { sub: "c-gus" });
  other.cookies.set("ty_session", gus.cookies.get("ty_session") ?? "");
  expect((await goOn(other, begun)).text).toContain("LOGIN_EXPIRED");
});

test("a linked account is removed on the page, unless it is the last way in, and a reset takes it, too", async () => {
  await rest("POST", "/users", { name: "pam", team: "red" });
  const browser = await world.logIn("pam");
  const link = async (sub: string, given: string): Promise<SeenPage> => {
    const account = await browser.open(`${world.url}/account`);
    idp.person = { sub, email: `${sub}@x.test` };
    forgetProvider(browser);
    const way = await browser.submit(account, { password: given }, "/auth/oidc/closed/start?link");
    return way.status === 200 ? await goOn(browser, way) : way;
  };
  // Whoever finds the browser open does not know the password.
  const refused = await link("c-thief", "not the password");
  expect([refused.status, refused.text.includes("<code>UNAUTHORIZED</code>")]).toEqual([401, true]);
  expect((await link("c-pam", password)).text).toContain("c-pam@x.test");
  const { browser: there } = await logIn("closed", { sub: "c-pam" });
  const removed = await browser.submit(await browser.open(`${world.url}/account`), {}, 'value="login.remove"');
  expect([removed.status, removed.text.includes('value="login.remove"')]).toEqual([200, false]);
  expect(await audited("identity.remove")).toContain('"actor":"pam"');
  expect([await statusOf(browser), await statusOf(there)]).toEqual([200, 401]);
  expect((await logIn("closed", { sub: "c-pam" })).page.text).toContain("this way into it was taken away");
  // Taken away is not for ever.
  expect((await link("c-pam", password)).text).toContain("c-pam");
  expect((await logIn("closed", { sub: "c-pam" })).page.text).toContain("You are <strong>pam</strong>");
  await world.ask("user", "reset", "pam");
  expect((await logIn("closed", { sub: "c-pam" })).page.status).toBe(403);
  expect(await audited("user.logins.end")).toMatch(/accounts\\*":1/);

  const { browser: only } = await logIn("mapped", {
    sub: "s-quin",
    preferred_username: "quin",
    groups: ["engineering"],
  });
  const last = await only.submit(await only.open(`${world.url}/account`), {}, 'value="login.remove"');
  expect([last.status, last.text.includes("This is your only way in")]).toEqual([409, true]);
  // What quin came with stays: the provider lets quin in, and everything else has ended.
  await world.ask("user", "reset", "quin");
  expect(await statusOf(only)).toBe(401);
  const { browser: again, page: back } = await logIn("mapped", { sub: "s-quin", groups: ["engineering"] });
  expect(back.text).toContain("You are <strong>quin</strong>");
  expect(await statusOf(again)).toBe(200);
  // Another one's is nobody's business.
  const page = await again.open(`${world.url}/account`);
  expect((await again.submit(page, { id: "0".repeat(16) }, 'value="login.remove"')).status).toBe(403);
});

test("a link for an account and an invitation are taken with an account elsewhere, once", async () => {
  await rest("POST", "/users", { name: "jo", team: "red" });
  const { link } = await world.ask("user", "link", "jo");
  const take = async (sub: string): Promise<SeenPage> => {
    idp.person = { sub, preferred_username: sub.replace("c-", "") };
    return await useLink(link.split("#")[1]);
  };
  // What comes to nothing leaves the link good.
  expect((await take("c-ann")).text).toContain("PEOPLE_CONFLICT");
  await world.ask("user", "disable", "jo");
  expect((await take("c-somebody")).text).toContain("Your account here is disabled.");
  await world.ask("user", "enable", "jo");
  expect((await take("c-somebody")).text).toContain("You are <strong>jo</strong>");
  expect((await take("c-thief")).text).toContain("LOGIN_EXPIRED");

  const { secret } = await rest("POST", "/teams/red/invites", { role: "member" });
  const accept = async (sub: string) => {
    const browser = createPageBrowser();
    idp.person = { sub, preferred_username: sub.replace("c-", "") };
    const invitation = await browser.open(`${world.url}/invite/${secret}`);
    const [, href = ""] = /href="([^"]*auth\/login[^"]*)"/.exec(invitation.text) ?? [];
    const page = await browser.open(href === "" ? `${world.url}/auth/login?next=/invite/${secret}` : world.url + href);
    return await goOn(browser, await browser.submit(page, {}, "/auth/oidc/closed/start"));
  };
  expect((await accept("c-kim")).text).toContain("You are <strong>kim</strong>");
  expect(await rolesOf("kim")).toEqual({ red: "member" });
  // Somebody who is known already is asked, and not simply put into a team.
  const more = await rest("POST", "/teams", { slug: "lilac" }).then(
    async () => await rest("POST", "/teams/lilac/invites", { role: "member" }),
  );
  const known = createPageBrowser();
  idp.person = { sub: "c-kim" };
  const page = await known.open(`${world.url}/auth/login?next=/invite/${more.secret}`);
  const asked = await goOn(known, await known.submit(page, {}, "/auth/oidc/closed/start"));
  expect([asked.text.includes("Join as kim"), await rolesOf("kim")]).toEqual([true, { red: "member" }]);
  const late = await accept("c-leo");
  expect([late.status, await userNamed("leo")]).toEqual([404, undefined]);
});

test("an invitation that somebody takes whose address is known makes no second account: they are asked to join", async () => {
  const nia = { preferred_username: "nia", email: "nia@example.com", email_verified: true };
  await logIn("domain", { ...nia, sub: "d-nia" });
  const { secret } = await rest("POST", "/teams/red/invites", { role: "member" });
  const browser = createPageBrowser();
  idp.person = { ...nia, sub: "m-nia" };
  const page = await browser.open(`${world.url}/auth/login?next=/invite/${secret}`);
  const asked = await goOn(browser, await browser.submit(page, {}, "/auth/oidc/mail/start"));
  expect(asked.text).toContain("Join as nia");
  expect([await rolesOf("nia"), await userNamed("nia-2")]).toEqual([{ all: "member" }, undefined]);
});

test("three first logins of one account at the same moment make one user", async () => {
  idp.person = { sub: "s-twin", preferred_username: "twin", groups: ["engineering"] };
  const browsers = [createPageBrowser(), createPageBrowser(), createPageBrowser()];
  const pages = await Promise.all(browsers.map(async (browser) => await logInAt(browser, world.url, "mapped")));
  expect(pages.map(({ text }) => text.includes("You are <strong>twin</strong>"))).toEqual([true, true, true]);
  expect(await userNamed("twin-2")).toBeUndefined();
});

test("logging out at the provider ends the browser here, and the app that was connected in it; others stay", async () => {
  const liz = { sub: "s-liz", preferred_username: "liz", groups: ["engineering"] };
  const stops = (): PageBrowser => createPageBrowser({ stopAt: callbackUrl });
  const { browser } = await logIn("mapped", liz, stops());
  const { browser: other } = await logIn("mapped", liz, stops());
  const app = await connectApp(world.url, browser);
  const kept = await connectApp(world.url, other);
  const call = async (access: string): Promise<number> =>
    (await get(`${world.url}/api/servers`, { authorization: `Bearer ${access}` })).status;
  expect([await statusOf(browser), await call(app.access_token), await call(kept.access_token)]).toEqual([
    200, 200, 200,
  ]);
  // The provider asks; its page has a form that says yes.
  const page = await browser.open(`${idp.issuer}/session/end?client_id=toolyard-mapped`);
  await browser.submit(page, { logout: "yes" });
  await expect.poll(async () => await statusOf(browser), { timeout: 100_000 }).toBe(401);
  expect([await call(app.access_token), await statusOf(other), await call(kept.access_token)]).toEqual([401, 200, 200]);
  expect(await audited("logout.provider")).toContain('"object":"liz"');
});

test("logging out here shows the way to log out at the provider, too", async () => {
  const { browser } = await logIn("mapped", { sub: "s-max", preferred_username: "max", groups: ["engineering"] });
  const out = await browser.submit(await browser.open(`${world.url}/account`), {}, "/auth/logout");
  expect([out.status, await statusOf(browser), browser.cookies.has("ty_session")]).toEqual([200, 401, false]);
  const [, there = ""] = /not logged out at <a href="([^"]+)"/.exec(out.text) ?? [];
  const page = await browser.open(there.replaceAll("&#38;", "&"));
  expect(page.url).toContain(`${idp.issuer}/session/end`);
  const end = await browser.submit(page, { logout: "yes" });
  expect([end.url, end.text.includes("<h1>Log in</h1>")]).toEqual([`${world.url}/auth/login`, true]);
});

test("FAULT 102: an answer of the provider counts once, in the browser that asked, at the provider that was asked", async () => {
  const mia = { sub: "s-mia", preferred_username: "mia", groups: ["engineering"] };
  const begin = async (browser: PageBrowser, name: string): Promise<URL> => {
    idp.person = mia;
    const page = await browser.submit(
      await browser.open(`${world.url}/auth/login?next=/account`),
      {},
      `/auth/oidc/${name}/start`,
    );
    return new URL((await goOn(browser, page)).url);
  };
  const stops = (): PageBrowser => createPageBrowser({ stopAt: `${world.url}/auth/oidc/` });
  const browser = stops();
  const answer = await begin(browser, "mapped");
  seenCodes.push(...["code", "state"].map((name) => answer.searchParams.get(name) ?? "missing"));
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
    const page = await browser.open(`${world.url}/auth/login?next=/account`);
    const end = await goOn(browser, await browser.submit(page, { next }, "/auth/oidc/mapped/start"));
    expect(end.url).toBe(`${world.url}/ui/`);
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
  const login = await other.open(`${world.url}/auth/login?next=/account`);
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

test("nothing of a login stands in the data directory or in the log", async () => {
  const files = await readdir(join(world.directory, "data"), { recursive: true, withFileTypes: true });
  const written = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => await readFile(join(file.parentPath, file.name), "latin1")),
  );
  const all = [...written, world.gateway.stdout(), world.gateway.stderr()].join("");
  expect(all.length).toBeGreaterThan(10_000);
  for (const text of [clientSecret, ...seenCodes]) expect(all.includes(text)).toBe(false);
});

test("FAULT 101: a login is as old as it is at the provider, which asks again whoever is logged in here", async () => {
  const una = { sub: "s-una", preferred_username: "una", groups: ["it", "engineering"] };
  const look = async (browser: PageBrowser): Promise<unknown[]> => {
    const cookie = `ty_session=${browser.cookies.get("ty_session") ?? ""}`;
    const { status, json } = await get(`${world.url}/api/system/db`, { cookie });
    return [status, json.code];
  };
  idp.loginAgeS = 3_600;
  const { browser } = await logIn("mapped", una);
  expect(await look(browser)).toEqual([403, "LOGIN_NOT_RECENT"]);
  // Logged in there and not here: nobody is asked, and nothing is newer.
  idp.loginAgeS = 0;
  browser.cookies.delete("ty_session");
  await logIn("mapped", una, browser);
  expect(await look(browser)).toEqual([403, "LOGIN_NOT_RECENT"]);
  await logIn("mapped", una, browser);
  expect(await look(browser)).toEqual([200, undefined]);
});

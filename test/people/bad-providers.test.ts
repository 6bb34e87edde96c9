import { generateKeyPair } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { badClient, logoutClaims, rightClaims, startBadProvider, type BadProvider } from "./bad-provider.ts";
import { createPageBrowser, type PageBrowser, type SeenPage } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let bad: BadProvider;
let world: TeamWorld;
beforeAll(async () => {
  bad = await startBadProvider();
  const provider = {
    issuer: bad.issuer,
    clientId: badClient,
    provision: "groups",
    groups: { staff: { red: "member" } },
  };
  const providers = {
    bad: provider,
    lying: { ...provider, issuer: issuerOf("lying") },
    plain: { ...provider, issuer: issuerOf("plain") },
  };
  world = await startTeamWorld({ settings: { auth: { passwords: false, providers } } });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await bad[Symbol.asyncDispose]();
});

const issuerOf = (name: string): string => (name === "bad" ? bad.issuer : `${bad.issuer}/${name}`);

/** Begins a login, and comes back as the provider would send the browser. */
async function logIn(browser: PageBrowser = createPageBrowser(), name = "bad"): Promise<SeenPage> {
  const { page, answer } = await beginLogin(browser, name);
  return answer === "" ? page : await browser.open(answer);
}

/** The address that the provider would send the browser back to; empty where it is not sent to the provider at all. */
async function beginLogin(browser: PageBrowser, name = "bad"): Promise<{ page: SeenPage; answer: string }> {
  const page = await browser.submit(
    await browser.open(`${world.url}/auth/login?next=/account`),
    {},
    `/auth/oidc/${name}/start`,
  );
  const [, href] = /<meta http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.text) ?? [];
  if (href === undefined) return { page, answer: "" };
  const asked = new URL(href.replaceAll("&#38;", "&")).searchParams;
  expect([asked.get("code_challenge_method"), asked.get("response_type")]).toEqual(["S256", "code"]);
  bad.nonce = asked.get("nonce") ?? "";
  const query = new URLSearchParams({ code: "a code", state: asked.get("state") ?? "", iss: issuerOf(name) });
  return { page, answer: `${asked.get("redirect_uri")}?${query.toString()}` };
}

async function logOut(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<Response> {
  return await sendLogout(await bad.sign(claims, header));
}

async function sendLogout(token: string): Promise<Response> {
  const body = new URLSearchParams({ logout_token: token });
  return await fetch(`${world.url}/auth/oidc/bad/logout`, { method: "POST", body });
}

const isLoggedIn = async (browser: PageBrowser): Promise<boolean> =>
  (await get(`${world.url}/api/servers`, { cookie: `ty_session=${browser.cookies.get("ty_session") ?? ""}` }))
    .status === 200;

const nowS = (): number => Math.floor(Date.now() / 1_000);

test("a good answer logs in, also within a minute between the clocks", async () => {
  expect((await logIn()).text).toContain("You are <strong>bea</strong>");
  for (const off of [-45, 45]) {
    bad.idToken = async (claims) => await bad.sign({ ...claims, iat: nowS() + off, nbf: nowS() + off });
    expect((await logIn()).text).toContain("You are <strong>bea</strong>");
  }
  bad.idToken = async (claims) => await bad.sign({ ...claims, iat: nowS() - 100, exp: nowS() - 30 });
  expect((await logIn()).text).toContain("You are <strong>bea</strong>");
});

test("FAULT 100: an ID token that is not the provider's, not for us, not of now or not of this login logs nobody in", async () => {
  const other = await generateKeyPair("ES256");
  const secret = new TextEncoder().encode(badClient.padEnd(32, "x"));
  const unsigned = (claims: object): string =>
    [{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") + ".";
  const answers: Record<string, BadProvider["idToken"]> = {
    "another issuer": async (claims) => await bad.sign({ ...claims, iss: "https://evil.example" }),
    "another audience": async (claims) => await bad.sign({ ...claims, aud: "somebody else" }),
    "another nonce": async (claims) => await bad.sign({ ...claims, nonce: "of another login" }),
    "no nonce": async ({ nonce: _nonce, ...claims }) => await bad.sign(claims),
    "no person": async ({ sub: _sub, ...claims }) => await bad.sign(claims),
    "another's key": async (claims) => await bad.sign(claims, {}, other.privateKey),
    "a key that is not published": async (claims) =>
      await bad.sign(claims, { kid: "../../etc/passwd" }, other.privateKey),
    "no signature": unsigned,
    "a signature with a secret": async (claims) => await bad.sign(claims, { alg: "HS256" }, secret),
    "made more than a minute from now": async (claims) => await bad.sign({ ...claims, iat: nowS() + 90 }),
    "expired more than a minute ago": async (claims) =>
      await bad.sign({ ...claims, iat: nowS() - 300, exp: nowS() - 90 }),
    "not valid yet": async (claims) => await bad.sign({ ...claims, nbf: nowS() + 90 }),
    "no token at all": () => "",
    "not a token": () => "a.b.c",
  };
  for (const [what, idToken] of Object.entries(answers)) {
    bad.idToken = idToken;
    const browser = createPageBrowser();
    const page = await logIn(browser);
    const isNamed = page.text.includes("<code>PROVIDER_ANSWER_INVALID</code>");
    expect([what, page.status, isNamed, browser.cookies.has("ty_session")]).toEqual([what, 502, true, false]);
  }
  bad.idToken = async (claims) => await bad.sign(claims);
  expect((await logIn()).status).toBe(200);
});

test("a token endpoint that fails, says no or answers too much is said on the page", async () => {
  const answers: readonly (readonly [BadProvider["answer"], string])[] = [
    [() => ({ status: 500, body: "oops" }), "PROVIDER_UNREACHABLE"],
    [() => ({ status: 400, body: JSON.stringify({ error: "invalid_grant" }) }), "PROVIDER_REFUSED"],
    [() => ({ status: 200, body: JSON.stringify({ error: "x".repeat(300 * 1024) }) }), "PROVIDER_UNREACHABLE"],
    [() => ({ status: 302, body: "" }), "PROVIDER_ANSWER_INVALID"],
    [() => ({ status: 200, body: "<html>" }), "PROVIDER_ANSWER_INVALID"],
  ];
  const right = bad.answer;
  for (const [answer, code] of answers) {
    bad.answer = answer;
    expect((await logIn()).text).toContain(`<code>${code}</code>`);
  }
  bad.answer = right;
  expect((await logIn()).status).toBe(200);
});

test("metadata of another issuer are refused before anybody is sent anywhere, and endpoints without TLS at their use", async () => {
  bad.metadata["/lying"] = { issuer: "https://evil.example" };
  const page = await logIn(createPageBrowser(), "lying");
  expect([page.status, page.text.includes("PROVIDER_ANSWER_INVALID")]).toEqual([502, true]);
  bad.metadata["/plain"] = { token_endpoint: "http://10.255.255.1/token" };
  expect((await logIn(createPageBrowser(), "plain")).text).toContain("PROVIDER_UNREACHABLE");
});

test("a logout token is checked as Back-Channel Logout 1.0 says, and counts once", async () => {
  const browser = createPageBrowser();
  await logIn(browser);
  const good = logoutClaims(bad);
  const events = good["events"] as object;
  const refused: Record<string, Record<string, unknown>> = {
    "with a nonce": { ...good, nonce: "n" },
    "without events": { ...good, events: undefined },
    "another event": { ...good, events: { "https://example.com/other": {} } },
    "an event that is no object": {
      ...good,
      events: Object.fromEntries(Object.keys(events).map((key) => [key, true])),
    },
    "without jti": { ...good, jti: undefined },
    "without exp": { ...good, exp: undefined },
    "without iat": { ...good, iat: undefined },
    "neither person nor session": { ...good, sub: undefined, sid: undefined },
    "another issuer": { ...good, iss: "https://evil.example" },
    "another audience": { ...good, aud: "somebody else" },
    expired: { ...good, iat: nowS() - 300, exp: nowS() - 90 },
    "too old": { ...good, iat: nowS() - 3_600 },
    "of the future": { ...good, iat: nowS() + 90 },
  };
  for (const [what, claims] of Object.entries(refused)) {
    const answer = await logOut(claims);
    expect([what, answer.status, answer.headers.get("cache-control")]).toEqual([what, 400, "no-store"]);
    expect(await answer.json()).toMatchObject({ error: "invalid_request" });
  }
  const other = await generateKeyPair("ES256");
  expect((await sendLogout(await bad.sign(good, {}, other.privateKey))).status).toBe(400);
  expect((await sendLogout(await bad.sign(rightClaims(bad)))).status).toBe(400);
  expect((await fetch(`${world.url}/auth/oidc/bad/logout`, { method: "POST", body: "{}" })).status).toBe(400);
  expect(await isLoggedIn(browser)).toBe(true);

  expect((await logOut(good)).status).toBe(200);
  expect(await isLoggedIn(browser)).toBe(false);
  // Once more, it would end what began since.
  const again = createPageBrowser();
  await logIn(again);
  expect((await logOut(good)).status).toBe(400);
  expect(await isLoggedIn(again)).toBe(true);
});

test("a logout of a session ends that one, one of a person ends all, and one of nobody ends nothing", async () => {
  const browserWith = async (sid: string | undefined): Promise<PageBrowser> => {
    const browser = createPageBrowser();
    bad.idToken = async (claims) => await bad.sign({ ...claims, sid });
    await logIn(browser);
    return browser;
  };
  const browsers = [await browserWith("one"), await browserWith("two"), await browserWith(undefined)];
  const states = async (): Promise<boolean[]> => await Promise.all(browsers.map(isLoggedIn));
  expect(await states()).toEqual([true, true, true]);
  expect((await logOut({ ...logoutClaims(bad), sid: "none", sub: undefined })).status).toBe(200);
  expect((await logOut({ ...logoutClaims(bad), sid: undefined, sub: "nobody" })).status).toBe(200);
  expect(await states()).toEqual([true, true, true]);
  expect((await logOut({ ...logoutClaims(bad), sid: "one", sub: undefined })).status).toBe(200);
  expect(await states()).toEqual([false, true, true]);
  expect((await logOut({ ...logoutClaims(bad), sid: undefined })).status).toBe(200);
  expect(await states()).toEqual([false, false, false]);
});

test("without passwords there is a button and no form for one, and the setup page takes an account elsewhere alone", async () => {
  const browser = createPageBrowser();
  const page = await browser.open(`${world.url}/auth/login?next=/account`);
  expect([page.text.includes("Log in with bad"), page.text.includes(`type="password"`)]).toEqual([true, false]);
  const setup = await browser.open(`${world.url}/setup`);
  expect([setup.text.includes("Use your account at bad"), setup.text.includes(`type="password"`)]).toEqual([
    true,
    false,
  ]);
});

test("logins that come back to no browser that began them, and logout tokens that are sent again, lock nobody out", async () => {
  bad.idToken = async (claims) => await bad.sign(claims);
  const stray = `${world.url}/auth/oidc/bad/callback?code=x&state=${"x".repeat(43)}`;
  for (let tries = 0; tries <= 60; tries += 1) expect((await fetch(stray)).status).toBe(400);
  expect((await logIn()).text).toContain("You are <strong>bea</strong>");
  const good = logoutClaims(bad);
  const answers = new Set<number>();
  for (let tries = 0; tries <= 60; tries += 1) answers.add((await logOut(good)).status);
  expect([...answers]).toEqual([200, 400]);
  expect((await logOut(logoutClaims(bad))).status).toBe(200);
});

test("FAULT K: while a provider hangs, thirty-two logins wait for it, and the next is told to come back, with the same answer", async () => {
  bad.idToken = async (claims) => await bad.sign(claims);
  let release = (): void => undefined;
  bad.hold = new Promise<void>((resolve) => (release = resolve));
  try {
    const begin = async () => {
      const browser = createPageBrowser();
      return { browser, answer: (await beginLogin(browser)).answer };
    };
    const begun = await Promise.all(Array.from({ length: 32 }, begin));
    const { browser: late, answer } = await begin();
    const { held: before, nonce } = bad;
    const waiting = begun.map(async (one) => await one.browser.open(one.answer));
    await until(() => bad.held === before + 32);
    const refused = await late.open(answer);
    expect([refused.status, Number(refused.headers["retry-after"]) > 0]).toEqual([503, true]);
    expect(refused.text).toContain("LOGIN_BUSY");
    // Only those at this provider wait.
    expect((await logIn(createPageBrowser(), "plain")).text).not.toContain("LOGIN_BUSY");
    bad.nonce = nonce;
    release();
    // Each of them has a nonce of its own, and this provider names the last one: answered, and not logged in.
    expect((await Promise.all(waiting)).map(({ text }) => text.includes("PROVIDER_ANSWER_INVALID"))).toEqual(
      Array(32).fill(true),
    );
    expect((await late.open(answer)).text).toContain("You are <strong>bea</strong>");
  } finally {
    release();
  }
});

test("whoever sends too many false logout tokens is told to wait, and people behind the same address still log in", async () => {
  const other = await generateKeyPair("ES256");
  const forged = await bad.sign(logoutClaims(bad), {}, other.privateKey);
  let last = await sendLogout(forged);
  for (let tries = 0; tries <= 60 && last.status === 400; tries += 1) last = await sendLogout(forged);
  expect([last.status, Number(last.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await last.json()).toMatchObject({ error: "temporarily_unavailable" });
  expect((await logIn()).text).toContain("You are <strong>bea</strong>");
});

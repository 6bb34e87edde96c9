import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { get, post } from "../harness/rest.ts";
import { createPageBrowser } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
beforeAll(async () => {
  world = await startTeamWorld();
});
afterAll(async () => await world[Symbol.asyncDispose]());

const login = async (name: string, given: string, browser = createPageBrowser()) =>
  await browser.submit(await browser.open(`${world.url}/auth/login?next=/account`), { name, password: given });
const cookieOf = (browser: { readonly cookies: ReadonlyMap<string, string> }): string =>
  `ty_session=${browser.cookies.get("ty_session") ?? ""}`;

test("the first admin is made with a link that is good once; before, nothing is open", async () => {
  expect((await get(`${world.url}/api/servers`)).status).toBe(401);
  const { stdout, code } = await world.command("user", "link");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{43}\n$/)]);
  const browser = createPageBrowser();
  const page = await browser.open(stdout.trim());
  expect(page.text).toContain("first admin");
  const fields = { code: stdout.trim(), name: "ann", team: "red", password, again: password };
  const wrong = await browser.submit(page, { ...fields, code: "x".repeat(43) });
  expect([wrong.status, wrong.text.includes("This code is wrong, too old, or was used before.")]).toEqual([401, true]);
  const short = await browser.submit(wrong, { ...fields, password: "short", again: "short" });
  expect([short.status, short.text.includes("12 characters at least")]).toEqual([400, true]);
  const done = await browser.submit(short, fields);
  expect(done.text).toContain("You are <strong>ann</strong>, an admin.");
  const other = createPageBrowser();
  const again = await other.submit(await other.open(`${world.url}/setup`), { ...fields, name: "eve" });
  expect([again.status, again.text.includes("was used before")]).toEqual([401, true]);
  expect((await world.command("user", "link")).stderr).toContain("there is an admin already");
});

test("a wrong name and a wrong password are answered alike, and ten of them close the name for a while", async () => {
  await world.ask("user", "add", "bob", "--team", "red");
  await world.logIn("bob");
  const texts = await Promise.all(
    [
      ["bob", "not the password"],
      ["nobody", "not the password"],
      ["nobody", password],
    ].map(async ([name = "", given = ""]) => await login(name, given)),
  );
  const withoutForm = texts.map(({ status, text }) => [
    status,
    // The form has the name that was typed.
    text.replace(/name="(?:form|name)" value="\w+"/g, ""),
  ]);
  expect(withoutForm[0]?.[0]).toBe(401);
  expect(withoutForm[1]).toEqual(withoutForm[0]);
  expect(withoutForm[2]).toEqual(withoutForm[0]);
  expect((await login("bob", password)).text).toContain("You are <strong>bob</strong>");
  await Promise.all(Array.from({ length: 10 }, async () => await login("bob", "wrong again")));
  const closed = await login("bob", password);
  expect([closed.status, Number(closed.headers["retry-after"])]).toEqual([429, expect.any(Number)]);
  expect((await login("ann", password)).status).toBe(200);
  const { stdout } = await world.command("audit", "--json");
  expect(stdout).toMatch(/"actor":"unknown".*"action":"login".*"object":"bob".*"outcome":"denied"/);
  expect(stdout).not.toContain(password);
});

test("a form is taken from our own page in the same browser alone", async () => {
  const send = async (headers: Record<string, string>, body: string): Promise<number> =>
    await new Promise((resolve, reject) => {
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const request = httpRequest(
        `${world.url}/auth/login`,
        { method: "POST", headers: { ...type, ...headers } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  const browser = createPageBrowser();
  const page = await browser.open(`${world.url}/auth/login?next=/account`);
  const token = /name="form" value="(\w+)"/.exec(page.text)?.[1] ?? "";
  const body = new URLSearchParams({ form: token, name: "ann", password, next: "/account" }).toString();
  const cookie = `ty_form=${browser.cookies.get("ty_form") ?? ""}`;
  const origin = world.url;
  expect(await send({ cookie }, body)).toBe(403);
  expect(await send({ cookie, origin: "https://evil.example" }, body)).toBe(403);
  expect(await send({ cookie, origin: "null" }, body)).toBe(403);
  expect(await send({ cookie, origin, "sec-fetch-site": "cross-site" }, body)).toBe(403);
  expect(await send({ origin }, body)).toBe(403);
  const other = createPageBrowser();
  await other.open(`${world.url}/auth/login?next=/account`);
  expect(await send({ cookie: `ty_form=${other.cookies.get("ty_form") ?? ""}`, origin }, body)).toBe(403);
  expect(await send({ cookie, origin }, body.replace("form=", "form=0"))).toBe(403);
  expect(await send({ cookie, origin, "content-type": "text/plain" }, body)).toBe(415);
  expect(await send({ cookie, origin }, body + "x".repeat(20_000))).toBe(413);
  expect(await send({ cookie, origin }, body)).toBe(303);
});

test("each login has a new session, which opens REST for reading and for our own pages, and ends with logging out", async () => {
  const browser = createPageBrowser();
  browser.cookies.set("ty_session", "a".repeat(43));
  await login("ann", password, browser);
  const first = cookieOf(browser);
  expect(first).not.toContain("aaaa");
  await login("ann", password, browser);
  const cookie = cookieOf(browser);
  expect(cookie).not.toBe(first);
  const statusWith = async (headers: Record<string, string>, path = "/api/servers"): Promise<number> =>
    (await get(`${world.url}${path}`, headers)).status;
  // The one that the browser had before is over.
  expect(await statusWith({ cookie: first })).toBe(401);
  expect(await statusWith({ cookie })).toBe(200);
  expect(await statusWith({ cookie, "x-toolyard-team": "blue" })).toBe(401);
  expect(await statusWith({ cookie, "sec-fetch-site": "cross-site" })).toBe(401);
  expect(await statusWith({ cookie, authorization: "Bearer nothing" })).toBe(401);
  expect((await post(`${world.url}/mcp`, {}, { cookie })).status).toBe(401);
  const out = await browser.submit(await browser.open(`${world.url}/account`), {}, "/auth/logout");
  expect(out.text).toContain("<h1>Log in</h1>");
  expect([await statusWith({ cookie }), browser.cookies.has("ty_session")]).toEqual([401, false]);
});

test("after the login people come to a page of this gateway, whatever the link said", async () => {
  const browser = createPageBrowser();
  const page = await browser.open(`${world.url}/auth/login?next=//evil.example`);
  const home = `${world.url}/ui/`;
  expect((await browser.submit(page, { name: "ann", password, next: "//evil.example" })).url).toBe(home);
  const again = createPageBrowser();
  const bare = await again.open(`${world.url}/auth/login`);
  expect((await again.submit(bare, { name: "ann", password })).url).toBe(home);
});

test("who is in no team comes to the page of their account, because the dashboard shows them nothing", async () => {
  await world.ask("user", "add", "ned", "--team", "red");
  await world.logIn("ned");
  const leave = await world.command("team", "members", "red", "--remove", "ned");
  expect([leave.code, leave.stderr]).toEqual([0, ""]);
  const browser = createPageBrowser();
  const page = await browser.open(`${world.url}/auth/login`);
  const account = await browser.submit(page, { name: "ned", password });
  expect([account.url, account.status]).toEqual([`${world.url}/account`, 200]);
});

test("another password, or another role, ends what was logged in before", async () => {
  await world.ask("user", "add", "cid", "--team", "red");
  const [one, two] = [await world.logIn("cid"), createPageBrowser()];
  await login("cid", password, two);
  const changed = "another long password";
  const account = await one.open(`${world.url}/account`);
  const wrong = await one.submit(
    account,
    { old: "not it at all", password: changed, again: changed },
    'value="password"',
  );
  expect(wrong.status).toBe(401);
  const done = await one.submit(wrong, { old: password, password: changed, again: changed }, 'value="password"');
  expect(done.text).toContain("You are <strong>cid</strong>.");
  expect((await two.open(`${world.url}/account`)).text).toContain("<h1>Log in</h1>");
  expect((await login("cid", password)).status).toBe(401);
  await world.ask("user", "role", "cid", "--role", "admin");
  expect((await one.open(`${world.url}/account`)).text).toContain("<h1>Log in</h1>");
});

test("on the account page people make and revoke their own tokens, and nobody else's", async () => {
  const ann = createPageBrowser();
  await login("ann", password, ann);
  const made = await ann.submit(await ann.open(`${world.url}/account`), { name: "my <script>" }, 'value="token.new"');
  const token = /ty_pat_[0-9a-f]{64}/.exec(made.text)?.[0] ?? "";
  expect(made.text).toContain("my &#60;script&#62;");
  const statusOf = async (): Promise<number> =>
    (await get(`${world.url}/api/servers`, { authorization: `Bearer ${token}` })).status;
  expect(await statusOf()).toBe(200);
  const id = /value="(p_[a-z0-9]+)"/.exec(made.text)?.[1] ?? "";
  await world.ask("user", "add", "dan", "--team", "red");
  const dan = await world.logIn("dan");
  const forged = await dan.submit(await dan.open(`${world.url}/account`), { task: "token.revoke", id }, "token.new");
  expect([forged.status, await statusOf()]).toEqual([403, 200]);
  await ann.submit(made, {}, `value="${id}"`);
  expect(await statusOf()).toBe(401);
});

test("FAULT 98: a form that comes after its session was taken away does nothing", async () => {
  await world.ask("team", "add", "white");
  await world.ask("user", "add", "fay", "--team", "white");
  const fay = await world.logIn("fay");
  const page = await fay.open(`${world.url}/account`);
  const form = /name="form" value="(\w+)"/.exec(page.text)?.[1] ?? "";
  const begin = async (name: string) => {
    const body = new URLSearchParams({ form, task: "token.new", name }).toString();
    const cookie = [...fay.cookies].map(([key, value]) => `${key}=${value}`).join("; ");
    const sent = httpRequest(`${world.url}/account`, {
      method: "POST",
      agent: false,
      headers: {
        ...{ cookie, origin: world.url, "sec-fetch-site": "same-origin", expect: "100-continue" },
        ...{ "content-type": "application/x-www-form-urlencoded", "content-length": String(body.length) },
      },
    });
    const answered = once(sent, "response") as Promise<[IncomingMessage]>;
    sent.flushHeaders();
    // The gateway asks for it when it knows who sends it.
    await once(sent, "continue");
    return async () => {
      sent.end(body);
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode;
    };
  };
  const names = async () =>
    (await world.ask("token", "list", "--user", "fay")).tokens.map(({ name }: { name: string }) => name);
  expect(await (await begin("in time"))()).toBeLessThan(400);
  expect(await names()).toContain("in time");
  const late = await begin("too late");
  await world.ask("user", "reset", "fay");
  expect(await late()).toBe(403);
  expect(await names()).toEqual([]);
});

test("sessions and passwords are there after a restart, and no page may be framed, kept or run a foreign script", async () => {
  const browser = createPageBrowser();
  await login("ann", password, browser);
  await world.restart("SIGKILL");
  const page = await browser.open(`${world.url}/account`);
  expect(page.text).toContain("You are <strong>ann</strong>");
  for (const path of ["/auth/login", "/setup", "/account", "/auth/nothing", "/oauth/device"]) {
    const { headers, text } = await browser.open(`${world.url}${path}`);
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-.*frame-ancestors 'none'$/,
    );
    expect(headers["cache-control"]).toContain("no-store");
    const scripts = [...text.matchAll(/<script>(.*?)<\/script>/gs)].map(
      ([, script = ""]) => `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}';`,
    );
    expect([path, text.split("<script").length - 1, scripts.length]).toEqual([
      path,
      scripts.length,
      path === "/setup" ? 1 : 0,
    ]);
    expect(String(headers["content-security-policy"]).match(/script-src[^;]*;/g) ?? []).toEqual(scripts);
    expect(text).toMatch(/^<!doctype html><html lang="en">.*<meta name="viewport"/);
    const labelled = [...text.matchAll(/<(?:input|select) id="([\w-]+)"/g)].map(([, id = ""]) =>
      text.includes(`<label for="${id}"`),
    );
    expect(labelled).not.toContain(false);
  }
});

import type { Browser, Page, Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, connectApp } from "../people/app-client.ts";
import type { PageBrowser } from "../people/page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "../people/team-world.ts";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  logInAs,
  openAsPerson,
  problemsOfLooks,
  settled,
  violations,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";

const pages = [
  ["/people", "People and teams"],
  ["/people?tab=users", "People and teams"],
  ["/people?tab=apps", "People and teams"],
  ["/teams/red", "red"],
  ["/teams/red?tab=servers", "red"],
  ["/teams/red?tab=invites", "red"],
  ["/teams/red?tab=secrets", "red"],
  ["/teams/red?tab=settings", "red"],
  ["/teams/nobody", "nobody"],
  ["/teams/red/servers/file%3Aown", "own"],
  ["/teams/red/servers/mail", "mail"],
  ["/teams/red/servers/gone", "Server"],
  ["/me", "ann"],
  ["/logged-in", "You are logged in again"],
] as const;

describe.skipIf(!hasBrowser)("people in the dashboard", () => {
  let browser: Browser;
  let world: TeamWorld;
  let ann: OpenDashboard;
  let bob: OpenDashboard;
  let annToken: string;
  /** Where she consents to apps. */
  let annPages: PageBrowser;

  const rest = async (method: string, path: string, body?: object, who?: Record<string, string>) => {
    const headers = { ...(who ?? { authorization: `Bearer ${annToken}` }), "content-type": "application/json" };
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`${world.url}${path}`, sent);
    const text = await answer.text();
    expect([path, answer.ok ? "" : text]).toEqual([path, ""]);
    return JSON.parse(text);
  };
  const open = async (name: string, path: string) =>
    await openAsPerson(browser, world.gateway, { path, name, password });
  const go = async (page: Page, path: string): Promise<void> => await visit(page, world.gateway, path);

  async function expectClean(page: Page): Promise<void> {
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
  }

  beforeAll(async () => {
    [browser, world] = await Promise.all([launchBrowser(), startTeamWorld()]);
    annToken = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
    await rest("POST", "/api/teams", { slug: "blue", title: "The blue ones" });
    for (const name of ["bob", "tim"]) await rest("POST", "/api/users", { name, team: "red" });
    await rest("POST", "/api/teams/blue/members", { user: "bob", role: "admin" });
    annPages = await world.logIn("ann", { stopAt: callbackUrl });
    await world.logIn("bob");
    // A program takes a login of the last minutes, and no token.
    const loggedIn = { cookie: `ty_session=${annPages.cookies.get("ty_session") ?? ""}` };
    const mail = {
      slug: "mail",
      entry: { ...badServer("--behaviours=canary,env"), scope: "user" },
      fields: [
        { path: "env.REGION", tier: "team", type: "enum", enum: ["eu", "us"], required: true },
        { path: "env.CANARY", tier: "user", type: "secret", required: true, description: "From your account page." },
        { path: "env.FIXED", tier: "template", default: "ours" },
      ],
    };
    await rest("POST", "/api/templates", mail, loggedIn);
    await rest("POST", "/api/teams/red/installations", { template: "mail" });
    ann = await open("ann", "/people?tab=users");
    bob = await open("bob", "/teams/red?tab=servers");
  });
  afterAll(async () => {
    await browser.close();
    await world[Symbol.asyncDispose]();
  });

  test("whoever is not logged in comes to the login, and back to the page that they asked for", async () => {
    expect(ann.page.url()).toBe(`${world.url}/ui/people?tab=users`);
    await ann.page.getByRole("table", { name: "Users" }).getByRole("button", { name: "tim" }).waitFor();
    expect(bob.page.url()).toBe(`${world.url}/ui/teams/red?tab=servers`);
    // He is in two teams, and works in the first of them until he chooses.
    await bob.page.getByRole("button", { name: "Work in red" }).click();
    await bob.page.getByRole("table", { name: "Servers" }).getByRole("link", { name: "mail" }).waitFor();
  });

  test("every page for an admin is complete, wide and at 320 pixels, light and dark, and axe finds nothing", async () => {
    const { page } = ann;
    for (const [path, heading] of pages) {
      await go(page, path);
      expect([path, await page.getByRole("heading", { level: 1 }).textContent()]).toEqual([path, heading]);
      expect([path, await problemsOfLooks(page)]).toEqual([path, []]);
      const current = page.locator("#navigation [aria-current=page]");
      const [place] = path === "/me" ? ["ann"] : path === "/logged-in" ? [] : ["People"];
      expect([path, await current.allTextContents()]).toEqual([path, place === undefined ? [] : [place]]);
    }
  }, 600_000);

  test("a member sees what a member may do, and the gateway refuses the rest", async () => {
    const { page } = bob;
    await go(page, "/people");
    expect(await page.getByRole("link", { name: "Users" }).count()).toBe(0);
    expect(await page.getByRole("navigation", { name: "Run" }).count()).toBe(0);
    await go(page, "/teams/red?tab=settings");
    for (const name of ["Invitations", "Secrets", "Settings"])
      expect(await page.getByRole("link", { name, exact: true }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "tim" }).count()).toBe(0);
    await expectClean(page);
    await go(page, "/settings");
    await page.getByText("The configuration is for admins of the gateway").waitFor();
    const status = await page.evaluate(
      async () => (await fetch("/api/teams/red/invites", { headers: { "X-Toolyard-Team": "red" } })).status,
    );
    expect(status).toBe(403);
  });

  test("a member's overview and clients show what is theirs, and nothing on them is refused", async () => {
    const { page } = bob;
    const refused: string[] = [];
    const listen = (response: Response): void => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    };
    page.on("response", listen);
    await go(page, "/");
    await page.getByText("No client has called a tool").waitFor();
    await expectClean(page);
    await page.getByRole("navigation", { name: "Use" }).getByRole("link", { name: "Clients" }).click();
    await page.getByText("No client has an open session.").waitFor();
    await page.getByRole("link", { name: "What to write into its settings" }).waitFor();
    expect(await page.getByRole("heading", { name: "Found on this machine" }).count()).toBe(0);
    await expectClean(page);
    page.off("response", listen);
    expect(refused).toEqual([]);
  });

  test("an invitation is made, shown once, and withdrawn", async () => {
    const { page } = ann;
    await go(page, "/teams/red?tab=invites");
    await page.getByText("No one is invited").waitFor();
    await page.getByRole("button", { name: "Invite somebody" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("For whom").fill("Dora, from support");
    await dialog.getByRole("button", { name: "Make an invitation" }).click();
    await dialog.getByText("It is shown only now.").waitFor();
    const link = String(await dialog.locator(".command code").textContent());
    expect((await fetch(link)).status).toBe(200);
    const secret = link.split("/invite/")[1] ?? "";
    await expectClean(page);
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByText("Dora, from support").waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("No one is invited").waitFor();
    const joined = await fetch(`${world.url}/api/invites/accept`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret, name: "dora" }),
    });
    expect(joined.status).toBeGreaterThanOrEqual(400);
    expect((await fetch(link)).status).toBeGreaterThanOrEqual(400);
  });

  test("a token is made with its limits, works as far as they go, and opens nothing once it is revoked", async () => {
    const { page } = bob;
    await go(page, "/me");
    await page.getByRole("button", { name: "Make a token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("What it is for").fill("my script");
    await dialog.getByLabel("May").selectOption("mcp:read");
    await dialog.getByRole("checkbox", { name: "own" }).check();
    await expectClean(page);
    await dialog.getByRole("button", { name: "Make it" }).click();
    await dialog.getByText("The token is made.").waitFor();
    const token = String(await dialog.locator(".command code").textContent());
    const status = async (path: string, method = "GET") => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return (await fetch(`${world.url}${path}`, { method, headers })).status;
    };
    expect([await status("/api/servers"), await status("/execute/own%3Aenv", "POST")]).toEqual([200, 403]);
    await dialog.getByRole("button", { name: "Close" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "my script" });
    expect(await row.textContent()).toContain("find tools and read resources, at own");
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    expect(await status("/api/servers")).toBe(401);
  });

  test("a server says which values it needs; each tier gives its own, and no secret is shown", async () => {
    const { page } = ann;
    await go(page, "/teams/red/servers/mail");
    const needs = page.getByText("Needs 2 values before it can be used");
    await needs.waitFor();
    const team = page.getByRole("region", { name: "Values of the team" });
    await team.getByLabel("env.REGION (needed)").selectOption("eu");
    await team.getByText("Each member has to give their own.").waitFor();
    expect(await team.getByLabel("env.FIXED").isDisabled()).toBe(true);
    await team.getByRole("button", { name: "Save" }).click();
    await page.getByText("Needs 1 value before it can be used").waitFor();
    await page.getByRole("link", { name: "Servers", exact: true }).first().click();
    const rows = page.getByRole("row", { name: /^mail/ });
    await rows.getByRole("link", { name: "Fill in values" }).waitFor();
    await go(bob.page, "/servers");
    await bob.page.getByRole("row", { name: /^mail/ }).getByRole("link", { name: "Fill in values" }).click();
    await bob.page.waitForURL(/\/connect\//);
    await bob.page.getByLabel("env.CANARY (required)").waitFor();
    // Nobody gives values for somebody else.
    await rows.nth(1).waitFor();
    expect(await rows.getByRole("link", { name: "Fill in values" }).count()).toBe(1);
    const { instances } = await rest("GET", "/api/teams/red/installations/mail/instances");
    expect(instances).toContainEqual(expect.objectContaining({ status: "awaiting_user_config", step: "fill-in" }));
    await go(bob.page, "/teams/red/servers/mail");
    await bob.page.getByText("Needs 1 value before it can be used").waitFor();
    const own = bob.page.getByRole("region", { name: "Your own values" });
    await own.getByLabel("env.CANARY (needed)").fill("s3cret-of-bob");
    await expectClean(bob.page);
    await own.getByRole("button", { name: "Save" }).click();
    await bob.page.getByText("before it can be used").waitFor({ state: "detached" });
    await own.getByText("and never shown").waitFor();
    await bob.page.reload();
    await own.getByText("and never shown").waitFor();
    expect(await own.getByLabel("env.CANARY (needed)").inputValue()).toBe("");
    expect(await bob.page.content()).not.toContain("s3cret-of-bob");
  });

  test("a server is installed from a template with a form of its fields, switched off, and uninstalled", async () => {
    const { page } = ann;
    await go(page, "/teams/blue?tab=servers");
    await page.getByRole("button", { name: "Install a server" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Template").selectOption({ label: "mail (made here)" });
    await dialog.getByLabel("Name in the team").fill("post");
    await dialog.getByLabel("env.REGION (needed)").selectOption("us");
    expect(await dialog.getByText("Each member has to give their own.").count()).toBe(1);
    await expectClean(page);
    await dialog.getByRole("button", { name: "Install", exact: true }).click();
    await page.getByRole("link", { name: "post" }).click();
    await page.getByRole("heading", { level: 1, name: "post" }).waitFor();
    // She is not in that team: what each member gives is not for her, and not for the team.
    expect(await page.locator(".note.warn").textContent()).toContain("env.CANARY, which each member gives");
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("button", { name: "Switch on" }).waitFor();
    await page.getByRole("button", { name: "Uninstall" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Uninstall" }).click();
    await page.getByRole("heading", { level: 1, name: "The blue ones" }).waitFor();
    await page.getByRole("link", { name: "post" }).waitFor({ state: "detached" });
  });

  test("two people change one thing: nothing is saved, both versions are shown, and one is chosen", async () => {
    const { page } = ann;
    await go(page, "/teams/blue?tab=settings");
    const title = page.getByLabel("Title");
    await title.fill("Mine");
    await rest("PATCH", "/api/teams/blue", { title: "Theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    const note = page.getByRole("alert");
    await note.getByText("Someone else has changed this").waitFor();
    expect(await note.textContent()).toContain("TitleTheirsMine");
    expect(await title.inputValue()).toBe("Mine");
    await expectClean(page);
    expect((await rest("GET", "/api/teams/blue")).title).toBe("Theirs");
    await note.getByRole("button", { name: "Save mine over theirs" }).click();
    await page.getByRole("heading", { level: 1, name: "Mine" }).waitFor();
    await title.fill("Once more");
    await rest("PATCH", "/api/teams/blue", { title: "The blue ones" });
    await page.getByRole("button", { name: "Save" }).click();
    await note.getByRole("button", { name: "Take theirs" }).click();
    await until(async () => (await title.inputValue()) === "The blue ones");
  });

  test("whoever types a value while the server is led elsewhere is told before it goes there", async () => {
    const fields = [{ path: "headers.X-Key", tier: "user", type: "secret" }];
    const entry = (host: string): object => ({ type: "http", url: `https://${host}/mcp`, scope: "user" });
    const made = await rest("POST", "/api/templates", { slug: "far", entry: entry("one.example"), fields });
    await rest("POST", "/api/teams/red/installations", { template: "far" });
    const { page } = bob;
    await go(page, "/teams/red/servers/far");
    const own = page.getByRole("region", { name: "Your own values" });
    await own.getByLabel("headers.X-Key").fill("bobs-key");
    await rest("PATCH", `/api/templates/${String(made.id)}`, { entry: entry("two.example"), fields });
    await own.getByRole("button", { name: "Save" }).click();
    const note = page.getByRole("alert");
    await note.getByText("where these go").waitFor();
    expect(await note.textContent()).toContain("where these gohttps://two.examplehttps://one.example");
    await expectClean(page);
    await note.getByRole("button", { name: "Save mine over theirs" }).click();
    await own.getByText("and never shown").waitFor();
    await rest("DELETE", "/api/teams/red/installations/far");
  });

  test("people see which apps and browsers act for them, and end one or all of them but this one", async () => {
    const { page } = ann;
    await connectApp(world.url, annPages);
    const other = await open("ann", "/me");
    await go(page, "/me");
    const apps = page.getByRole("list", { name: "Apps" });
    await apps.getByText("find tools and read resources, call tools").waitFor();
    await expectClean(page);
    await apps.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No app is connected.").waitFor();
    expect((await rest("GET", "/api/me/apps")).apps).toEqual([]);
    const browsers = page.getByRole("list", { name: "Browsers" });
    await browsers.getByText("Chrome on Linux (this one)").waitFor();
    await page.getByRole("button", { name: "Log all others out" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Log all others out" }).click();
    await browsers.getByRole("button").first().waitFor({ state: "detached" });
    expect((await rest("GET", "/api/me/sessions")).sessions).toHaveLength(1);
    await other.page.reload();
    await other.page.waitForURL(/\/auth\/login/);
    await other.context.close();
  });

  test("what the list of users is filtered by stands in the address, and is there when it is opened again", async () => {
    const { page } = ann;
    await go(page, "/people?tab=users");
    await page.getByRole("button", { name: "bob", exact: true }).waitFor();
    await page.getByLabel("Containing").fill("ti");
    await page.waitForURL(`${world.url}/ui/people?tab=users&match=ti`);
    await page.reload();
    await page.getByRole("button", { name: "tim", exact: true }).waitFor();
    expect(await page.getByLabel("Containing").inputValue()).toBe("ti");
    expect(await page.getByRole("button", { name: "bob", exact: true }).count()).toBe(0);
  });

  test("an admin ends the apps and browsers of a user, and registers and removes an app", async () => {
    const { page } = ann;
    const tim = await world.logIn("tim", { stopAt: callbackUrl });
    for (let count = 0; count < 2; count += 1) await connectApp(world.url, tim);
    await go(page, "/people?tab=users");
    await page.getByRole("button", { name: "tim" }).click();
    const dialog = page.getByRole("dialog", { name: "tim", exact: true });
    await dialog.getByRole("list", { name: "Apps" }).getByText("Test app").first().waitFor();
    await expectClean(page);
    // One of them has gone meanwhile: the other one ends all the same.
    await page.route(
      /\/apps\//,
      async (route) => {
        await rest("DELETE", new URL(route.request().url()).pathname);
        await route.continue();
      },
      { times: 1 },
    );
    await dialog.getByRole("button", { name: "Disconnect all" }).click();
    await page
      .getByRole("dialog", { name: "Disconnect all of tim’s apps?" })
      .getByRole("button", { name: "Disconnect all" })
      .click();
    await dialog.getByText("No app is connected.").waitFor();
    await dialog.getByRole("list", { name: "Browsers" }).getByRole("button", { name: "Log it out" }).click();
    await page
      .getByRole("dialog", { name: "Log this browser out?" })
      .getByRole("button", { name: "Log it out" })
      .click();
    await dialog.getByText("No browser is logged in as this user.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await go(page, "/people?tab=apps");
    const opener = page.getByRole("button", { name: "Register an app" });
    await opener.click();
    const form = page.getByRole("dialog", { name: "Register an app" });
    await form.getByLabel("Name").fill("Billing");
    await form.getByLabel(/^Redirect addresses/).fill("https://billing.example/callback");
    await page.keyboard.press("Tab");
    await form.getByRole("button", { name: "Register it" }).click();
    await form.getByText("It is shown only now.").waitFor();
    await expectClean(page);
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });
    await until(async () => await opener.evaluate((element) => element === document.activeElement));
    const row = page.getByRole("row", { name: /Billing/ });
    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove Billing?" }).getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
  });

  test("a user is suspended after the consequences were said, and let in again", async () => {
    const { page } = ann;
    await go(page, "/people?tab=users");
    await page.getByRole("button", { name: "tim" }).click();
    const dialog = page.getByRole("dialog", { name: "tim", exact: true });
    await dialog.getByRole("button", { name: "Suspend" }).click();
    const question = page.getByRole("dialog", { name: "Suspend tim?" });
    expect(await question.textContent()).toContain("tim is out at once");
    await expectClean(page);
    await question.getByRole("button", { name: "Suspend" }).click();
    await dialog.getByRole("button", { name: "Let in again" }).click();
    await dialog.getByRole("button", { name: "Suspend" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  });

  test("somebody in two teams chooses one for all tabs, and sees what is there", async () => {
    const { page, context } = bob;
    await go(page, "/me");
    const other = await context.newPage();
    await go(other, "/me");
    await page.getByRole("combobox", { name: "Team" }).selectOption("red");
    await page.getByText("for red alone").waitFor();
    await other.getByText("for red alone").waitFor();
    await page.getByRole("combobox", { name: "Team" }).selectOption("blue");
    await page.getByText("for blue alone").waitFor();
    await other.getByText("for blue alone").waitFor();
    await go(other, "/teams/blue?tab=invites");
    await other.getByRole("button", { name: "Invite somebody" }).waitFor();
    await other.close();
    await page.getByRole("combobox", { name: "Team" }).selectOption("red");
    await page.getByText("for red alone").waitFor();
  });

  test("a session that ends in the middle of an edit loses nothing that was typed", async () => {
    const { page, context } = ann;
    await go(page, "/teams/blue?tab=settings");
    await page.getByLabel("Title").fill("Typed before it ended");
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    await expectClean(page);
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      dialog.getByRole("link", { name: "Log in in another tab" }).click(),
    ]);
    await logInAs(tab, { name: "ann", password });
    await tab.getByText("Go back to the tab that you came from").waitFor();
    await tab.close();
    await dialog.waitFor({ state: "hidden" });
    expect(await page.getByLabel("Title").inputValue()).toBe("Typed before it ended");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Typed before it ended" }).waitFor();
    expect(cookies.some(({ name }) => name === "ty_session")).toBe(true);
  });

  test("logging out ends the session at the gateway, and leads to the login", async () => {
    const { page, context, misdeeds } = bob;
    const [cookie] = (await context.cookies()).filter(({ name }) => name === "ty_session");
    await go(page, "/me");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${world.url}/auth/login?next=%2Fui%2F`);
    const again = await fetch(`${world.url}/api/session`, { headers: { cookie: `ty_session=${cookie?.value ?? ""}` } });
    expect(again.status).toBe(401);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    expect(ann.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });

  test("somebody who is in no team is told so, and comes in once they are", async () => {
    await rest("POST", "/api/users", { name: "eve" });
    await world.logIn("eve");
    const opened = await openNewcomer(browser, world);
    await opened.page.getByText("are in no team yet").waitFor();
    await expectClean(opened.page);
    await rest("POST", "/api/teams/red/members", { user: "eve" });
    await opened.page.getByRole("button", { name: "Look again" }).click();
    await opened.page.getByRole("navigation", { name: "Use" }).waitFor();
    await settled(opened.page);
    await opened.context.close();
  });
});

async function openNewcomer(browser: Browser, world: TeamWorld): Promise<Pick<OpenDashboard, "context" | "page">> {
  const context = await browser.newContext();
  await context.addInitScript(() => Object.assign(window, { violations: [] }));
  const page = await context.newPage();
  await page.goto(`${world.url}/ui/`);
  await logInAs(page, { name: "eve", password });
  return { context, page };
}

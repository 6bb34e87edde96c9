import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageStyle } from "../../src/front/web/pages/page.ts";
import { badServer } from "../harness/gateway.ts";
import { password, startTeamWorld, type TeamWorld } from "../people/team-world.ts";
import { axeProblems, hasBrowser, launchBrowser, logInAs, overflow, waitMs } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("pages for people", () => {
  let browser: Browser;
  let world: TeamWorld;
  let context: BrowserContext;
  let paths: readonly string[];
  beforeAll(async () => {
    browser = await launchBrowser();
    world = await startTeamWorld({
      servers: {
        own: { ...badServer("--behaviours=env"), scope: "user" },
        far: { type: "http", url: "http://127.0.0.1:9/mcp", scope: "shared" },
      },
    });
    await world.ask("user", "add", "ann", "--admin", "--team", "red");
    const file = join(world.directory, "mail.json");
    const fields = [
      { path: "env.API_KEY", type: "secret", required: true, description: "From the settings of your mail account" },
      { path: "env.REGION", type: "enum", enum: ["eu", "us"] },
      { path: "env.NAME", type: "string" },
    ];
    await writeFile(file, JSON.stringify({ entry: badServer("--behaviours=env"), fields }));
    await world.ask("template", "add", "mail", "--file", file);
    await world.ask("install", "mail", "--team", "red");
    const invited = await world.ask("invite", "new", "--team", "red");
    paths = ["/auth/login", "/setup", `/invite/${invited.secret}`, "/invite/ty_inv_0"];
    const { link } = await world.ask("user", "link", "ann");
    // A phone: what these pages are made for.
    context = await browser.newContext({ viewport: { width: 320, height: 740 }, colorScheme: "light" });
    const page = await context.newPage();
    await page.goto(link);
    // The script of the page has filled the code in, and taken it out of the address.
    await page.getByLabel("New password, 12 characters at least").and(page.locator(":focus")).waitFor();
    expect(page.url()).toBe(`${world.url}/setup`);
    await page.getByLabel("New password, 12 characters at least").fill(password);
    await page.getByLabel("The same again").fill(password);
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByRole("heading", { level: 1, name: "Connect an AI client" }).waitFor();
    await page.goto(`${world.url}/account`);
    const hrefs = await page.getByRole("link").evaluateAll((links) => links.map((one) => one.getAttribute("href")));
    paths = [
      ...paths,
      "/account",
      "/connect",
      ...hrefs.filter((href) => href !== null && href.startsWith("/connect/")),
    ] as string[];
    await page.close();
  });
  afterAll(async () => {
    await browser.close();
    await world[Symbol.asyncDispose]();
  });

  test("are readable on a phone, in the light and in the dark, and axe finds nothing", async () => {
    expect(paths.length).toBe(9);
    const page = await context.newPage();
    const blocked: string[] = [];
    page.on("console", (message) => {
      // Broken patterns of fields as well.
      if (message.type() === "error" && !/status of 404/.test(message.text())) blocked.push(message.text());
    });
    for (const path of paths) {
      await page.goto(`${world.url}${path}`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([path, colorScheme, await axeProblems(page)]).toEqual([path, colorScheme, []]);
        expect([path, (await overflow(page)) > 0]).toEqual([path, false]);
      }
      const ownScripts = path === "/setup" || path === "/connect" ? 1 : 0;
      expect([path, await page.locator("script").count()]).toEqual([path, ownScripts]);
      // Headings and buttons are whole words.
      const broken = await page
        .locator("th, button")
        .evaluateAll((all) => all.flatMap((one) => (one.scrollWidth > one.clientWidth + 1 ? [one.textContent] : [])));
      expect([path, broken]).toEqual([path, []]);
    }
    expect(blocked).toEqual([]);
  });

  test("work without scripts: values are given, and a tick is asked for where a login is for everybody", async () => {
    const page = await (
      await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() })
    ).newPage();
    await page.goto(`${world.url}/account`);
    await page.getByRole("link", { name: "mail" }).click();
    await page.getByLabel("env.API_KEY (required)").fill("a-key-of-anns");
    await page.getByLabel("env.REGION").selectOption("us");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("It is set; empty leaves it as it is.").waitFor();
    expect(await page.getByLabel("env.API_KEY").inputValue()).toBe("");
    expect(await page.getByLabel("env.REGION").inputValue()).toBe("us");
    await page.goto(`${world.url}/account`);
    await page.getByRole("link", { name: "far" }).click();
    await page.getByRole("checkbox").waitFor();
    await page.getByText("It is shared").waitFor();
  });

  test("give a member what an AI client needs: address, a token that is shown once, and what to write where", async () => {
    const member = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    member.setDefaultTimeout(waitMs);
    const page = await member.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    const { secret } = await world.ask("invite", "new", "--team", "red");
    await page.goto(`${world.url}/invite/${secret}`);
    await page.getByLabel("Name").fill("bob");
    await page.getByLabel("Password, 12 characters at least").fill(password);
    await page.getByLabel("The same again").fill("another one entirely");
    await page.getByRole("button", { name: "Make the account and join" }).click();
    await page.getByText("The two passwords differ.").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("bob");
    await page.getByLabel("Password, 12 characters at least").fill(password);
    await page.getByLabel("The same again").fill(password);
    await page.getByRole("button", { name: "Make the account and join" }).click();
    await page.getByRole("heading", { level: 1, name: "Connect an AI client" }).waitFor();
    await page.getByText("You are bob. Your team: red.").waitFor();
    // Browsers say what is wrong with a pattern once something is typed. What was refused was a form of his.
    expect(said.filter((text) => !/status of 400/.test(text))).toEqual([]);
    // What waits for a value of his own is named, with the page where he gives it.
    await page.getByRole("listitem").filter({ hasText: "needs values" }).getByRole("link", { name: "mail" }).waitFor();
    const cursor = page.getByText("Cursor", { exact: true });
    await cursor.click();
    expect(JSON.parse(String(await page.locator("#file-cursor").textContent()))).toEqual({
      mcpServers: { toolyard: { url: `${world.url}/mcp` } },
    });
    await page.getByLabel("What the token is for").fill("My editor");
    await page.getByRole("button", { name: "Make a token" }).click();
    const token = String(await page.locator("#token").textContent());
    expect(token).toMatch(/^ty_pat_/);
    await cursor.click();
    await page
      .locator(".copied")
      .filter({ has: page.locator("#file-cursor") })
      .getByRole("button")
      .click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = JSON.parse(await page.evaluate(async () => await navigator.clipboard.readText()));
    const { url, headers } = copied.mcpServers.toolyard;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const sent = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const answer = await fetch(url, { method: "POST", headers: { ...sent, ...headers }, body });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("execute_mcp_tool")]);
    expect(await axeProblems(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.goto(`${world.url}/connect`);
    expect(await page.content()).not.toContain(token);
    await page.getByRole("link", { name: "Open the dashboard" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await member.close();
  });

  test("look as the dashboard does: the same colours, in the light and in the dark", async () => {
    const style = await readFile(new URL("../../web/src/style.css", import.meta.url), "utf8");
    const ours = [...pageStyle.matchAll(/--([\w-]+):light-dark\((#\w+),(#\w+)\)/g)];
    expect(ours.length).toBeGreaterThan(8);
    for (const [, name, light, dark] of ours) expect(style).toContain(`--${name}: light-dark(${light}, ${dark});`);
  });

  test.each(["//evil.example", "/\\evil.example", "https:evil.example", "javascript:alert(1)", "/%2fevil.example"])(
    "FAULT 37: a login that is to lead on to %s ends at the gateway",
    async (next) => {
      const visit = await browser.newContext();
      visit.setDefaultTimeout(waitMs);
      const page = await visit.newPage();
      const foreign: string[] = [];
      page.on("request", (request) => {
        if (!request.url().startsWith(`${world.url}/`)) foreign.push(request.url());
      });
      await page.goto(`${world.url}/auth/login?next=${encodeURIComponent(next)}`);
      await logInAs(page, { name: "ann", password });
      await page.waitForURL((url) => url.pathname !== "/auth/login");
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect([new URL(page.url()).origin, foreign]).toEqual([world.url, []]);
      await visit.close();
    },
  );
});

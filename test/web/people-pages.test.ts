import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
    // A phone, without scripts: what these pages are made for.
    context = await browser.newContext({ viewport: { width: 320, height: 740 }, colorScheme: "light" });
    const page = await context.newPage();
    await page.goto(`${world.url}/setup`);
    await page.getByLabel("Code").fill(link.split("#")[1]);
    await page.getByLabel("New password, 12 characters at least").fill(password);
    await page.getByLabel("The same again").fill(password);
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByRole("heading", { level: 1, name: "Your account" }).waitFor();
    const hrefs = await page.getByRole("link").evaluateAll((links) => links.map((one) => one.getAttribute("href")));
    paths = [
      ...paths,
      "/account",
      ...hrefs.filter((href) => href !== null && href.startsWith("/connect/")),
    ] as string[];
    await page.close();
  });
  afterAll(async () => {
    await browser.close();
    await world[Symbol.asyncDispose]();
  });

  test("are readable on a phone, in the light and in the dark, and axe finds nothing", async () => {
    expect(paths.length).toBe(8);
    const page = await context.newPage();
    const blocked: string[] = [];
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) blocked.push(message.text());
    });
    for (const path of paths) {
      await page.goto(`${world.url}${path}`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([path, colorScheme, await axeProblems(page)]).toEqual([path, colorScheme, []]);
        expect([path, (await overflow(page)) > 0]).toEqual([path, false]);
      }
      expect([path, await page.locator("script").count()]).toEqual([path, 0]);
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

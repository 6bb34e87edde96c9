import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { axeProblems, hasBrowser, launchBrowser, overflow } from "../../test/web/dashboard.ts";
import { buildSite } from "./build.mjs";

const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const phone = { width: 320, height: 640 };
const visited = ["index.html", "docs/teams.html", "docs/benchmarks.html", "docs/exposures/meta.html"];

describe.runIf(hasBrowser)("the site in a browser", () => {
  const scratch = mkdtempSync(join(tmpdir(), "toolyard-site-"));
  let server;
  let browser;
  let address;
  let written;
  beforeAll(async () => {
    written = buildSite(scratch);
    server = createServer(({ url }, response) => {
      const file = join(scratch, decodeURIComponent(new URL(url, "http://a.test").pathname));
      if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
      return createReadStream(file).pipe(response);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${server.address().port}/`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
    rmSync(scratch, { recursive: true });
  });

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  });

  /** A page with what it did that it must not do. */
  async function open(path, { from = address, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 800 }, ...options });
    const wrong = [];
    context.on("request", (request) => {
      if (!request.url().startsWith(from)) wrong.push(`asked for ${request.url()}`);
    });
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => wrong.push(message));
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    await page.goto(`${from}${path}`);
    return { page, wrong };
  }

  test.each(visited)("%s: axe finds nothing, wide and on a phone, light and dark", async (path) => {
    const { page, wrong } = await open(path);
    for (const colorScheme of ["light", "dark"])
      for (const viewport of [{ width: 1400, height: 800 }, phone]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        expect([colorScheme, viewport, await axeProblems(page)]).toEqual([colorScheme, viewport, []]);
      }
    expect(wrong).toEqual([]);
  });

  test("every page fits on a phone", async () => {
    const { page, wrong } = await open("index.html", { viewport: phone });
    for (const path of written) {
      await page.goto(`${address}${path}`);
      expect([path, await overflow(page)]).toEqual([path, 0]);
    }
    expect(wrong).toEqual([]);
  });

  test.each(["", "as files, without a server: "])("%ssearch finds a section by its words and opens it", async (how) => {
    const from = how === "" ? address : pathToFileURL(`${scratch}/`).href;
    const { page, wrong } = await open("docs/exposures/meta.html", { from });
    expect(await page.evaluate(() => "siteSearch" in window)).toBe(false);
    await page.keyboard.press("/");
    const field = page.getByRole("searchbox", { name: "Search the documentation" });
    await field.fill("hea chek");
    await page.getByText("Nothing found").or(page.locator("#search li").first()).waitFor();
    await field.fill("health checks");
    const first = page.locator("#search li").first();
    await first.getByText("Health checks").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/operations\.html#health-checks$/);
    await page.getByRole("heading", { name: "Health checks" }).waitFor();
    expect(wrong).toEqual([]);
  });

  test("search says that nothing is found, and closes with Escape", async () => {
    const { page } = await open("docs/teams.html");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("searchbox").fill("xylophonquartz");
    await page.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#search").waitFor({ state: "hidden" });
  });

  test("a button copies a block, and of a session on a terminal only the commands", async () => {
    const { page } = await open("docs/everyday.html", { permissions: ["clipboard-read", "clipboard-write"] });
    const block = page.locator(".code", { hasText: "$ toolyard call everything:get-sum a=2 b=40" });
    await block.hover();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      "toolyard call everything:get-sum a=2 b=40\ntoolyard call everything:get-tiny-image --output logo.png\n",
    );
    await page.goto(`${address}index.html`);
    const plain = page.locator(".code", { hasText: "npm ci && npm start" });
    await plain.hover();
    await plain.getByRole("button", { name: "Copy" }).click();
    await plain.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("npm ci && npm start\n");
  });

  test("on a phone, menu and contents are folded, and open without JavaScript", async () => {
    const { page } = await open("docs/teams.html", { viewport: phone, javaScriptEnabled: false });
    const menu = page.getByRole("navigation", { name: "Pages" });
    const contents = page.getByRole("navigation", { name: "On this page" });
    expect([await menu.isVisible(), await contents.isVisible()]).toEqual([false, false]);
    await page.getByRole("button", { name: "Contents" }).click();
    await contents.getByRole("link", { name: "Invitations" }).click();
    expect(page.url()).toMatch(/#invitations$/);
    await page.keyboard.press("Escape");
    expect(await contents.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Menu" }).click();
    await menu.getByText("Reference").click();
    await menu.getByRole("link", { name: "Errors" }).click();
    await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
    await page.getByRole("link", { name: "Events →" }).click();
    await page.getByRole("heading", { level: 1, name: "Events" }).waitFor();
    expect(await page.getByRole("button", { name: /Search|Copy/ }).count()).toBe(0);
  });

  test("with room, menu and contents are shown without buttons; chosen contents fold with JavaScript", async () => {
    const { page } = await open("docs/teams.html");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit" }).waitFor();
    const contents = page.getByRole("navigation", { name: "On this page" });
    await contents.getByRole("link", { name: "Roles" }).click();
    expect(await page.getByRole("button", { name: /Menu|Contents/ }).count()).toBe(0);
    await page.setViewportSize(phone);
    await page.getByRole("button", { name: "Contents" }).click();
    await contents.getByRole("link", { name: "Invitations" }).click();
    await contents.waitFor({ state: "hidden" });
  });
});

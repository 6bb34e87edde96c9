import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeProblems, hasBrowser, launchBrowser, linkTo, openDashboard, settled, visit } from "./dashboard.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

describe.skipIf(!hasBrowser)("an open page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => await browser.close());

  test("ten tabs hold one stream; when its tab is closed another one reads on", async () => {
    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer("--tools", "2") } } });
    await untilOnline(gateway.url);
    const { context, page } = await openDashboard(browser, gateway);
    let streams = 0;
    context.on("request", (request) => {
      if (new URL(request.url()).pathname === "/api/events") streams += 1;
    });
    await visit(page, gateway, "/calls");
    const tabs = await Promise.all(Array.from({ length: 9 }, async () => await context.newPage()));
    for (const tab of tabs) await visit(tab, gateway, "/calls");
    for (const tab of [page, ...tabs]) await tab.getByText("Live", { exact: true }).waitFor();
    expect(streams).toBe(1);
    await run(gateway.url, "bad:tool-1", {});
    for (const tab of [page, ...tabs]) await tab.getByRole("link", { name: "bad:tool-1" }).waitFor();
    await page.close();
    await until(() => streams === 2);
    await run(gateway.url, "bad:tool-2", {});
    for (const tab of tabs) await tab.getByRole("link", { name: "bad:tool-2" }).waitFor();
    expect(streams).toBe(2);
    await context.close();
  });

  test("comes back by itself when the gateway was restarted under it, and shows what is then", async () => {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-live-"));
    try {
      const first = await startGateway({ config: { mcpServers: { bad: badServer() } }, directory });
      await untilOnline(first.url);
      const { context, page } = await openDashboard(browser, first);
      await visit(page, first, "/servers");
      await first.stop();
      await page.getByText("The gateway does not answer").waitFor();
      expect(await axeProblems(page)).toEqual([]);
      const config = { mcpServers: { bad: badServer(), newer: badServer() } };
      await using second = await startGateway({ config, directory, args: ["--port", new URL(first.url).port] });
      expect(second.url).toBe(first.url);
      await page.getByRole("link", { name: "newer" }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      await context.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("says what became of a call when the gateway was restarted under it, and keeps what was typed", async () => {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-live-"));
    try {
      const config = { mcpServers: { bad: badServer("--behaviours=hang,echo") } };
      const first = await startGateway({ config, directory });
      await untilOnline(first.url);
      const { context, page } = await openDashboard(browser, first);
      await visit(page, first, "/run/bad%3Ahang");
      await page.getByRole("button", { name: "JSON", exact: true }).click();
      const editor = page.getByRole("textbox", { name: "Arguments as JSON" });
      await editor.fill('{ "typed": "before the restart" }');
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("button", { name: "Cancel" }).waitFor();
      await first.stop("SIGKILL");
      await page.getByRole("alert").first().waitFor();
      expect(await page.getByRole("alert").first().textContent()).toContain("The gateway does not answer.");
      expect(await axeProblems(page)).toEqual([]);
      await using second = await startGateway({ config, directory, args: ["--port", new URL(first.url).port] });
      await untilOnline(second.url);
      await page.getByText("Live", { exact: true }).waitFor();
      expect(await editor.textContent()).toContain("before the restart");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("alert").getByText("CALL_CANCELLED").waitFor();
      await context.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("whose session ends in the middle of an edit keeps what was typed, and goes on after a login", async () => {
    await using gateway = await startGateway({ config: '{ "mcpServers": {} } // mine\n' });
    const { context, page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/settings");
    await page.getByRole("button", { name: "Text", exact: true }).click();
    const editor = page.getByRole("textbox", { name: "Configuration", exact: true });
    const typed = '{ "mcpServers": {}, "toolyard": { "debugRoute": true } } // mine\n';
    await editor.fill(typed);
    await endAllSessions(page, gateway);
    // Another question of the page may have found out before, and then the button lies behind the dialog.
    await page.locator("button", { hasText: "Save" }).dispatchEvent("click");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await dialog.getByLabel("Or paste its link, or a token of this gateway").fill(linkTo(gateway));
    await dialog.getByRole("button", { name: "Log in" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await readFile(gateway.configFile, "utf8")).toBe(typed);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)("the settings", () => {
  test("are checked as they are typed, compared with the file and with what runs, and saved with their comments", async () => {
    const browser = await launchBrowser();
    await using gateway = await startGateway({ config: '{\n  // kept\n  "mcpServers": {}\n}\n' });
    const { page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/settings");
    await page.getByRole("button", { name: "Text", exact: true }).click();
    const editor = page.getByRole("textbox", { name: "Configuration", exact: true });
    await editor.fill('{\n  // kept\n  "mcpServers": { "x": { "command": 7 } }\n}\n');
    const check = page.getByRole("region", { name: "Check" });
    await check.getByText(/line 3, column/).waitFor();
    await editor.fill('{ "mcpServers": {');
    await check.getByText("the gateway would refuse this text").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("button", { name: "Save" }).dispatchEvent("click");
    expect(await readFile(gateway.configFile, "utf8")).toContain('"mcpServers": {}');
    const good = '{\n  // kept\n  "mcpServers": {},\n  "toolyard": { "limits": { "openStreams": 77 } }\n}\n';
    await editor.fill(good);
    await check.getByText("toolyard.limits.openStreams").waitFor();
    await page.getByRole("heading", { name: "Changes of the file" }).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await readFile(gateway.configFile, "utf8")).toBe(good);
    await browser.close();
  });

  test("that two people change are never lost: both texts are shown, and one is chosen", async () => {
    const browser = await launchBrowser();
    await using gateway = await startGateway({ config: '{ "mcpServers": {} }' });
    const { page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/settings");
    await page.getByRole("button", { name: "Text", exact: true }).click();
    const mine = '{ "mcpServers": {}, "toolyard": { "debugRoute": true } }';
    await page.getByRole("textbox", { name: "Configuration", exact: true }).fill(mine);
    const theirs = '{ "mcpServers": {}, "toolyard": { "logLevel": "warn" } }';
    await writeFile(gateway.configFile, theirs);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Somebody else has changed the file" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Configuration", exact: true }).textContent()).toBe(mine);
    await page.getByRole("textbox", { name: "Their text against yours" }).getByText("logLevel").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Keep mine, and save over theirs" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await readFile(gateway.configFile, "utf8")).toBe(mine);
    await settled(page);
    await browser.close();
  });
});

/** Every browser is logged out by the page itself, behind its back. */
async function endAllSessions(
  page: Awaited<ReturnType<typeof openDashboard>>["page"],
  gateway: RunningGateway,
): Promise<void> {
  await page.evaluate(async (url) => {
    const key = localStorage.getItem("toolyard-key") ?? "";
    await fetch(`${url}/api/session`, {
      method: "DELETE",
      headers: { "Content-Type": "application/json", "Toolyard-Key": key },
    });
  }, gateway.url);
}

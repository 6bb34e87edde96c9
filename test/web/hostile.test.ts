import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  openDashboard,
  settled,
  violations,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../servers/hostile-server.mjs", import.meta.url))],
  displayName: '<img src=x onerror="window.hacked=1">',
  requestLogging: "full",
  // Its tools would be held for review otherwise.
  definitions: "note",
};

describe.skipIf(!hasBrowser)("a server that writes markup", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: { mcpServers: { hostile: server } } });
    await untilOnline(gateway.url);
    await run(gateway.url, "hostile:evil", {});
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  async function expectInert(): Promise<void> {
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    expect(await violations(page)).toEqual([]);
    const links = await page.locator("a").evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).protocol));
    expect(links.filter((protocol) => protocol !== "http:" && protocol !== "data:")).toEqual([]);
  }

  test("FAULT 35: names, descriptions, results and lines of servers are text, with what has no shape marked", async () => {
    for (const path of [
      "/",
      "/servers",
      "/servers/hostile",
      "/servers/hostile?tab=log",
      "/servers/hostile?tab=tools",
      "/tools",
      "/search?query=evil%20img%20script",
      "/run/hostile%3Aevil",
      "/calls",
      "/logs",
      "/tokens",
      "/resources?uri=hostile%7Cevil%3A%2F%2Fpage",
      "/resources?tab=templates",
      "/resources?tab=prompts&prompt=hostile-evil",
      "/settings",
      "/start",
    ]) {
      await visit(page, gateway, path);
      await expectInert();
      expect([path, await axeProblems(page)]).toEqual([path, []]);
    }
    await visit(page, gateway, "/servers/hostile?tab=log");
    const log = page.getByRole("log");
    await log.getByText("<img src=x").waitFor();
    expect(await log.textContent()).toContain("⟦U+202E⟧");
    await visit(page, gateway, "/run/hostile%3Aevil");
    const description = await page.locator(".description").textContent();
    expect(description).toContain("</script><script>");
    expect(description).toContain("⟦U+E0041⟧");
  });

  test("FAULT 35: what a client calls itself is text as well", async () => {
    const name = '<img src=x onerror="window.hacked=1">\u202Egnp.exe';
    const client = new Client({ name, version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp/flat`)) as never);
    await client.callTool({ name: "hostile-digits", arguments: {} });
    for (const path of ["/calls", "/clients", "/", "/run/hostile%3Adigits"]) {
      await visit(page, gateway, path);
      await page.getByText("<img src=x onerror").first().waitFor();
      await expectInert();
      expect([path, await axeProblems(page)]).toEqual([path, []]);
    }
    expect(await page.locator("main").textContent()).toContain("⟦U+202E⟧gnp.exe");
    await client.close();
  });

  test("FAULT 35: a result with scripts, foreign links and an image that could run some is shown and does nothing", async () => {
    await visit(page, gateway, "/run/hostile%3Aevil");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.waitFor();
    expect(await result.textContent()).toContain("<script>window.hacked=1</script>");
    expect(await result.locator("img, svg[onload], iframe, object").count()).toBe(0);
    await expectInert();
    expect(await axeProblems(page)).toEqual([]);
    for (const view of ["Structured", "Raw"]) {
      await result.getByRole("button", { name: view }).click();
      await expectInert();
    }
  });

  test("FAULT 35: resources and prompts that are markup are text, and a drawing that could run a script is none", async () => {
    await visit(page, gateway, "/resources");
    await page.getByRole("list", { name: "Resources" }).getByRole("button").click();
    const content = page.getByRole("region", { name: "Content" });
    await content.getByText("that are no text and no picture").waitFor();
    expect(await content.textContent()).toContain("<script>window.hacked=1</script>");
    expect(await content.locator("img, svg[onload], iframe").count()).toBe(0);
    await expectInert();
    await visit(page, gateway, "/resources?tab=prompts");
    await page.getByRole("list", { name: "Prompts" }).getByRole("button").click();
    await page.getByRole("button", { name: "Get the prompt" }).click();
    const written = page.getByRole("region", { name: "What the server wrote" });
    await written.waitFor();
    expect(await written.textContent()).toContain("⟦U+202E⟧");
    expect(await written.locator("img, iframe").count()).toBe(0);
    await expectInert();
    expect(await axeProblems(page)).toEqual([]);
  });

  test("a number that JavaScript cannot hold is shown as it was sent", async () => {
    await visit(page, gateway, "/run/hostile%3Adigits");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByRole("button", { name: "Structured" }).click();
    expect(await result.textContent()).toContain("9007199254740993");
  });

  test("an argument that JavaScript cannot hold is sent as it was written, as JSON", async () => {
    await visit(page, gateway, "/run/hostile%3Adigits");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    const editor = page.getByRole("textbox", { name: "Arguments as JSON" });
    await editor.fill('{ "n": 9007199254740993 }');
    await page.getByText("it is edited as JSON").waitFor();
    const sent = page.waitForRequest((request) => request.url().includes("/execute/"));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect((await sent).postData()).toBe('{ "n": 9007199254740993 }');
  });

  test("progress is shown while a tool works, and cancelling ends the call", async () => {
    await visit(page, gateway, "/run/hostile%3Await");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("<img src=x onerror").waitFor();
    expect(await page.getByRole("progressbar", { name: "Progress" }).getAttribute("value")).toBe("1");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("CALL_CANCELLED").waitFor();
    await expectInert();
  });

  test("a server that dies under a running form says so, and what was typed stays", async () => {
    await visit(page, gateway, "/run/hostile%3Adie");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "Arguments as JSON" }).fill('{ "kept": true }');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("alert").getByText("UPSTREAM_CLOSED").waitFor();
    expect(await page.getByRole("textbox", { name: "Arguments as JSON" }).textContent()).toContain("kept");
    await settled(page);
    await until(async () => (await fetch(`${gateway.url}/api/status`)).ok);
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post, run, untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { axeProblems, hasBrowser, launchBrowser, linkTo, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

const memoryFile = new URL("../../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url);
const config = {
  mcpServers: {
    one: badServer("--behaviours=echo"),
    // Its file is never written: nothing is created in these tests.
    memory: { command: process.execPath, args: [memoryFile.pathname], requestLogging: "full" },
    two: badServer("--tools=40"),
    broken: { ...badServer(), env: { KEY: "${NOT_SET_FOR_THIS_TEST}" } },
  },
};

describe.skipIf(!hasBrowser)("the first glance", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-glance-"));
    browser = await launchBrowser();
    gateway = await startGateway({ config, directory });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("says what was saved, what needs somebody with the step to take, and what happened, as it happens", async () => {
    const { context, page, misdeeds } = await openDashboard(browser, gateway);
    await rpc(`${gateway.url}/mcp`, "tools/list");
    await visit(page, gateway, "/");
    const saved = page.getByRole("region", { name: "Tokens not sent" });
    await saved.getByText("Tokens not sent today").waitFor();
    await saved.getByText("Of a 200,000-token context").waitFor();
    const needs = page.getByRole("region", { name: "Needs you" });
    await needs.getByRole("link", { name: "Fill in values" }).waitFor();
    // All is not well, and no line says so.
    expect(await page.getByText("Nothing needs you").count()).toBe(0);
    const happened = page.getByRole("region", { name: "What happened" });
    await happened.getByText("live", { exact: true }).waitFor();
    await rpc(`${gateway.url}/mcp`, "tools/call", { name: "discover_mcp_tools", arguments: { query: "echo a text" } });
    const search = happened.getByRole("listitem").filter({ hasText: "Search: echo a text" });
    await search.getByText("found one:").waitFor();
    expect(await search.count()).toBe(1);
    await run(gateway.url, "memory:search_nodes", { query: "a" });
    await happened.getByRole("link", { name: "memory:search_nodes" }).last().waitFor();
    await run(gateway.url, "memory:search_nodes", { query: 7 });
    await happened.getByText("ARGUMENTS_INVALID").waitFor();
    // A call that reaches no server is among them, although no event tells of it.
    await run(gateway.url, "memory:no_such_tool", {});
    await happened.getByText("TOOL_UNKNOWN").waitFor();
    await page.getByText("calls reached a server").waitFor();
    // A reload keeps searches: they are recorded.
    await page.reload();
    await search.getByText("found one:").waitFor();
    await happened.getByRole("link", { name: "Failed" }).click();
    await until(async () => (await happened.getByText("Search:").count()) === 0);
    await happened.getByText("ARGUMENTS_INVALID").waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  });

  test("a call that waited for its server says so beside its duration", async () => {
    const { context, page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/calls");
    await until(async () => {
      const restarted = post(`${gateway.url}/api/instances/one/restart`);
      await run(gateway.url, "one:echo", { n: 1 });
      await restarted;
      return (await page.getByText(/^waited [\d.]+ m?s$/).count()) > 0;
    });
    await untilOnline(gateway.url);
    await context.close();
  });

  test("the chart has the colours of its legend", async () => {
    const { context, page } = await openDashboard(browser, gateway, { colorScheme: "dark" });
    await run(gateway.url, "memory:search_nodes", { query: "a" });
    await run(gateway.url, "memory:search_nodes", { query: 7 });
    await visit(page, gateway, "/");
    await page.locator(".chart canvas").waitFor();
    const missing = async (): Promise<readonly string[]> =>
      await page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>(".chart canvas");
        const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
        const seen = new Set<string>();
        for (let at = 0; at < pixels.length; at += 4)
          seen.add(`rgb(${pixels[at]}, ${pixels[at + 1]}, ${pixels[at + 2]})`);
        const legend = [...document.querySelectorAll(".chart .legend .dot")];
        return legend.map((dot) => getComputedStyle(dot).backgroundColor).filter((color) => !seen.has(color));
      });
    await until(async () => (await missing()).length === 0);
    await context.close();
  });

  test("finds servers, tools, pages and actions with the keyboard alone", async () => {
    const { context, page } = await openDashboard(browser, gateway);
    const palette = page.getByRole("dialog", { name: "Search or do" });
    const chosen = palette.getByRole("option", { selected: true });
    for (const [typed, name, heading] of [
      ["tw", "two", "two"],
      ["one:ech", "one:echo", "one:echo"],
      ["token", "Token cost", "Token cost"],
      ["> log of two", "Log of two", "two"],
    ] as const) {
      await page.keyboard.press("Control+k");
      await palette.waitFor();
      await page.keyboard.type(typed);
      await chosen.filter({ hasText: name }).waitFor();
      expect(await axeProblems(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await palette.waitFor({ state: "hidden" });
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    }
    // The arrow keys choose, and what is chosen is said.
    await page.keyboard.press("/");
    await palette.waitFor();
    const input = palette.getByRole("combobox");
    await chosen.waitFor();
    const first = await input.getAttribute("aria-activedescendant");
    await page.keyboard.press("ArrowDown");
    await until(async () => (await input.getAttribute("aria-activedescendant")) !== first);
    await page.keyboard.press("ArrowUp");
    await until(async () => (await input.getAttribute("aria-activedescendant")) === first);
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "hidden" });
    await context.close();
  });

  test("is light or dark as the system is, or as somebody chose, and keeps that", async () => {
    const { context, page } = await openDashboard(browser, gateway);
    const background = async (): Promise<string> =>
      await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.emulateMedia({ colorScheme: "light" });
    const light = await background();
    await page.getByRole("button", { name: "Dark theme" }).click();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await background()).toBe(dark);
    expect(await page.getByRole("button", { name: "Dark theme" }).getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "Theme of the system" }).click();
    expect(await background()).toBe(light);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await background()).toBe(dark);
    await context.close();
  });

  test("takes a change back from its notice", async () => {
    const { context, page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/servers");
    await page.getByRole("button", { name: "Actions of two" }).click();
    await page.getByRole("button", { name: "Switch off", exact: true }).click();
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "two", exact: true }) });
    await row.getByText("Off", { exact: true }).waitFor();
    const notices = page.getByRole("region", { name: "Notices" });
    await notices.getByText("two is switched off.").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await notices.getByRole("button", { name: "Undo" }).click();
    await notices.getByText("Undone.").waitFor();
    await row.getByText("Off", { exact: true }).waitFor({ state: "detached" });
    await context.close();
  });

  test("sorts a table, and shows it as cards on a phone", async () => {
    const { context, page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/servers");
    const names = async (): Promise<readonly string[]> =>
      await page.getByRole("table", { name: "Servers" }).locator(".named a").allTextContents();
    // What needs somebody is first.
    expect((await names())[0]).toBe("broken");
    await page.getByRole("button", { name: "Tools", exact: true }).click();
    await until(async () => (await names())[0] === "two");
    const heading = page.getByRole("columnheader", { name: "Tools" });
    expect(await heading.getAttribute("aria-sort")).toBe("descending");
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByLabel("Sort by").selectOption("Server");
    await until(async () => (await names())[0] === "broken");
    expect(await page.locator(".as-cards").count()).toBe(1);
    // The order of tools is in the address, and one field or heading sets it at every width.
    await visit(page, gateway, "/tools?sort=tokens");
    expect(await page.getByLabel("Sort by").inputValue()).toBe("Tokens");
    expect(await page.getByLabel("Order").count()).toBe(0);
    await page.getByLabel("Sort by").selectOption("Tool");
    await page.waitForURL(/[?&]sort=tool$/);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("button", { name: "Tool", exact: true }).click();
    await page.waitForURL(/[?&]sort=-tool$/);
    expect(await page.getByRole("columnheader", { name: "Tool", exact: true }).getAttribute("aria-sort")).toBe(
      "descending",
    );
    await context.close();
  });

  test("has words for the buttons of lists in a form, and uses arguments again", async () => {
    const { context, page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/run/memory%3Acreate_entities");
    const add = page.getByRole("button", { name: "Add to entities" });
    for (const name of ["first", "second"]) {
      await add.click();
      await page.getByLabel(/^name/).last().fill(name);
    }
    const names = async (): Promise<readonly string[]> =>
      await page.getByLabel(/^name/).evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
    await page.getByRole("group", { name: "Item 2" }).getByRole("button", { name: "Move up" }).click();
    expect(await names()).toEqual(["second", "first"]);
    await page.getByRole("group", { name: "Item 1" }).getByRole("button", { name: "Remove" }).click();
    expect(await names()).toEqual(["first"]);
    expect(await page.getByRole("button", { name: "Add to observations" }).locator("svg").count()).toBe(1);
    expect(await problemsOfLooks(page)).toEqual([]);

    await visit(page, gateway, "/run/memory%3Asearch_nodes");
    const query = page.getByLabel(/^query/);
    await query.fill("again");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const recent = page.getByRole("list", { name: "Recent arguments" });
    await recent.getByText("again").waitFor();
    await query.fill("other");
    await recent.getByRole("button").first().click();
    await until(async () => (await query.inputValue()) === "again");
    await query.fill("other");
    // The call is in the list once it is recorded.
    await until(async () => {
      await page.getByRole("list", { name: "Last calls" }).getByRole("button", { name: /^Use/ }).first().click();
      return (await query.inputValue()) === "again";
    });
    await context.close();
  });

  test("counts the calls of the last hour after a restart, too", async () => {
    await run(gateway.url, "memory:search_nodes", { query: "b" });
    await until(async () => {
      const response = await fetch(`${gateway.url}/api/calls`);
      const { calls } = (await response.json()) as { readonly calls: readonly { readonly outcome: string }[] };
      return calls.some(({ outcome }) => outcome === "ok");
    });
    await gateway.stop();
    gateway = await startGateway({ config, directory });
    await untilOnline(gateway.url);
    const { context, page } = await openDashboard(browser, gateway);
    await page.goto(linkTo(gateway));
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Hour", exact: true }).click();
    const calls = page.getByRole("region", { name: "Calls", exact: true });
    await calls.getByRole("img", { name: "Calls and failures by minute, in the last hour" }).waitFor();
    await context.close();
  });
});

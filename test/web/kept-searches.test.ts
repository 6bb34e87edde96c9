import type { Browser } from "playwright-core";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isWorse, verdictOf } from "../../src/kernel/search-words.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { hasBrowser, launchBrowser, openDashboard, problemsOfLooks, settled, visit } from "./dashboard.ts";

const server = badServer("--behaviours=image,echo");

test.each([
  [1, 1, true, "as before", false],
  [null, null, true, "as before", false],
  [3, 1, true, "higher", false],
  [null, 2, true, "found again", false],
  [1, 3, true, "lower", true],
  [1, null, true, "not found any more", true],
  [1, null, false, "no such tool now", true],
] as const)(
  "a tool that was number %s and is %s (there is one: %s) is %s",
  (rank, rankNow, toolExists, verdict, bad) => {
    const placed = { rank, rankNow, toolExists };
    expect([verdictOf(placed), isWorse(placed)]).toEqual([verdict, bad]);
  },
);

describe.skipIf(!hasBrowser)("searches that are kept as tests", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: { mcpServers: { one: server } } });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  test("one is kept from what it finds, is worse when the tool is hidden, is downloaded and removed", async () => {
    const { context, page, misdeeds } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/search?tab=kept");
    await page.getByText("You keep no search as a test yet").waitFor();
    await visit(page, gateway, "/search?query=return%20a%20picture");
    await page.getByText("Keep as a test").click();
    const tool = page.getByLabel("Tool that should be found");
    expect(await tool.inputValue()).toBe("one:image");
    await page.getByRole("button", { name: "Keep", exact: true }).click();
    await page.getByText("is number 1").waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);
    await visit(page, gateway, "/search?tab=kept");
    const table = page.getByRole("table", { name: "Kept searches" });
    await table.getByText("as before").waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);

    const hiding = { mcpServers: { one: { ...server, tools: { deny: ["image"] } } } };
    await writeFile(gateway.configFile, JSON.stringify(hiding));
    await until(async () => {
      const { json } = await post(`${gateway.url}/api/searches/run`);
      return json.searches[0].toolExists === false;
    });
    await page.getByRole("button", { name: "Make them again" }).click();
    await table.getByText("no such tool now").waitFor();
    await page.getByText("1 to look at").waitFor();
    await settled(page);
    expect(await problemsOfLooks(page)).toEqual([]);

    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("kept-searches.jsonl");
    await page.getByRole("button", { name: "Remove return a picture" }).click();
    await page.getByText("You keep no search as a test yet").waitFor();
    expect((await get(`${gateway.url}/api/searches`)).json.searches).toEqual([]);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  });
});

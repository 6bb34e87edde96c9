import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

const hostile = `one:${"<img/src=x>".repeat(40)}\u202e`;

describe.skipIf(!hasBrowser)("pinned tools", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  beforeAll(async () => {
    browser = await launchBrowser();
    const mcpServers = { one: badServer("--behaviours=image,echo") };
    gateway = await startGateway({ config: { mcpServers, toolyard: { pin: ["one:ecko", hostile, "one:echo"] } } });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  /** As it is, and as narrow as a page must become. */
  async function look(page: Page, name: string): Promise<void> {
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await axeProblems(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await page.screenshot({ path: join(process.env["SCREENSHOTS"] ?? gateway.directory, `${name}-${width}.png`) });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  const listed = async (): Promise<string[]> =>
    (await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools
      .map(({ name }: { name: string }) => name)
      .slice(4);

  test("show what is configured with its cost, and are chosen, removed and given back", async () => {
    const { page, misdeeds } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/tools");
    expect(await problemsOfLooks(page)).toEqual([]);
    await page.getByText("Pinned tools: 1 tool").click();
    const pins = page.getByRole("list", { name: "Pinned tools" });
    await pins.getByText(/as echo, \d+ tokens/).waitFor();
    await pins.getByText("Did you mean one:echo").waitFor();
    await look(page, "pins");

    await page.getByRole("button", { name: "My own choice" }).click();
    await page.getByRole("button", { name: "Remove one:ecko" }).click();
    await pins.getByText("one:ecko", { exact: true }).waitFor({ state: "detached" });
    await page.getByLabel("Tool", { exact: true }).fill("one:image");
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await pins.getByText(/as image, \d+ tokens/).waitFor();
    await look(page, "pins-own");
    expect(await listed()).toEqual(["echo", "image"]);
    expect((await get(`${gateway.url}/api/pins`)).json.own).toEqual([hostile, "one:echo", "one:image"]);

    await page.getByRole("button", { name: "Those I use most" }).click();
    await page.getByText("Nothing yet.").waitFor();
    await page.getByRole("button", { name: "As configured" }).click();
    await pins.getByText("Did you mean one:echo").waitFor();
    await until(async () => (await get(`${gateway.url}/api/pins`)).json.own === null);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });
});

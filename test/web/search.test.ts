import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the page of searches", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let page: Page;
  beforeAll(async () => {
    browser = await launchBrowser();
    const mcpServers = {
      good: badServer("--behaviours=echo,image,fail"),
      // Its name says what is looked for; nobody has seen its tools.
      weather: { ...badServer("--crash-at-start"), description: "Weather forecasts for every city" },
      far: { url: "http://127.0.0.1:9/mcp" },
    };
    gateway = await startGateway({ config: { mcpServers } });
    await until(async () => {
      const { servers } = (await (await fetch(`${gateway.url}/api/servers`)).json()) as {
        readonly servers: readonly { readonly slug: string; readonly status: string }[];
      };
      const statusOf = (slug: string): string | undefined => servers.find((row) => row.slug === slug)?.status;
      const isIll = ["error", "permanently_failed"].includes(statusOf("weather") ?? "");
      return statusOf("good") === "online" && isIll && statusOf("far") === "offline";
    });
    ({ page } = await openDashboard(browser, gateway));
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  test("says for each need what was found, and of all together how many of how many", async () => {
    const needs = ["echo a text", "return a picture", "xqzzywv"];
    await visit(page, gateway, `/search?limit=5&query=${encodeURIComponent(needs.join("\n"))}`);
    const { json } = await post(`${gateway.url}/api/search`, { queries: needs, limit: 5 });
    const found = json.queries as readonly { readonly total_found: number; readonly tools: readonly object[] }[];
    let [shown, total] = [0, 0];
    for (const [at, need] of needs.entries()) {
      const place = page.getByRole("region", { name: `Found for ${need}` });
      await place.waitFor();
      expect(await place.locator(".why").count()).toBe(found[at]?.tools.length);
      shown += found[at]?.tools.length ?? 0;
      total += found[at]?.total_found ?? 0;
    }
    await page.getByText(`${shown} of ${total} found in`).waitFor();
    const nothing = page.getByRole("region", { name: "Found for xqzzywv" });
    await nothing.getByText("Nothing fits").waitFor();
    // What each need found stands beside it.
    const picture = page.getByRole("region", { name: "Found for return a picture" });
    await picture.getByText(`${found[1]?.tools.length ?? 0} of ${found[1]?.total_found ?? 0}`).waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);
  });

  test("shows servers that cannot be used as a model is told of them, each with the way to mend it", async () => {
    await visit(page, gateway, "/search?query=weather%20forecast");
    const { json } = await post(`${gateway.url}/api/search`, { query: "weather forecast" });
    const told = json.unavailable as readonly {
      readonly server: string;
      readonly reason: string;
      readonly action: string;
    }[];
    expect(told.map(({ server }) => server)).toContain("weather");
    const list = page.getByRole("list", { name: "What the model is told of servers that may have been meant" });
    for (const { server, action } of told) {
      const row = list.getByRole("listitem").filter({ has: page.getByRole("link", { name: server, exact: true }) });
      expect(await row.textContent()).toContain(action);
    }
    await page.getByText(`${told.length + Number(json.unavailable_others)} servers cannot be used now`).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await list.getByRole("link", { name: "weather", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "weather" }).waitFor();
  });

  test("keeps no search with a tool that does not exist, and says which is nearest", async () => {
    await visit(page, gateway, "/search?query=echo%20a%20text");
    await page.getByText("Keep as a test").click();
    await page.getByLabel("Tool that should be found").fill("good:ecco");
    await page.getByRole("button", { name: "Keep", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("good has no tool").waitFor();
    await alert.getByText("good:echo").first().waitFor();
    expect(await axeProblems(page)).toEqual([]);
  });
});

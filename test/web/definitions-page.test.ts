import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openDefined, type Defined } from "../safety/defined.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("definitions on the page of a server", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let defined: Defined;
  beforeAll(async () => {
    defined = await openDefined();
    defined.list([
      { name: "read_a", description: "Reads" },
      { name: "read_b", description: "Reads" },
    ]);
    browser = await launchBrowser();
    gateway = await startGateway({
      config: { mcpServers: { notes: { ...defined.entry, definitions: "hold" } } },
      directory: defined.directory,
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await defined[Symbol.asyncDispose]();
  });

  test("are shown with what changed, and taken or blocked there", async () => {
    const tools = async (): Promise<string[]> =>
      ((await get(`${gateway.url}/api/tools`)).json as { tools: { name: string }[] }).tools.map(({ name }) => name);
    await until(async () => (await tools()).length === 2);
    const { context, page, misdeeds } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/");
    defined.list([
      { name: "read_a", description: "Reads more" },
      { name: "read_b", description: "</script>\u202Eevil" },
    ]);
    // What comes while the page is open is on it.
    await page.getByRole("link", { name: "2 tools of notes held for review" }).click();
    const region = page.getByRole("region", { name: "Definitions" });
    const first = region.getByRole("listitem").filter({ hasText: "read_a" });
    await first.getByText('+ "description": "Reads more"').waitFor();
    await region.getByText("it has invisible characters").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    expect(await problemsOfLooks(page)).toEqual([]);
    await first.getByRole("button", { name: "Approve" }).click();
    await first.getByText("changed, and in use").waitFor();
    expect(await tools()).toEqual(["read_a"]);
    expect(JSON.stringify(await execute(gateway.url, "notes:read_a", {}))).toContain("ran read_a");
    const second = region.getByRole("listitem").filter({ hasText: "read_b" });
    await second.getByRole("button", { name: "Block" }).click();
    await second.getByText("blocked", { exact: false }).first().waitFor();
    expect(await tools()).toEqual(["read_a"]);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  });
});

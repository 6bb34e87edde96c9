import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit, type OpenDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the list of servers", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({
      config: { mcpServers: { one: badServer("--behaviours=echo"), two: badServer("--behaviours=image") } },
    });
    await untilOnline(gateway.url);
    // So wide, the process is among the columns.
    dashboard = await openDashboard(browser, gateway, { viewport: { width: 1600, height: 900 } });
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  const row = (): Locator =>
    page.getByRole("row").filter({ has: page.getByRole("link", { name: "one", exact: true }) });
  const press = async (name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).and(page.locator(":not([role=dialog] *)")).click();
  const confirm = async (name: string): Promise<void> => {
    await press(name);
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  };
  const statusOf = async (slug: string): Promise<unknown> => {
    const { json } = await get(`${gateway.url}/api/status`);
    return (json.servers as readonly { readonly server: string }[]).find(({ server }) => server === slug);
  };

  test("unfolds what can be done with a server, which stops, starts and restarts it there", async () => {
    await visit(page, gateway, "/servers");
    const before = (await statusOf("one")) as { readonly pid: number };
    await row().getByText(String(before.pid), { exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions of one" }).click();
    await confirm("Restart");
    await until(async () => ((await statusOf("one")) as typeof before).pid !== before.pid);
    await row().getByText("Online", { exact: true }).waitFor();
    const after = (await statusOf("one")) as typeof before;
    await row().getByText(String(after.pid), { exact: true }).waitFor();
    await confirm("Stop");
    await row().getByText("Stopped", { exact: true }).waitFor();
    await press("Start");
    await row().getByText("Online", { exact: true }).waitFor();
    expect(await statusOf("two")).toMatchObject({ status: "online" });
  });

  test("tries a server apart from the gateway, and switches it off and on", async () => {
    await visit(page, gateway, "/servers");
    await page.getByRole("button", { name: "Actions of one" }).click();
    await press("Try it apart from the gateway");
    await page.getByText(/^It answers as bad-server /).waitFor();
    await press("Switch off");
    await row().getByText("Off", { exact: true }).waitFor();
    expect(await statusOf("one")).toMatchObject({ status: "disabled" });
    expect(await statusOf("two")).toMatchObject({ status: "online" });
    // What it offers is known from before, so that it need not run for that.
    await press("Switch on");
    await row().getByText("Asleep: a call starts it", { exact: true }).waitFor();
    await press("Start");
    await row().getByText("Online", { exact: true }).waitFor();
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });

  test("has nothing that axe finds or that is too wide while it is unfolded, and folds again", async () => {
    await visit(page, gateway, "/servers");
    const actions = page.getByRole("button", { name: "Actions of one" });
    await actions.press("Enter");
    await page.getByRole("heading", { name: "Configuration" }).waitFor();
    const fold = page.getByRole("button", { name: "Fold one" });
    expect(await fold.getAttribute("aria-expanded")).toBe("true");
    expect(await problemsOfLooks(page)).toEqual([]);
    await visit(page, gateway, "/servers");
    await actions.press("Enter");
    await fold.press("Enter");
    await page.getByRole("heading", { name: "Configuration" }).waitFor({ state: "detached" });
  });
});

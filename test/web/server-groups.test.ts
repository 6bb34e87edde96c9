import { expect, test } from "vitest";
import { hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";
import { badServer, startGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";

test.skipIf(!hasBrowser)(
  "servers stand in the categories of their entries, folded where nothing needs anybody and there are many",
  async () => {
    const browser = await launchBrowser();
    const bad = badServer();
    const mail = Array.from({ length: 20 }, (_, at) => [`mail-${at}`, { ...bad, disabled: true, category: "Mail" }]);
    await using gateway = await startGateway({
      config: {
        mcpServers: {
          ...(Object.fromEntries(mail) as object),
          plain: bad,
          git: { ...bad, category: "Code" },
          broken: { ...bad, env: { KEY: "${NOT_SET_FOR_THIS_TEST}" }, category: "Code" },
        },
      },
    });
    const { page, misdeeds } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/servers");
    const groups = page.locator("details.group");
    await groups.filter({ hasText: "needs you" }).waitFor();
    expect(await groups.locator("summary").allTextContents()).toEqual([
      "Code 2 servers, 1 needs you",
      "Mail 20 servers",
      "Without a category 1 server",
    ]);
    expect(await page.getByRole("link", { name: "broken" }).isVisible()).toBe(true);
    expect(await page.getByRole("link", { name: "mail-7", exact: true }).isVisible()).toBe(false);
    await page.locator("summary", { hasText: "Mail" }).press("Enter");
    await page.getByRole("link", { name: "mail-7", exact: true }).waitFor();
    // Only a row that is unfolded has something below it, and the button for that is seen without scrolling sideways.
    const actions = page.getByRole("button", { name: "Actions of git" });
    const { x = 0, width = 0 } = (await actions.boundingBox()) ?? {};
    const region = await page.getByRole("region", { name: "Code" }).boundingBox();
    expect(x + width).toBeLessThan((region?.x ?? 0) + (region?.width ?? 0));
    expect(await page.locator(".row + .detail").count()).toBe(0);
    await actions.click();
    await page.locator(".row + .detail").getByRole("button", { name: "Restart" }).waitFor();
    await page.getByRole("button", { name: "Fold git" }).click();
    expect(await problemsOfLooks(page)).toEqual([]);
    await page.getByLabel("Filter servers").fill("code");
    await until(async () => (await groups.count()) === 1);
    await page.getByRole("link", { name: "git", exact: true }).waitFor();
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await browser.close();
  },
  180_000,
);

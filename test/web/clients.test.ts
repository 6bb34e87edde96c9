import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { badServer, startGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, problemsOfLooks, visit } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the page of clients", () => {
  let browser: Browser;
  let home: string;
  const file = (): string => join(home, ".cursor", "mcp.json");
  const mine = { mcpServers: { bad: badServer(), other: { command: "other" } } };
  beforeAll(async () => {
    browser = await launchBrowser();
    home = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
    await mkdir(join(home, ".cursor"));
  });
  afterAll(async () => {
    await browser.close();
    await rm(home, { recursive: true, force: true });
  });
  const surroundings = () => ({ HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
  const entry = async (): Promise<Record<string, unknown>> =>
    (JSON.parse(await readFile(file(), "utf8")) as { mcpServers: Record<string, Record<string, unknown>> }).mcpServers[
      "toolyard"
    ] ?? {};
  const ask = async (page: Page, button: string): Promise<void> =>
    await page.getByRole("button", { name: button, exact: true }).click();

  test("connects, undoes and disconnects, and says in the words of a page what that changes", async () => {
    await writeFile(file(), JSON.stringify(mine));
    const args = ["--port", String(await freePort())];
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer() } },
      args,
      env: surroundings(),
    });
    await untilOnline(gateway.url);
    const { context, page, misdeeds } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/clients");
    const connect = page.getByRole("button", { name: "Connect", exact: true });
    const undo = page.getByRole("button", { name: "Undo the last change", exact: true });
    await connect.waitFor();
    // Nothing was changed yet.
    expect(await undo.count()).toBe(0);
    await connect.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("What would be changed").getByText(`${gateway.url}/mcp`).waitFor();
    // It has a server that the gateway has, too: that is ticked, with what it saves.
    const twice = dialog.getByRole("checkbox", { name: /saves about [\d,]+ tokens/ });
    await twice.waitFor();
    expect(await twice.isChecked()).toBe(true);
    await twice.uncheck();
    await dialog.getByText("keeps servers that the gateway has too").waitFor();
    expect(await dialog.textContent()).not.toMatch(/--[a-z]|toolyard (?:connect|serve)|Nothing was changed/);
    expect(await problemsOfLooks(page)).toEqual([]);
    await twice.check();
    await dialog.getByText("keeps servers that the gateway has too").waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Change the file" }).click();
    await dialog.getByText("The file is changed.").waitFor();
    expect(await dialog.textContent()).not.toMatch(/--[a-z]|toolyard (?:connect|serve)/);
    expect(await axeProblems(page)).toEqual([]);
    expect((await entry())["url"]).toBe(`${gateway.url}/mcp`);
    await page.keyboard.press("Escape");
    await undo.click();
    await dialog.getByRole("button", { name: "Change the file" }).click();
    await dialog.getByText("The file is changed.").waitFor();
    expect(JSON.parse(await readFile(file(), "utf8"))).toEqual(mine);
    await page.keyboard.press("Escape");
    await connect.waitFor();
    await undo.waitFor({ state: "detached" });
    expect(await axeProblems(page)).toEqual([]);
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  });

  test("writes no address of a port that the system chose, but what starts the gateway", async () => {
    await writeFile(file(), JSON.stringify({ mcpServers: {} }));
    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } }, env: surroundings() });
    const { context, page } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/clients");
    await ask(page, "Connect");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The gateway's port is chosen at each start").waitFor();
    expect(await dialog.textContent()).not.toContain(":3001");
    await dialog.getByRole("button", { name: "Change the file" }).click();
    await dialog.getByText("The file is changed.").waitFor();
    const { url, args } = await entry();
    expect(url).toBeUndefined();
    expect(args).toEqual(expect.arrayContaining(["stdio", "--config", gateway.configFile]));
    await context.close();
  });
});

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  openDashboard,
  overflow,
  violations,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";

const hostile = fileName("../servers/hostile-server.mjs");

function fileName(path: string): string {
  return new URL(path, import.meta.url).pathname;
}

describe.skipIf(!hasBrowser)("a server is tried before it is added", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  let dialog: Locator;
  let text = "";
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: { mcpServers: { bad: badServer("--behaviours=canary") } } });
    text = await readFile(gateway.configFile, "utf8");
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
    dialog = page.getByRole("dialog", { name: "Add a server" });
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  async function open(kind = "command"): Promise<void> {
    await visit(page, gateway, "/servers");
    await page.getByRole("button", { name: "Add a server" }).click();
    await dialog.waitFor();
    await dialog.getByLabel("What it is").selectOption(kind);
  }

  async function expectClean(): Promise<void> {
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
  }

  const isUnchanged = async (): Promise<void> => expect(await readFile(gateway.configFile, "utf8")).toBe(text);
  const asCommand = ({ command, args }: ReturnType<typeof badServer>): string => [command, ...args].join(" ");
  const ready = async (): Promise<void> =>
    void (await until(
      async () =>
        (await dialog.getByRole("button", { name: "Test", exact: true }).getAttribute("aria-disabled")) === null,
    ));

  test("shows what it is and offers, with the keyboard alone, and writes nothing", async () => {
    await open();
    expect(await dialog.getByRole("button", { name: "Test", exact: true }).getAttribute("aria-disabled")).toBe("true");
    await dialog.getByLabel("Name", { exact: true }).fill("new");
    await dialog.getByLabel("Command, address or package").fill(asCommand(badServer("--behaviours=canary,echo")));
    await ready();
    await dialog.getByRole("button", { name: "Test", exact: true }).focus();
    await page.keyboard.press("Enter");
    await dialog.getByText(/^It answers as bad-server .*Nothing is added yet\.$/).waitFor();
    await dialog.getByText(/2 tools, 0 resources, 0 prompts; \d+ tokens/).waitFor();
    await dialog.locator("summary", { hasText: "2 tools" }).click();
    await dialog.getByText("canary", { exact: true }).waitFor();
    await expectClean();
    await page.setViewportSize({ width: 320, height: 640 });
    await expectClean();
    await page.setViewportSize({ width: 1280, height: 800 });
    await isUnchanged();
    // What is typed now was not tried.
    await dialog.getByLabel("Name", { exact: true }).fill("newer");
    await dialog.getByText(/^It answers as/).waitFor({ state: "detached" });
  });

  test("says why it cannot be used, with its last output, for a command and for an entry", async () => {
    await open("entry");
    await dialog.getByLabel("Name", { exact: true }).fill("broken");
    const entry = dialog.getByLabel("Entry", { exact: true });
    await entry.fill("[1]");
    await dialog.getByText("This is not a JSON object yet.").waitFor();
    await entry.fill(JSON.stringify(badServer("--crash-at-start")));
    await ready();
    await dialog.getByRole("button", { name: "Test", exact: true }).click();
    const alert = dialog.getByRole("alert");
    await alert.getByText("crashing at start, as asked").first().waitFor();
    await alert.getByText("None of its processes is left running.").waitFor();
    await expectClean();
    await isUnchanged();
  });

  test("that never answers is stopped with the test, and with the dialog", async () => {
    for (const way of ["Stop the test", "Close"]) {
      const pids = join(gateway.directory, way.replaceAll(" ", "-"));
      await open();
      await dialog.getByLabel("Name", { exact: true }).fill("hangs");
      const flags = ["--hang-on-initialize", "--on-discover=silent", `--write-pid=${pids}`];
      await dialog.getByLabel("Command, address or package").fill(asCommand(badServer(...flags)));
      await ready();
      await dialog.getByRole("button", { name: "Test", exact: true }).click();
      await until(() => existsSync(pids));
      await dialog.getByRole("button", { name: way }).click();
      const pid = Number.parseInt(await readFile(pids, "utf8"), 10);
      await until(() => !existsSync(`/proc/${pid}`));
      expect(await dialog.getByRole("alert").count()).toBe(0);
    }
    await isUnchanged();
  });

  test("FAULT 35: whose names and descriptions are markup is shown as text", async () => {
    await open();
    await dialog.getByLabel("Name", { exact: true }).fill("hostile");
    await dialog.getByLabel("Command, address or package").fill(`${process.execPath} ${hostile}`);
    await ready();
    await dialog.getByRole("button", { name: "Test", exact: true }).click();
    await dialog.getByText(/^It answers as/).waitFor();
    await dialog.locator("summary", { hasText: /tool/ }).first().click();
    await dialog.getByText("<img src=x", { exact: false }).first().waitFor();
    await expectClean();
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });

  test("is added as an entry once it was tried", async () => {
    await open("entry");
    await dialog.getByLabel("Name", { exact: true }).fill("added");
    const entry = { ...badServer("--behaviours=canary"), env: { COLOUR: "blue" } };
    await dialog.getByLabel("Entry", { exact: true }).fill(JSON.stringify(entry, undefined, 2));
    await ready();
    await dialog.getByRole("button", { name: "Try it, and add it" }).click();
    await dialog.getByText("It is added, and is starting.").waitFor();
    const { mcpServers } = JSON.parse(await readFile(gateway.configFile, "utf8")) as { mcpServers: object };
    expect(mcpServers).toMatchObject({ added: entry });
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });
});

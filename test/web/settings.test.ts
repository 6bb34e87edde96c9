import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";

const written = `{
  // Two people use this.
  "mcpServers": {},
  "toolyard": {
    "search": { "engine": "lexical" }, // as by default
    "limits": { "sessions": 12 }
  }
}
`;

describe.skipIf(!hasBrowser)("settings as a form", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  const fileText = async (): Promise<string> => await readFile(gateway.configFile, "utf8");
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: written, env: { TOOLYARD_EXPOSURE: "flat" } });
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  async function expectClean(): Promise<void> {
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  }
  const setting = (name: string) => page.locator(".setting").filter({ has: page.getByLabel(name, { exact: true }) });
  async function find(words: string): Promise<void> {
    await page.getByLabel("Containing").fill(words);
  }

  test("every setting has its value, what it means and where it comes from; what the file cannot change says why", async () => {
    await visit(page, gateway, "/settings");
    await page.getByText("General").first().waitFor();
    await expectClean();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await axeProblems(page, ["color-contrast"])).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    await find("sessions");
    expect(await page.getByLabel("sessions", { exact: true }).inputValue()).toBe("12");
    expect(await setting("sessions").textContent()).toMatch(/In force: from the file, line \d+\./);
    await find("exposure");
    const exposure = page.getByLabel("exposure", { exact: true });
    expect([await exposure.inputValue(), await exposure.isDisabled()]).toEqual(["flat", true]);
    expect(await setting("exposure").textContent()).toContain("given by TOOLYARD_EXPOSURE at the start");
    await find("drainTimeoutMs");
    expect(await setting("drainTimeoutMs").textContent()).toContain("In force: the default.");
    await find("no such setting");
    await page.getByText("No setting contains that").waitFor();
    await expectClean();
    await page.setViewportSize({ width: 320, height: 640 });
    await find("");
    await page.locator("details.settings-group").evaluateAll((all) => {
      for (const group of all) (group as HTMLDetailsElement).open = true;
    });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await expectClean();
  });

  test("a change is made in the text with its comments, compared, saved, and undone", async () => {
    await visit(page, gateway, "/settings");
    await find("sessions");
    const sessions = page.getByLabel("sessions", { exact: true });
    await sessions.fill("a dozen");
    await page.keyboard.press("Enter");
    await page.getByText("A whole number is needed.").waitFor();
    await sessions.fill("24");
    await page.keyboard.press("Enter");
    await page.getByText("Changed, not saved yet.").waitFor();
    expect(await sessions.evaluate((field) => field === document.activeElement)).toBe(true);
    const differences = page.getByRole("table", { name: "What it changes of what runs" });
    await differences.getByText("toolyard.limits.sessions").waitFor();
    await page.getByRole("region", { name: "Changes of the file" }).waitFor();
    expect(await fileText()).toBe(written);
    await expectClean();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved. The gateway applies it within a second.").waitFor();
    expect(await fileText()).toBe(written.replace("12", "24"));
    await page.getByRole("button", { name: "Undo the last change" }).click();
    await page.getByText("Not saved yet. What changes in the file is shown below.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved. The gateway applies it within a second.").waitFor();
    expect(await fileText()).toBe(written);
  });

  test("what was typed in the field that a click on Save leaves is saved, and the form shows what would be", async () => {
    await visit(page, gateway, "/settings");
    await find("sessions");
    const sessions = page.getByLabel("sessions", { exact: true });
    await sessions.fill("36");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved. The gateway applies it within a second.").waitFor();
    expect(await fileText()).toBe(written.replace("12", "36"));
    await page.getByRole("button", { name: "Undo the last change" }).click();
    await until(async () => (await sessions.inputValue()) === "12");
    await setting("sessions").getByText("Changed, not saved yet.").waitFor();
    await sessions.fill("48");
    await page.getByRole("button", { name: "Go back to the file" }).click();
    await until(async () => (await sessions.inputValue()) === "36");
    await page.getByRole("button", { name: "Undo the last change" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved. The gateway applies it within a second.").waitFor();
    expect(await fileText()).toBe(written);
  });

  test("a value that the gateway would refuse is not saved, and a setting can be taken out of the file", async () => {
    await visit(page, gateway, "/settings");
    await find("sessions");
    await page.getByLabel("sessions", { exact: true }).fill("0");
    await page.keyboard.press("Enter");
    await page.getByText("the gateway would refuse this text").waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("button", { name: "Take sessions out of the file" }).click();
    await page.getByText("the gateway would refuse this text").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await until(async () => !(await fileText()).includes("sessions"));
    expect(await fileText()).toContain("// Two people use this.");
    await setting("sessions").getByText("The default. The gateway runs with 12 until it is started again.").waitFor();
  });

  test("the form and the text are one: what is typed in one is in the other", async () => {
    await visit(page, gateway, "/settings");
    await find("engine");
    await page.getByLabel("engine", { exact: true }).first().selectOption("fuse");
    await page.getByText("Changed, not saved yet.").waitFor();
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await until(async () =>
      (await page.getByRole("textbox", { name: "Configuration" }).textContent())?.includes('"fuse"'),
    );
    await expectClean();
    await page.getByRole("button", { name: "Go back to the file" }).click();
    await until(
      async () => !(await page.getByRole("textbox", { name: "Configuration" }).textContent())?.includes('"fuse"'),
    );
  });
});

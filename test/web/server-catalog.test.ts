import { readFile } from "node:fs/promises";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRegistry, type RegistryStandIn } from "../cli/manage/registry-stand-in.ts";
import { openShop, realServers, type Shop } from "../cli/manage/shop.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  openDashboard,
  overflow,
  settled,
  violations,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";

const far = {
  ...{ name: "io.github.acme/far-away", version: "1.2.0", description: `Far <img src=x onerror=alert(1)> away\u202E` },
  remotes: [{ type: "streamable-http", url: "https://far.example.com/mcp" }],
};
const secret = "hunter2-hunter2-hunter2";

describe.skipIf(!hasBrowser)("servers are added from the catalog, with their values", () => {
  let browser: Browser;
  let shop: Shop;
  let registry: RegistryStandIn;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  let dialog: Locator;
  beforeAll(async () => {
    browser = await launchBrowser();
    shop = await openShop();
    registry = await startRegistry([far]);
    await shop.addProgram("npm", `echo '"2026.8.31"'`);
    // What npx would install is installed here.
    await shop.addProgram("npx", `exec '${process.execPath}' '${realServers.memory}'`);
    const waits = { ...badServer("--behaviours=canary"), env: { A: "${WEB_TEST_KEY}", B: "${input:web-id}" } };
    gateway = await startGateway({
      config: {
        mcpServers: { git: badServer("--behaviours=canary"), waits },
        toolyard: { registryUrl: registry.url },
      },
      env: { PATH: shop.environment["PATH"] ?? "" },
    });
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
    dialog = page.getByRole("dialog", { name: "Add a server" });
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    await shop[Symbol.asyncDispose]();
  });

  const open = async (): Promise<void> => {
    await visit(page, gateway, "/servers");
    await page.getByRole("button", { name: "Add a server" }).click();
    await dialog.waitFor();
    await settled(page);
  };
  const fileText = async (): Promise<string> => await readFile(gateway.configFile, "utf8");

  async function expectClean(): Promise<void> {
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflow(page)).toBe(0);
    }
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  }

  test("a tested server is found by what it does, says what it needs, is tried with its key, and added", async () => {
    await open();
    await dialog.getByRole("heading", { name: "24 tested servers" }).waitFor();
    expect(await dialog.getByRole("listitem").filter({ hasText: "git" }).getByText("Added").count()).toBe(1);
    await expectClean();
    await dialog.getByRole("searchbox", { name: "Search" }).fill("pull requests");
    await dialog.getByRole("heading", { name: "1 tested server", exact: true }).waitFor();
    await dialog.getByText("Needs npx (Node.js), which is installed; GITHUB_PERSONAL_ACCESS_TOKEN").waitFor();
    await dialog.getByRole("button", { name: "Choose github" }).click();
    const key = dialog.getByLabel("GITHUB_PERSONAL_ACCESS_TOKEN (needed)");
    expect(await key.getAttribute("type")).toBe("password");
    await key.fill(secret);
    // What stands in for npx here is no package that a sandbox could install.
    await dialog.getByRole("checkbox", { name: "Run it in a sandbox" }).uncheck();
    await expectClean();
    await dialog.getByRole("button", { name: "Test", exact: true }).click();
    await dialog.getByText(/^It answers as .*Nothing is added yet\.$/).waitFor();
    expect(await fileText()).not.toContain("github");
    await dialog.getByRole("button", { name: "Try it, and add it" }).click();
    await dialog.getByText("It is added, and is starting.").waitFor();
    await dialog.getByText("GITHUB_PERSONAL_ACCESS_TOKEN is kept encrypted").waitFor();
    expect(await fileText()).toContain("${GITHUB_PERSONAL_ACCESS_TOKEN}");
    expect(await fileText()).not.toContain(secret);
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await page.content()).not.toContain(secret);
  });

  test("the registry is searched as well, and what it says is shown as text", async () => {
    await open();
    await dialog.getByRole("searchbox", { name: "Search" }).fill("far-away");
    await dialog.getByRole("heading", { name: "1 server of the registry, unchecked" }).waitFor();
    await dialog.getByText("Far <img src=x onerror=alert(1)> away", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Choose io.github.acme/far-away" }).click();
    await dialog.getByText("https://far.example.com/mcp", { exact: true }).waitFor();
    await dialog.getByText("Needs perhaps a login").waitFor();
    expect(await dialog.getByLabel("Name", { exact: true }).inputValue()).toBe("far-away");
    await expectClean();
    await dialog.getByRole("button", { name: "Choose another" }).click();
    await dialog.getByRole("searchbox", { name: "Search" }).waitFor();
  });

  test("a command takes variables in rows, and is added all the same where it does not answer", async () => {
    await open();
    await dialog.getByLabel("What it is").selectOption("command");
    await dialog.getByLabel("Name", { exact: true }).fill("mute");
    await dialog.getByLabel("Command, address or package").fill("no-such-program --x");
    for (const [at, [name, value]] of [
      ["MUTE_TOKEN", secret],
      ["REGION", "eu"],
    ].entries()) {
      await dialog.getByRole("button", { name: "Add a variable" }).click();
      await dialog.getByLabel(`Name of variable ${at + 1}`).fill(name ?? "");
      await dialog.getByLabel(`Value of variable ${at + 1}`).fill(value ?? "");
    }
    expect(await dialog.getByLabel("Value of variable 1").getAttribute("type")).toBe("password");
    expect(await dialog.getByLabel("Value of variable 2").getAttribute("type")).toBe("text");
    await expectClean();
    expect(await dialog.getByRole("button", { name: "Add it all the same" }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Try it, and add it" }).click();
    await dialog.getByText("Nothing was changed.").waitFor();
    expect(await fileText()).not.toContain("mute");
    await dialog.getByRole("button", { name: "Add it all the same" }).click();
    await dialog.getByText("It is added, and is starting.").waitFor();
    const { mcpServers } = JSON.parse(await fileText()) as { mcpServers: Record<string, object> };
    expect(mcpServers["mute"]).toEqual({
      command: "no-such-program",
      args: ["--x"],
      env: { MUTE_TOKEN: "${MUTE_TOKEN}", REGION: "eu" },
    });
  });

  test("an address takes headers in rows", async () => {
    await open();
    await dialog.getByLabel("What it is").selectOption("target");
    await dialog.getByRole("button", { name: "Add a header" }).click();
    await dialog.getByLabel("Name of header 1").fill("Authorization");
    expect(await dialog.getByLabel("Value of header 1").getAttribute("type")).toBe("password");
    await dialog.getByRole("button", { name: "Take out header 1" }).click();
    expect(await dialog.getByLabel("Name of header 1").count()).toBe(0);
  });

  test("missing values are given where the problem is said, and the server starts with them", async () => {
    await visit(page, gateway, "/servers/waits");
    await page.getByText("the variable WEB_TEST_KEY is not set", { exact: false }).first().waitFor();
    await page.getByLabel("WEB_TEST_KEY").fill(secret);
    await page.getByLabel("TOOLYARD_INPUT_WEB_ID").fill("an-id-of-the-web");
    await expectClean();
    await page.getByRole("button", { name: "Keep encrypted" }).click();
    await page.getByText("Online", { exact: true }).first().waitFor();
    await visit(page, gateway, "/servers/waits?tab=entry");
    await page.getByRole("heading", { name: "Values" }).waitFor();
    expect(await page.getByText("A value is kept, and is not shown.", { exact: false }).count()).toBe(2);
    expect(await page.getByLabel("WEB_TEST_KEY").inputValue()).toBe("");
    expect(await page.content()).not.toContain(secret);
    expect(await overflow(page)).toBe(0);
    await page.getByRole("button", { name: "Forget" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
    await page.getByText("Wrong entry", { exact: true }).first().waitFor();
  });
});

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { packageName, startNpmRegistry, type NpmRegistry } from "../runners/npm-registry.ts";
import { insideServer, makeHome } from "../safety/inside.ts";
import { marks, sandboxes, serversOf, unmarked } from "../safety/loosened.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, overflow, visit, violations } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("sandboxes of new servers in the browser:", () => {
  let browser: Browser;
  let directory: string;
  let home: string;
  let registry: NpmRegistry;
  let gateway: RunningGateway;
  let page: Page;
  let dialog: Locator;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => await browser.close());
  beforeEach(async () => {
    directory = await makeHome();
    home = join(directory, "home");
    registry = await startNpmRegistry(directory);
    // Below the home: of a folder for temporary files nothing is preselected.
    symlinkSync(insideServer, join(home, "server.mjs"));
    mkdirSync(join(home, ".cursor"));
    writeFileSync(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: serversOf(home) }));
  });
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const written = (): Record<string, { sandbox?: unknown }> =>
    JSON.parse(readFileSync(gateway.configFile, "utf8")).mcpServers;

  async function start(mode: "off" | "auto" = "off"): Promise<void> {
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
    gateway = await startGateway({ config: { mcpServers: {}, toolyard: { sandbox: { mode } } }, directory, env });
    ({ page } = await openDashboard(browser, gateway));
    dialog = page.getByRole("dialog", { name: "Add a server" });
  }

  async function open(kind: string): Promise<void> {
    await visit(page, gateway, "/servers");
    await page.getByRole("button", { name: "Add a server" }).click();
    await dialog.getByLabel("What it is").selectOption(kind);
  }

  async function expectClean(picture: string): Promise<void> {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect([await axeProblems(page), await violations(page), await overflow(page)]).toEqual([[], [], 0]);
      const folder = process.env["TOOLYARD_TEST_PICTURES"];
      if (folder !== undefined) await page.screenshot({ path: join(folder, `${picture}-${width}.png`) });
    }
  }

  async function addVariable(at: number, name: string, value: string): Promise<void> {
    await dialog.getByRole("button", { name: "Add a variable" }).click();
    await dialog.getByLabel(`Name of variable ${at}`).fill(name);
    await dialog.getByLabel(`Value of variable ${at}`).fill(value);
  }

  test("45 an entry that loosens its sandbox is shown, not ticked, and asked about", async () => {
    await start("auto");
    await visit(page, gateway, "/start");
    await page.getByLabel(/^root /).waitFor();
    for (const [name, [, mark]] of Object.entries(sandboxes)) {
      const card = page.locator("li.card").filter({ has: page.getByLabel(new RegExp(`^${name} `)) });
      expect(await card.getByRole("checkbox").isChecked(), name).toBe(mark === undefined);
      if (mark !== undefined) await card.getByText(mark, { exact: true }).waitFor();
    }
    await page.getByText('its sandbox: {"read":["/"]}').first().waitFor();
    await page.getByRole("button", { name: `Take over ${unmarked.length} servers` }).waitFor();
    await expectClean("import");
    await open("entry");
    await dialog.getByLabel("Name").fill("wide");
    const entry = { command: process.execPath, args: [insideServer], sandbox: { read: ["/"], network: [] } };
    await dialog.getByLabel("Entry", { exact: true }).fill(JSON.stringify(entry));
    // What it says itself counts: there is nothing to propose.
    expect(await dialog.getByLabel("Run it in a sandbox").count()).toBe(0);
    await dialog.getByRole("button", { name: "Try it, and add it" }).click();
    await dialog.getByText(`wide: ${marks.reads}`).waitFor();
    expect(Object.keys(written())).toEqual([]);
    await expectClean("asked");
    await dialog.getByRole("button", { name: "Add it with this sandbox" }).click();
    await dialog.getByText("It is added, and is starting.").waitFor();
    expect(written()["wide"]?.sandbox).toEqual(entry.sandbox);
  });

  test("a package is tried in one, and its entry says so when its tools came up", async () => {
    await start();
    await open("command");
    await dialog.getByLabel("Name").fill("packaged");
    await dialog.getByLabel("Command, address or package").fill(`npx -y ${packageName}@^1`);
    const box = dialog.getByLabel("Run it in a sandbox");
    await box.waitFor();
    expect(await box.isChecked()).toBe(true);
    await dialog.getByText(/It sees the system's programs, .* It reaches every public host/).waitFor();
    await dialog.getByText("It runs on the gateway’s machine, in a sandbox.").waitFor();
    await addVariable(1, "npm_config_registry", registry.url.replace("127.0.0.1", "localhost"));
    await addVariable(2, "npm_config_replace_registry_host", "always");
    await dialog.getByRole("button", { name: "Test", exact: true }).click();
    await dialog.getByText(/^It answers as .*Nothing is added yet\.$/).waitFor();
    expect(registry.requests).toContain(`/${packageName}.tgz`);
    // It was installed into a home of its own.
    expect(JSON.stringify(written())).toBe("{}");
    await expectClean("proposed");
    await dialog.getByRole("button", { name: "Try it, and add it" }).click();
    await dialog.getByText("It is added, and is starting.").waitFor();
    expect(written()["packaged"]?.sandbox).toBe(true);
  });

  test("what lives on your keys or files is not, unless you say so", async () => {
    await start();
    await open("command");
    const box = dialog.getByLabel("Run it in a sandbox");
    const command = dialog.getByLabel("Command, address or package");
    for (const [text, isProposed] of [
      ["npx -y weather-server", true],
      ["npx -y @cyanheads/git-mcp-server", false],
      ["npx -y mcp-server-kubernetes", false],
      ["uvx awslabs.aws-api-mcp-server", false],
      ["docker run -i image", false],
      ["uvx mcp-server-time", true],
      ["/usr/local/bin/server", false],
    ] as const) {
      await command.fill(text);
      await box.waitFor();
      expect(await box.isChecked(), text).toBe(isProposed);
    }
    await dialog.getByLabel("What it is").selectOption("target");
    await box.waitFor({ state: "detached" });
  });

  test("one that does not work in a sandbox is added without one by a choice of its own", async () => {
    await start();
    await open("command");
    await dialog.getByLabel("Name").fill("needy");
    // Its file is not among its arguments, so that it is not there inside.
    const script = `import(process.env.SERVER_FILE)`;
    await dialog.getByLabel("Command, address or package").fill(`${process.execPath} -e "${script}"`);
    await addVariable(1, "SERVER_FILE", join(home, "server.mjs"));
    await dialog.getByLabel("Run it in a sandbox").check();
    await dialog.getByRole("button", { name: "Try it, and add it" }).click();
    const again = dialog.getByRole("button", { name: "Try it without a sandbox" });
    await again.waitFor();
    expect(Object.keys(written())).toEqual([]);
    await expectClean("fails");
    await again.click();
    await dialog.getByText("It is added, and is starting.").waitFor();
    expect(written()["needy"]).not.toHaveProperty("sandbox");
  });
});

import { readFile, writeFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  openDashboard,
  problemsOfLooks,
  settled,
  violations,
  visit,
} from "./dashboard.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { run } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const everything = {
  command: process.execPath,
  args: [
    new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url).pathname,
    "stdio",
  ],
  displayName: "Everything",
  requestLogging: "full",
};

const pages = [
  ["/", "Overview"],
  ["/servers", "Servers"],
  ["/servers/everything", "Everything"],
  ["/servers/everything?tab=log", "Everything"],
  ["/servers/everything?tab=about", "Everything"],
  ["/servers/everything?tab=tools", "Everything"],
  ["/servers/everything?tab=entry", "Everything"],
  ["/servers/everything?tab=nothing", "Everything"],
  ["/servers/broken", "broken"],
  ["/servers/nobody", "nobody"],
  ["/tools", "Tools"],
  ["/tools?match=zzzz", "Tools"],
  ["/tools?sort=tokens", "Tools"],
  ["/search", "Search"],
  ["/search?query=add%20two%20numbers", "Search"],
  ["/search?query=add%20two%20numbers%0Aecho%20a%20text", "Search"],
  ["/search?tab=kept", "Search"],
  ["/run/everything%3Aget-sum", "everything:get-sum"],
  ["/run/nobody%3Anothing", "nobody:nothing"],
  ["/calls", "Calls"],
  ["/calls?failed=true", "Calls"],
  ["/logs", "Logs and events"],
  ["/logs?tab=events", "Logs and events"],
  ["/protocol", "Protocol"],
  ["/clients", "Clients"],
  ["/tokens", "Token cost"],
  ["/settings", "Settings"],
  ["/start", "Start"],
  ["/api", "API"],
  ["/people", "People and teams"],
  ["/nowhere", "There is no such page"],
] as const;

/** Those that show nothing before the gateway has answered. */
const asking = [
  "/",
  "/servers",
  "/servers/everything",
  "/tools",
  "/search?query=add",
  "/search?tab=kept",
  "/run/everything%3Aget-sum",
].concat(["/resources", "/calls", "/calls/0", "/logs", "/clients", "/tokens", "/settings", "/start"]);

/** Nobody is kept out, nothing is loaded from elsewhere, and the policy of the page is kept. */
async function expectClean(page: Page): Promise<void> {
  expect(await axeProblems(page)).toEqual([]);
  expect(await violations(page)).toEqual([]);
}

describe.skipIf(!hasBrowser)("pages", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => await browser.close());

  describe("of a gateway that works", () => {
    let gateway: RunningGateway;
    beforeAll(async () => {
      gateway = await startGateway({ config: { mcpServers: { everything, broken: badServer("--crash-at-start") } } });
      await untilOnlineBut(gateway, "broken");
      await run(gateway.url, "everything:get-sum", { a: 1, b: 2 });
      await run(gateway.url, "everything:get-sum", { a: "x" });
    });
    afterAll(async () => await gateway[Symbol.asyncDispose]());

    test("each is complete, wide and at 320 pixels, light and dark, and axe finds nothing", async () => {
      const { context, page, misdeeds } = await openDashboard(browser, gateway);
      for (const [path, heading] of pages) {
        await visit(page, gateway, path);
        expect([path, await page.getByRole("heading", { level: 1 }).textContent()]).toEqual([path, heading]);
        expect([path, await problemsOfLooks(page)]).toEqual([path, []]);
      }
      expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
      await context.close();
    }, 600_000);

    test("tools, servers and clients say when they were last used", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      const inAnHour = '[title^="In the hour from"]';
      for (const [path, row, other] of [
        ["/tools", "everything:get-sum", "everything:get-tiny-image"],
        ["/servers", "Everything", "broken"],
      ] as const) {
        await visit(page, gateway, path);
        await page.getByRole("row").filter({ hasText: row }).locator(inAnHour).waitFor();
        await page.getByRole("row").filter({ hasText: other }).locator('[title="not in 30 days"]').waitFor();
      }
      await visit(page, gateway, "/clients");
      await page.getByRole("list", { name: "Used the gateway" }).locator(inAnHour).first().waitFor();
      await context.close();
    });

    test("events that do not fit a filter are not said to be none", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/logs?tab=events");
      await page.getByText("Live", { exact: true }).waitFor();
      await run(gateway.url, "everything:get-sum", { a: 1, b: 2 });
      await page.getByRole("list", { name: "Events" }).getByRole("link", { name: "everything" }).first().waitFor();
      await page.getByLabel("Type or server containing").fill("zzzz");
      await page.getByText(/^None of \d+ events? fits this filter$/).waitFor();
      await expectClean(page);
      await context.close();
    });

    test("each says that it loads, and then why it cannot", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      // The gateway answers whoever is logged in, and nothing else until it is let go.
      let letGo = (): void => undefined;
      await context.route(/\/api\/(?!session|events)/, async (route) => {
        await new Promise<void>((resolve) => {
          const before = letGo;
          letGo = () => {
            before();
            resolve();
          };
        });
        await route.abort();
      });
      for (const path of asking) {
        await page.goto(`${gateway.url}/ui${path}`);
        await page.locator(".skeleton").first().waitFor();
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect([path, await axeProblems(page)]).toEqual([path, []]);
        // What is asked for only now is not kept waiting either.
        while ((await page.locator(".skeleton").count()) > 0) {
          letGo();
          letGo = () => undefined;
        }
        await page.getByRole("alert").first().waitFor();
        expect([path, await axeProblems(page)]).toEqual([path, []]);
      }
      await context.close();
    }, 600_000);

    test("the navigation of a narrow screen is behind a button", async () => {
      const { context, page } = await openDashboard(browser, gateway, { viewport: { width: 320, height: 640 } });
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("link", { name: "Servers", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Servers" }).waitFor();
      await expectClean(page);
      await context.close();
    });

    test("what needs a person comes first, with what to do", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      const needs = page.getByRole("region", { name: "Needs you" });
      await needs.waitFor();
      expect(await needs.textContent()).toContain("broken");
      await visit(page, gateway, "/servers/broken");
      expect(await page.locator("header.page-head").textContent()).toMatch(/Cannot start|Restarting|Given up/);
      await context.close();
    });

    test("a configuration that is refused while the gateway runs is among what needs a person, until it is mended", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      const needs = page.getByRole("region", { name: "Needs you" });
      await needs.waitFor();
      const text = await readFile(gateway.configFile, "utf8");
      await writeFile(gateway.configFile, "{");
      const refused = needs.getByText(/changed configuration is refused: .*:1:2: /);
      await refused.waitFor();
      await expectClean(page);
      await writeFile(gateway.configFile, text);
      await refused.waitFor({ state: "detached" });
      await context.close();
    });

    test("calls are counted by the minute while they are made, and over each time that is chosen", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      const calls = page.getByRole("region", { name: "Calls", exact: true });
      await page.getByRole("button", { name: "Hour", exact: true }).click();
      await calls.getByRole("img", { name: "Calls and failures by minute, in the last hour" }).waitFor();
      const sum = async (): Promise<number> => {
        const cells = await calls.locator("tbody tr td:nth-child(2)").allTextContents();
        expect(cells).toHaveLength(60);
        return cells.reduce((total, cell) => total + Number(cell), 0);
      };
      const before = await sum();
      expect(before).toBeGreaterThan(0);
      await run(gateway.url, "everything:get-sum", { a: 1, b: 2 });
      await until(async () => (await sum()) > before);
      for (const [button, name] of [
        ["Day", "by hour, in the last 24 hours"],
        ["Week", "by 6 hours, in the last 7 days"],
        ["Month", "by day, in the last 30 days"],
      ] as const) {
        await page.getByRole("button", { name: button, exact: true }).click();
        await calls.getByRole("img", { name: `Calls and failures ${name}` }).waitFor();
        expect(new URL(page.url()).searchParams.get("range")).toBe(button.toLowerCase());
      }
      await expectClean(page);
      await context.close();
    });

    test("a call leads to what was said in it", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/calls");
      await page.getByRole("link", { name: "everything:get-sum" }).last().click();
      await page.getByRole("heading", { name: "Arguments" }).waitFor();
      expect(await page.getByRole("region", { name: "Result" }).textContent()).toContain("The sum of 1 and 2 is 3");
      await expectClean(page);
      await page.getByRole("link", { name: "Run it again" }).click();
      await page.getByRole("heading", { level: 1, name: "everything:get-sum" }).waitFor();
      expect([await page.getByLabel(/^a/).inputValue(), await page.getByLabel(/^b/).inputValue()]).toEqual(["1", "2"]);
      await context.close();
    });

    test("everything is reached with the keyboard", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      await page.getByRole("heading", { level: 1, name: "Servers" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await page.keyboard.press("/");
      const palette = page.getByRole("dialog", { name: "Search or do" });
      await palette.waitFor();
      await page.keyboard.type("add numbers");
      await palette.getByRole("option", { name: "Search tools for “add numbers”", selected: true }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "everything:get-sum" }).waitFor();
      await page.getByRole("link", { name: "everything:get-sum" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "everything:get-sum" }).waitFor();
      await page.getByLabel(/^a/).fill("20");
      await page.keyboard.press("Tab");
      await page.keyboard.type("22");
      await page.keyboard.press("Enter");
      await page.getByText("The sum of 20 and 22 is 42.").waitFor();
      await context.close();
    });

    test("a dialog takes the focus and keeps it, says what would happen, and gives the focus back", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/servers/everything");
      const restart = page.getByRole("button", { name: "Restart", exact: true });
      await restart.click();
      const dialog = page.getByRole("dialog", { name: "Restart Everything?" });
      await dialog.waitFor();
      await expectClean(page);
      const hasFocus = async (): Promise<boolean> =>
        await dialog.evaluate((element) => element.contains(document.activeElement));
      for (const key of ["Tab", "Tab", "Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab"]) {
        await page.keyboard.press(key);
        await until(hasFocus);
      }
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await until(async () => await restart.evaluate((element) => element === document.activeElement));
      await context.close();
    });

    test("a dialog keeps what was typed, and stays open until its order is answered", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/servers");
      await page.getByRole("button", { name: "Add a server" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a server" });
      const command = dialog.getByLabel("Command, address or package");
      await dialog.getByLabel("What it is").selectOption("command");
      await command.fill("/nowhere/at-all");
      await dialog.getByLabel("Name").fill("nowhere");
      await page.mouse.click(5, 5);
      await dialog.getByRole("button", { name: "Close" }).click();
      await dialog.waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Add a server" }).click();
      await until(async () => (await command.inputValue()) === "/nowhere/at-all");
      let letGo = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      await context.route(/\/api\/servers$/, async (route) => {
        await held;
        await route.continue();
      });
      await dialog.getByRole("button", { name: "Try it, and add it" }).click();
      await dialog.getByText("Trying it").waitFor();
      await page.keyboard.press("Escape");
      await dialog.getByRole("button", { name: "Close" }).click({ force: true });
      expect(await dialog.isVisible()).toBe(true);
      await expectClean(page);
      letGo();
      await dialog.getByText("Trying it").waitFor({ state: "detached" });
      await until(async () => (await command.inputValue()) === "/nowhere/at-all");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await context.close();
    });

    test("a list can be copied as a command where a command shows the same", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      for (const [path, commands] of [
        ["/servers", 1],
        ["/servers?match=every", 0],
        ["/tools?match=sum", 1],
        ["/tools?match=sum&changes=writes", 0],
        ["/tools?match=sum&sort=tokens", 0],
        ["/calls?server=everything", 1],
        ["/calls?client=me", 0],
      ] as const) {
        await visit(page, gateway, path);
        const found = await page.getByRole("button", { name: "Copy as command" }).count();
        expect([path, found]).toEqual([path, commands]);
      }
      await context.close();
    });

    test("a server that is restarted is seen at once, without a reload", async () => {
      const { context, page } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/servers/everything");
      const before = await page.getByText("Started in").count();
      await page.getByRole("button", { name: "Restart", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
      await until(async () => (await page.getByText("Started in").count()) > before);
      const history = page.getByRole("region", { name: "History" });
      for (const word of ["Online", "Reading tools", "Starting"])
        await history.locator(".status").getByText(word, { exact: true }).first().waitFor();
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
      await history.locator(".status").getByText("Stopped", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.locator(".page-head .status").getByText("Online", { exact: true }).waitFor();
      await context.close();
    });
  });

  describe("of a gateway with nothing in it", () => {
    test("each says why it is empty, and what to do", async () => {
      await using gateway = await startGateway({ config: { mcpServers: {} } });
      const { context, page, misdeeds } = await openDashboard(browser, gateway);
      const empty = [
        ["/", "No server is configured yet"],
        ["/servers", "No server is configured yet"],
        ["/tools", "No server is configured yet"],
        ["/search", "No server offers a tool yet, so that nothing can be found"],
        ["/search?tab=kept", "You keep no search as a test yet"],
        ["/calls", "No call yet"],
        ["/logs", "Nothing was written yet"],
        ["/tokens", "No server offers a tool yet"],
      ] as const;
      for (const [path, text] of empty) {
        await visit(page, gateway, path);
        await page.getByText(text).waitFor();
        await expectClean(page);
      }
      expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
      await context.close();
    });
  });

  describe("of a gateway that nobody has used yet", () => {
    test("examples are added with a click, and the overview says what is done of the start until the first call", async () => {
      await using gateway = await startGateway({ config: { mcpServers: {} } });
      const { context, page, misdeeds } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/servers");
      await page.getByRole("button", { name: "Try it with three examples" }).click();
      const table = page.getByRole("table", { name: "Servers" });
      await table.getByRole("link", { name: "memory" }).waitFor();
      await expect
        .poll(async () => await table.getByText("Online", { exact: true }).count(), { timeout: 60_000 })
        .toBe(3);
      await visit(page, gateway, "/");
      const steps = page.getByRole("region", { name: "Until the first call" });
      expect(await steps.getByRole("listitem").first().textContent()).toContain("3 servers done");
      await steps.getByText("it counts once it has asked for its tools").waitFor();
      expect(await problemsOfLooks(page)).toEqual([]);
      await rpc(`${gateway.url}/mcp`, "tools/list");
      await visit(page, gateway, "/");
      await expect
        .poll(async () => await steps.getByText("done", { exact: true }).count(), { timeout: 60_000 })
        .toBe(2);
      await run(gateway.url, "everything:get-sum", { a: 1, b: 2 });
      await steps.waitFor({ state: "detached" });
      expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
      await context.close();
    });
  });

  describe("of a gateway that cannot answer", () => {
    test("each says what is wrong and what to do about it", async () => {
      const config = { mcpServers: {}, toolyard: { records: { store: "off" } } };
      await using gateway = await startGateway({ config });
      const { context, page } = await openDashboard(browser, gateway);
      for (const path of ["/calls", "/logs"]) {
        await visit(page, gateway, path);
        await page.getByRole("alert").getByText("STORE_UNAVAILABLE").waitFor();
        await expectClean(page);
      }
      await visit(page, gateway, "/run/nobody%3Anothing").catch(() => undefined);
      await page.getByRole("alert").first().waitFor();
      await settled(page);
      await expectClean(page);
      await context.close();
    });

    test("what is down is tried or started without a question, and what that cannot bring up has no such button", async () => {
      const far = { url: "http://127.0.0.1:9/mcp" };
      const wrong = badServer();
      const mcpServers = { far, wrong: { ...wrong, env: { KEY: "${NOT_SET_FOR_THIS_TEST}" } }, bad: badServer() };
      await using gateway = await startGateway({ config: { mcpServers } });
      const { context, page } = await openDashboard(browser, gateway);
      await visit(page, gateway, "/servers/far");
      await page.getByText("Does not answer").first().waitFor();
      await page.getByRole("button", { name: "Try now" }).click();
      const history = page.getByRole("region", { name: "History" });
      await until(async () => (await history.getByText("Does not answer").count()) > 1);
      await expectClean(page);
      await visit(page, gateway, "/servers/wrong");
      await page.getByText("Wrong entry").first().waitFor();
      expect(await page.locator(".page-head").getByRole("button").count()).toBe(0);
      await visit(page, gateway, "/servers");
      await page.getByRole("link", { name: "2 need you" }).waitFor();
      await context.close();
    });
  });
});

async function untilOnlineBut(gateway: RunningGateway, broken: string): Promise<void> {
  await until(async () => {
    const servers = (await (await fetch(`${gateway.url}/api/servers`)).json()) as {
      readonly servers: readonly { readonly slug: string; readonly status: string }[];
    };
    return servers.servers.every(({ slug, status }) => slug === broken || status === "online");
  });
}

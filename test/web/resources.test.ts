import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";

const everything = {
  command: process.execPath,
  args: [
    new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url).pathname,
    "stdio",
  ],
  displayName: "Everything",
};

const app = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../servers/app-server.mjs", import.meta.url))],
};

const pages = [
  "",
  "?tab=templates",
  "?tab=prompts",
  "?tab=prompts&prompt=everything-args-prompt",
  "?match=zzzz",
  "?tab=prompts&match=zzzz",
];

describe.skipIf(!hasBrowser)("resources and prompts", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  const post = async (path: string, body: object) =>
    await send(`${gateway.url}${path}`, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: { mcpServers: { everything, app, bad: badServer("--resources") } } });
    await untilOnline(gateway.url);
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

  test("prompts are listed, written and completed over REST, with a problem for what is none", async () => {
    const { prompts } = (await get(`${gateway.url}/api/prompts`)).json as {
      readonly prompts: readonly { readonly name: string; readonly server: string }[];
    };
    expect(prompts.map(({ name, server }) => [name, server])).toContainEqual(["everything-args-prompt", "everything"]);
    expect((await get(`${gateway.url}/api/prompts?server=bad`)).json.prompts).toEqual([]);
    const written = await post("/api/prompts/everything-args-prompt", { arguments: { city: "Bern" } });
    expect([written.status, JSON.stringify(written.json.messages)]).toEqual([200, expect.stringContaining("Bern")]);
    const unknown = await post("/api/prompts/nobody", {});
    expect([unknown.status, unknown.json.code]).toEqual([404, "PROMPT_UNKNOWN"]);
    const missing = await post("/api/prompts/everything-args-prompt", { arguments: {} });
    expect([missing.status, missing.json.code]).toEqual([400, "PARAMS_INVALID"]);
    const ref = { type: "ref/prompt", name: "everything-completable-prompt" };
    const proposed = await post("/api/complete", { ref, argument: { name: "department", value: "E" } });
    expect(proposed.json.completion.values).toEqual(["Engineering"]);
    const context = { arguments: { department: "Engineering" } };
    const next = await post("/api/complete", { ref, argument: { name: "name", value: "" }, context });
    expect(next.json.completion.values).toContain("Alice");
    const wrong = await post("/api/complete", {
      ref: { type: "ref/prompt", name: "x" },
      argument: { name: "a", value: "" },
    });
    expect(wrong.json.code).toBe("PROMPT_UNKNOWN");
  });

  test("every state is complete, in the light and in the dark, on a wide and on a narrow screen", async () => {
    for (const query of pages) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "light" });
      await visit(page, gateway, `/resources${query}`);
      await expectClean();
      await page.emulateMedia({ colorScheme: "dark" });
      expect([query, await axeProblems(page, ["color-contrast"])]).toEqual([query, []]);
      await page.setViewportSize({ width: 320, height: 640 });
      expect([query, await overflow(page)]).toEqual([query, 0]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: "light" });
  });

  test("a resource is read as text, and anything that is no text can be saved", async () => {
    await visit(page, gateway, "/resources");
    const list = page.getByRole("list", { name: "Resources" });
    await list.getByRole("button").first().click();
    const content = page.getByRole("region", { name: "Content" });
    await content.getByRole("button", { name: "Download" }).waitFor();
    expect(await content.locator("pre").textContent()).not.toBe("");
    await expectClean();
    await page.getByLabel("Address", { exact: true }).fill("everything|demo://resource/dynamic/blob/1");
    await page.keyboard.press("Enter");
    await content.getByText("that are no text and no picture").waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      content.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("1");
    await page.getByLabel("Address", { exact: true }).fill("everything|demo://nothing");
    await page.keyboard.press("Enter");
    await content.getByRole("alert").waitFor();
    await expectClean();
  });

  test("a template has a field for each of its variables, and reads what they make", async () => {
    await visit(page, gateway, "/resources?tab=templates&match=text");
    const template = page.getByRole("form").filter({ hasText: "demo://resource/dynamic/text/" }).first();
    const field = template.getByRole("combobox").or(template.getByRole("textbox")).first();
    await field.fill("7");
    await template.getByRole("button", { name: "Read it" }).click();
    await page.getByRole("region", { name: "Content" }).getByText("Resource 7").first().waitFor();
    await expectClean();
  });

  test("a prompt takes its arguments from a form, which the server completes, and shows what was written", async () => {
    await visit(page, gateway, "/resources?tab=prompts");
    await page.getByRole("list", { name: "Prompts" }).getByRole("button", { name: "Team Management" }).click();
    const department = page.getByLabel("department (needed)");
    await department.fill("E");
    await page.locator("datalist option[value=Engineering]").waitFor({ state: "attached" });
    await department.fill("Engineering");
    const name = page.getByLabel("name (needed)");
    await name.focus();
    await page.locator("datalist option[value=Alice]").waitFor({ state: "attached" });
    await name.fill("Alice");
    await page.getByRole("button", { name: "Get the prompt" }).click();
    const answer = page.getByRole("region", { name: "What the server wrote" });
    await answer.waitFor();
    expect(await answer.textContent()).toContain("Alice");
    await expectClean();
  });

  test("a resource that changes is read again while it is shown, and one that never tells of it says so", async () => {
    await visit(page, gateway, `/resources?uri=${encodeURIComponent("everything|demo://resource/dynamic/text/1")}`);
    const content = page.getByRole("region", { name: "Content" });
    await content.getByText("It is read again when the server says that it has changed.").waitFor();
    const before = await content.locator("pre").textContent();
    // Its text has the time of reading in it.
    await post("/execute/everything:toggle-subscriber-updates", {});
    await content.getByText("The server said at").waitFor();
    await page.waitForFunction((old) => document.querySelector("#main pre")?.textContent !== old, before);
    await expectClean();
    await post("/execute/everything:toggle-subscriber-updates", {});
    await visit(page, gateway, `/resources?uri=${encodeURIComponent("app|ui://clock/page")}`);
    await content.getByText("Its server does not tell of changes.").waitFor();
    await expectClean();
    const unknown = await post("/api/resources/watch", { uri: "nobody|x:y" });
    expect([unknown.status, unknown.json.code]).toEqual([404, "RESOURCE_UNKNOWN"]);
  });

  test("a gateway whose servers offer nothing says so", async () => {
    await using empty = await startGateway({ config: { mcpServers: {} } });
    const opened = await openDashboard(browser, empty);
    for (const [query, text] of [
      ["", "None of your servers offers resources"],
      ["?tab=templates", "None of your servers offers templates"],
      ["?tab=prompts", "None of your servers offers prompts"],
    ] as const) {
      await visit(opened.page, empty, `/resources${query}`);
      await opened.page.getByText(text).waitFor();
      await settled(opened.page);
      expect(await axeProblems(opened.page)).toEqual([]);
    }
    await opened.context.close();
  });
});

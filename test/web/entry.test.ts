import { readFile, writeFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entryTextOf, entryValues, placeInEntry, withEntryText } from "../../web/src/words/text/entry-text.ts";
import { toEntryFields } from "../../web/src/words/settings/setting-fields.ts";
import { configurationSchema } from "../../src/config/settings/config-schema.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import {
  hasBrowser,
  launchBrowser,
  openDashboard,
  problemsOfLooks,
  settled,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";

const { command, args } = badServer("--behaviours=echo,image,env");
const written = `{
  // what we use
  "mcpServers": {
    "one": {
      "command": ${JSON.stringify(command)},
      "args": ${JSON.stringify(args)},
      // of the test
      "env": { "COLOUR": "blue" }
    },
    "other.one": ${JSON.stringify({ command, args, disabled: true })}
  }
}
`;

test("an entry stands by itself as text, and in its place again as it was", () => {
  const entry = entryTextOf(written, ["mcpServers", "one"]);
  if (entry === undefined) throw new Error("there is none");
  expect(entry.own.split("\n").slice(3)).toEqual(["  // of the test", '  "env": { "COLOUR": "blue" }', "}"]);
  expect(withEntryText(entry, entry.own)).toBe(written);
  const line = written.split("\n").findIndex((text) => text.includes("COLOUR")) + 1;
  expect(placeInEntry(entry, { line, column: 7 })).toEqual({ line: 5, column: 3 });
  expect(placeInEntry(entry, { line: 1, column: 1 })).toBeUndefined();
  expect(placeInEntry(entry, { line: line + 2, column: 9 })).toBeUndefined();
  expect(entryTextOf(written, ["mcpServers", "nobody"])).toBeUndefined();
  expect(entryValues(written, ["mcpServers", "one"])).toMatchObject({ env: { COLOUR: "blue" } });
});

test("fields of an entry have the kind that the form can hold, and those of other clients are left out", () => {
  const fields = new Map(toEntryFields(configurationSchema()).map(({ name, kind }) => [name, kind]));
  expect(
    ["command", "args", "env", "headers", "enabled", "scope", "callTimeoutMs", "tools"].map((name) => fields.get(name)),
  ).toEqual([...["text", "lines", "pairs", "pairs", "boolean", "choice", "number", "other"]]);
  expect(fields.has("autoApprove")).toBe(false);
});

describe.skipIf(!hasBrowser)("the entry of a server", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  const fileText = async (): Promise<string> => await readFile(gateway.configFile, "utf8");
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: written });
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });
  const save = async (): Promise<void> => {
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved. The gateway applies it within a second.").waitFor();
  };

  test("is changed with a form, field by field, with its comments kept, and runs so", async () => {
    await visit(page, gateway, "/servers/one?tab=entry");
    const env = page.getByLabel("env (NAME=value in each line)");
    expect(await env.inputValue()).toBe("COLOUR=blue");
    expect(await page.getByLabel("args (one in each line)").inputValue()).toBe((args ?? []).join("\n"));
    await env.fill("COLOUR=red\nno pair");
    await page.keyboard.press("Tab");
    await page.getByText("Each line is NAME=value.").waitFor();
    await env.fill("COLOUR=red\nOTHER=a=b, c");
    await page.keyboard.press("Tab");
    await page
      .getByRole("table", { name: "What it changes of what runs" })
      .getByText("servers.one.transport.env.OTHER")
      .first()
      .waitFor();
    await page.getByLabel("Another field").selectOption("displayName");
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByLabel("displayName", { exact: true }).fill("The one");
    await page.keyboard.press("Enter");
    await settled(page);
    expect(await problemsOfLooks(page)).toEqual([]);
    await save();
    const text = await fileText();
    expect(text).toContain("// of the test");
    expect(text).toContain('"COLOUR": "red"');
    expect(text).toContain('"OTHER": "a=b, c"');
    expect(text).toContain('"displayName": "The one"');
    expect(text.split("\n").slice(0, 6)).toEqual(written.split("\n").slice(0, 6));
    await until(async () => {
      const body = JSON.stringify({ name: "COLOUR" });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${gateway.url}/execute/one%3Aenv`, { method: "POST", headers, body });
      return (await answer.text()).includes("red");
    });
  });

  test("is changed as JSON, which is checked where it is wrong, and a value that is refused is not saved", async () => {
    await visit(page, gateway, "/servers/other.one?tab=entry");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    const entry = page.getByRole("textbox", { name: "Entry" });
    await entry.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(`{ "command": "node", "callTimeoutMs": -1 }`);
    // A wrong entry switches its server off and nothing else.
    await page.getByRole("list", { name: "Problems" }).getByText("callTimeoutMs").waitFor();
    await entry.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(`{ "command": "node", "callTimeoutMs" }`);
    await page.getByText("the gateway would refuse this text").waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).getAttribute("aria-disabled")).toBe("true");
    await entry.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(`{ "command": "node", "disabled": true, "category": "files" }`);
    await page.getByText("the gateway would refuse this text").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Form", exact: true }).click();
    expect(await page.getByLabel("category", { exact: true }).inputValue()).toBe("files");
    await save();
    expect(JSON.parse((await fileText()).replaceAll(/^ *\/\/.*$/gm, "")).mcpServers["other.one"]).toEqual({
      command: "node",
      disabled: true,
      category: "files",
    });
    expect(await fileText()).toContain("// what we use");
  });

  test("that somebody else has changed meanwhile is not overwritten: both texts are shown", async () => {
    await visit(page, gateway, "/servers/one?tab=entry");
    const env = page.getByLabel("env (NAME=value in each line)");
    await env.fill("COLOUR=green");
    const theirs = (await fileText()).replace('"COLOUR": "red"', '"COLOUR": "white"');
    expect(theirs).toContain("white");
    await writeFile(gateway.configFile, theirs);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Somebody else has changed the file").waitFor();
    expect(await fileText()).toBe(theirs);
    await page.getByRole("button", { name: "Keep mine, and save over theirs" }).click();
    await save();
    expect(await fileText()).toContain('"COLOUR": "green"');
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    expect((await get(`${gateway.url}/api/servers`)).status).toBe(200);
  });

  test("in a file with the line breaks of Windows keeps them, and is not changed by being looked at", async () => {
    const windows = written.replaceAll("\n", "\r\n");
    await writeFile(gateway.configFile, windows);
    await until(async () => (await fileText()) === windows && (await get(`${gateway.url}/api/servers`)).status === 200);
    const saveButton = page.getByRole("button", { name: "Save", exact: true });
    await visit(page, gateway, "/servers/one?tab=entry");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    const entry = page.getByRole("textbox", { name: "Entry" });
    await entry.getByText("COLOUR").waitFor();
    expect(await page.getByText("Not saved yet").count()).toBe(0);
    expect(await saveButton.getAttribute("aria-disabled")).toBe("true");
    // What differs is what was typed, and no line break.
    await entry.getByText("blue").click();
    await page.keyboard.press("End");
    await page.keyboard.insertText(",");
    await page.keyboard.press("Enter");
    await page.keyboard.insertText('"category": "files"');
    await page.getByRole("table", { name: "What it changes of what runs" }).getByText("servers.one.category").waitFor();
    await save();
    const changed = await fileText();
    expect(changed.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    expect(
      changed
        .split("\r\n")
        .filter((line) => !windows.includes(line))
        .map((line) => line.trim()),
    ).toEqual(['"env": { "COLOUR": "blue" },', '"category": "files"']);
    // An entry that stands on one line, as text and with the form.
    await visit(page, gateway, "/servers/other.one?tab=entry");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await entry.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText('{\n  "command": "node",\n  "disabled": true\n}');
    await save();
    expect((await fileText()).replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    await visit(page, gateway, "/settings");
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await page.getByRole("textbox", { name: "Configuration", exact: true }).getByText("what we use").waitFor();
    expect(await page.getByText("Not saved yet").count()).toBe(0);
  });
});

import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { editJson } from "../../src/config/edit/json-change.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, violations, visit } from "./dashboard.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

/** An endpoint of embeddings, where texts are near when they have letters in common. */
const embedding = createServer((request, response) => {
  if (isEmbedding) void answer(request).then((body) => response.end(body));
  else response.writeHead(503).end();
});
let isEmbedding = true;

async function answer(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  const { input } = JSON.parse(text) as { readonly input: string | readonly string[] };
  const data = [input].flat().map((words, index) => ({
    index,
    embedding: "abcdefghijklmnop".split("").map((letter) => words.toLowerCase().split(letter).length - 1 + 0.01),
  }));
  return JSON.stringify({ data });
}

describe.skipIf(!hasBrowser)("a page", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let page: Page;
  beforeAll(async () => {
    embedding.listen(0, "127.0.0.1");
    await once(embedding, "listening");
    const url = `http://127.0.0.1:${(embedding.address() as AddressInfo).port}/v1/embeddings`;
    const config = {
      mcpServers: { bad: badServer("--behaviours=echo,canary,in-flight,fail") },
      toolyard: { search: { embeddings: { url, model: "letters" } } },
    };
    gateway = await startGateway({ config: `// kept\n${JSON.stringify(config, undefined, 2)}\n` });
    await untilOnline(gateway.url);
    browser = await launchBrowser();
    ({ page } = await openDashboard(browser, gateway));
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    embedding.close();
  });

  async function expectClean(): Promise<void> {
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
  }

  test("waits for the first client, and is green only when that has asked for its tools", async () => {
    await visit(page, gateway, "/start");
    await page.getByText("Waiting: no client has asked for its tools yet.").waitFor();
    const client = new Client({ name: "first", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)) as never);
    await client.listTools();
    await page.getByText("1 conversation asked for tools within thirty days.").waitFor({ timeout: 60_000 });
    await expectClean();
    await client.close();
  });

  test("hides tools that were chosen, after it has shown what that changes, and shows them again", async () => {
    await visit(page, gateway, "/tools");
    await page.getByLabel("Choose bad:fail").check();
    await page.getByLabel("Choose bad:in-flight").check();
    await page.getByRole("button", { name: "Hide 2 tools" }).click();
    const dialog = page.getByRole("dialog", { name: "Hide 2 tools?" });
    await dialog.getByText("shown → hidden").first().waitFor();
    await expectClean();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    await until(async () => (await page.locator("code", { hasText: "bad:fail" }).count()) === 0);
    const text = await readFile(gateway.configFile, "utf8");
    expect(text).toMatch(/^\/\/ kept/);
    expect(JSON.parse(text.slice(text.indexOf("{"))).mcpServers.bad.tools.deny).toEqual(["in-flight", "fail"]);
    await page.getByText("Hidden by 2 rules").click();
    await expectClean();
    await page.getByRole("button", { name: "Show again: fail of bad" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "bad:fail" }).waitFor();
  });

  test("gives a tool another description, after it has shown what that changes, and its own one back", async () => {
    await visit(page, gateway, "/tools");
    await page.getByLabel("Choose bad:echo").check();
    const about = page.getByLabel("New description of echo");
    await about.fill("Says again what it is told.");
    await page.getByRole("button", { name: "Describe" }).click();
    const dialog = page.getByRole("dialog", { name: "Describe echo otherwise?" });
    await dialog.getByText("Says again what it is told.").waitFor();
    await expectClean();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    const described = page.getByRole("table", { name: "Tools" }).getByText("Says again what it is told.");
    await described.waitFor();
    await page.getByLabel("Choose bad:echo").check();
    // The rule is read again when the tool is chosen.
    await until(async () => (await about.inputValue()) === "Says again what it is told.");
    await about.fill("");
    await page.getByRole("button", { name: "Describe" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await described.waitFor({ state: "detached" });
  });

  test("has a tool ask first, and takes that back", async () => {
    await visit(page, gateway, "/tools");
    await page.getByLabel("Choose bad:echo").check();
    await page.getByLabel("Does echo ask first?").selectOption("always");
    const dialog = page.getByRole("dialog", { name: "Change when echo asks?" });
    await dialog.getByText("as its effect says → always").waitFor();
    await expectClean();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    await until(async () => (await readFile(gateway.configFile, "utf8")).includes('"ask": ["echo"]'));
    await page.getByText("Another name, text or question for 1 tool").click();
    await page.getByRole("button", { name: "Take back: echo of bad" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await until(async () => !(await readFile(gateway.configFile, "utf8")).includes('"ask"'));
  });

  test("gives a tool another name, writes it over nobody's rule unseen, and gives its own one back", async () => {
    await visit(page, gateway, "/tools");
    await page.getByLabel("Choose bad:echo").check();
    await page.getByLabel("New name of echo").fill("repeat");
    await page.getByRole("button", { name: "Rename" }).click();
    const dialog = page.getByRole("dialog", { name: "Rename echo?" });
    await dialog.getByText("its own → repeat").waitFor();
    // Somebody else describes it meanwhile.
    const rule = { path: ["mcpServers", "bad", "tools", "describe", "echo"], value: "theirs" };
    await writeFile(gateway.configFile, editJson(await readFile(gateway.configFile, "utf8"), [rule]));
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Someone else has changed this.").waitFor();
    await expectClean();
    expect(await readFile(gateway.configFile, "utf8")).not.toContain("repeat");
    await dialog.getByRole("button", { name: "Save mine over theirs" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "bad:repeat" }).waitFor();
    await page.getByText("Another name, text or question for 1 tool").click();
    await expectClean();
    await page.getByRole("button", { name: "Take back: echo of bad" }).click();
    await page.getByRole("dialog").getByText("repeat → its own").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "bad:echo" }).waitFor();
    const text = await readFile(gateway.configFile, "utf8");
    expect(text).toMatch(/^\/\/ kept/);
    expect(text).not.toMatch(/repeat|theirs/);
  });

  test("says what a server says of itself, and which line of the file each setting comes from", async () => {
    await visit(page, gateway, "/servers/bad?tab=about");
    await page.getByText("bad-server", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Capabilities" }).waitFor();
    await page.getByText(/1 of them hidden by rules/).waitFor();
    await visit(page, gateway, "/servers/bad?tab=entry");
    const settings = page.getByRole("region", { name: "Settings in force" });
    await settings.getByText("line 5 of the file").first().waitFor();
    await settings.getByText("default").first().waitFor();
    await expectClean();
  });

  test("has several needs searched at once, by words and embeddings beside each of them alone, and teaches only when told to", async () => {
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/api/search")) asked.push(request.postData() ?? "");
    });
    await visit(page, gateway, "/search");
    await page.getByLabel("One need in each line").fill("echo a text\nfail on purpose");
    await page.getByLabel("One need in each line").press("Enter");
    await page.getByRole("heading", { name: "echo a text" }).waitFor();
    await page.getByRole("heading", { name: "fail on purpose" }).waitFor();
    for (const name of ["Words and embeddings, as a model gets them", "Words alone", "Embeddings alone"])
      await page.getByRole("heading", { name }).first().waitFor();
    await page
      .getByText(/number \d+ by words alone, number \d+ by meaning alone/)
      .first()
      .waitFor();
    await expectClean();
    expect(asked.every((body) => body.includes('"learn":false'))).toBe(true);
    await page.getByRole("button", { name: "Learn from what I run now" }).click();
    await page.getByText("The next tool that you run counts as found with these words").waitFor();
    expect(asked.at(-1)).toContain('"learn":true');
  });

  test("says in words what a search had to do without", async () => {
    isEmbedding = false;
    await visit(page, gateway, "/search?query=something%20nobody%20asked%20before");
    await page.getByText("Found without embeddings, because they did not answer in time.").waitFor();
    await expectClean();
    isEmbedding = true;
  });

  test("says so when there is nobody to search as", async () => {
    await visit(page, gateway, "/search?query=echo&as=nobody");
    await page.getByRole("alert").getByText("nobody called").waitFor();
  });

  test("exports calls as a file of lines, and as a table", async () => {
    await run(gateway.url, "bad:canary", {});
    await visit(page, gateway, "/calls");
    await page.getByRole("link", { name: "bad:canary" }).first().waitFor();
    for (const [format, start] of [
      ["NDJSON", '{"id":'],
      ["CSV", "id,time,"],
    ] as const) {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: `Export ${format}` }).click();
      const text = await readFile(await (await download).path(), "utf8");
      expect(text.startsWith(start)).toBe(true);
      expect(text).toContain("bad:canary");
    }
  });
});

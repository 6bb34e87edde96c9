import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  answerTypes,
  pathOf,
  routesOf,
  standalone,
  toCurl,
  type ApiRoute,
  type OpenApi,
} from "../../web/src/words/api-operation.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  openDashboard,
  problemsOfLooks,
  violations,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";

const hostile = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../servers/hostile-server.mjs", import.meta.url))],
  // Its tools would be held for review otherwise.
  definitions: "note",
};

describe("the description of the API", () => {
  let api: OpenApi;
  const route = (id: string): ApiRoute => {
    const found = routesOf(api).find(({ operationId }) => operationId === id);
    if (found === undefined) throw new Error(`there is no operation ${id}`);
    return found;
  };
  beforeAll(async () => {
    await using gateway = await startGateway({ config: { mcpServers: {} } });
    api = (await get(`${gateway.url}/openapi.json`)).json as unknown as OpenApi;
  });

  test("has for every body a schema that stands by itself", () => {
    const bodies = routesOf(api).flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
    expect(bodies.length).toBeGreaterThan(20);
    for (const { schema } of bodies) {
      const own = standalone(schema, api);
      const text = JSON.stringify(own);
      expect(text).not.toContain("#/components/");
      const defined = Object.keys((own["$defs"] as object | undefined) ?? {});
      for (const [, name = ""] of text.matchAll(/"#\/\$defs\/([^"]+)"/g)) expect(defined).toContain(name);
    }
  });

  test("has addresses that are filled in as the gateway reads them", () => {
    const values = { "path path": "a b:c/d$&", "query limit": "5", "query text": "x&y" };
    const given = {
      ...route("showTool"),
      path: "/api/tools/{path}",
      parameters: [
        { in: "path", name: "path", required: true, schema: {} },
        { in: "query", name: "limit", required: false, schema: {} },
        { in: "query", name: "text", required: false, schema: {} },
        { in: "query", name: "empty", required: false, schema: {} },
      ],
    } as const;
    expect(pathOf(given, values)).toBe("/api/tools/a%20b%3Ac%2Fd%24%26?limit=5&text=x%26y");
    expect(answerTypes(route("listCalls"))).toContain("text/csv");
  });

  test("has commands whose words a shell takes as they are", () => {
    const curl = { method: "POST", url: "http://x/a'b", headers: { Accept: "text/csv" }, body: `{"a":"it's"}` };
    expect(toCurl(curl)).toBe(
      String.raw`curl -X POST 'http://x/a'\''b' -H 'Accept: text/csv' -H 'Content-Type: application/json' -d '{"a":"it'\''s"}'`,
    );
  });
});

describe.skipIf(!hasBrowser)("the page of the API", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({
      config: { mcpServers: { bad: badServer("--behaviours=echo,big"), hostile } },
    });
    await untilOnline(gateway.url);
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });
  const tryIt = async (operation: string): Promise<void> => await visit(page, gateway, `/api?operation=${operation}`);
  const send = async (): Promise<void> => await page.getByRole("button", { name: "Send", exact: true }).click();
  const outcome = () => page.getByRole("group", { name: "Outcome" });
  const answer = () => page.getByRole("region", { name: "Answer" });

  test("sends an operation with its parameters and the page's session, and shows status, headers and body", async () => {
    await visit(page, gateway, "/api?match=%2Fapi%2Ftools%2F");
    await page.getByRole("button", { name: "Try GET /api/tools/{path}", exact: true }).click();
    expect(new URL(page.url()).searchParams.get("match")).toBe("/api/tools/");
    const path = page.getByLabel("path (needed)");
    await send();
    // The browser says that it is needed; nothing was sent.
    expect(await path.evaluate((field) => (field as HTMLInputElement).validity.valueMissing)).toBe(true);
    expect(await outcome().textContent()).toContain("The answer appears here");
    await path.fill("bad:echo");
    await page.keyboard.press("Enter");
    await outcome().getByText("200 OK").waitFor();
    await answer().getByText('"tool_path": "bad:echo"').waitFor();
    await answer().getByText("Headers", { exact: true }).click();
    await answer().getByText("content-type", { exact: true }).waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);
    await path.fill("bad:nothing");
    await send();
    await outcome().getByText("404 Not Found").waitFor();
    await answer().getByText("TOOL_UNKNOWN").waitFor();
    // What only whoever is logged in may read is read with the session of the page.
    await tryIt("showConfig");
    await send();
    await answer().getByText('"etag"').waitFor();
  });

  test("asks before it sends what may change something, and then sends what was written", async () => {
    await tryIt("keepSearch");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "Body as JSON" }).fill('{ "query": "say it", "tool": "bad:echo" }');
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().endsWith("/api/searches")) sent.push(request.postData() ?? "");
    });
    await send();
    const question = page.getByRole("dialog", { name: "Send POST /api/searches?" });
    await question.waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
    expect(sent).toEqual([]);
    await send();
    await question.getByRole("button", { name: "Send it" }).click();
    await outcome().getByText("201 Created").waitFor();
    expect(sent).toEqual(['{ "query": "say it", "tool": "bad:echo" }']);
    // What was changed is on the other pages.
    await page.getByRole("link", { name: "Search", exact: true }).click();
    await page.getByRole("link", { name: "Kept as tests" }).click();
    await page.getByRole("link", { name: "say it" }).waitFor();
  });

  test("has a form for a body, which is not sent while something needed is missing", async () => {
    await tryIt("keepSearch");
    await page.getByLabel(/^query/).fill("only words");
    await send();
    await page.getByText("is needed").first().waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await problemsOfLooks(page)).toEqual([]);
  });

  test("FAULT 35: shows an answer that is full of markup as text, and numbers as they were sent", async () => {
    await tryIt("showTool");
    await page.getByLabel("path (needed)").fill("hostile:evil");
    await send();
    await answer().getByText("</script><script>").waitFor();
    expect(await answer().textContent()).toContain("⟦U+");
    await tryIt("executeTool");
    await page.getByLabel("name (needed)").fill("hostile:digits");
    await send();
    await page.getByRole("button", { name: "Send it" }).click();
    await answer().getByText("9007199254740993").first().waitFor();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(await violations(page)).toEqual([]);
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });

  test("shows the beginning of a long answer, and has the whole as a file", async () => {
    await tryIt("executeTool");
    await page.getByLabel("name (needed)").fill("bad:big");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "Body as JSON" }).fill('{"bytes": 1000000}');
    await send();
    await page.getByRole("button", { name: "Send it" }).click();
    await answer()
      .getByText(/This is the beginning of 1\.\d MB/)
      .waitFor();
    expect((await answer().textContent())?.length).toBeLessThan(300_000);
    const download = page.waitForEvent("download");
    await answer().getByRole("button", { name: "Download the whole" }).click();
    expect((await stat(await (await download).path())).size).toBeGreaterThan(1_000_000);
  });

  test("shows a stream of events as it comes, until somebody stops it", async () => {
    await tryIt("followEvents");
    await send();
    await outcome().getByText("It is still answering").waitFor();
    const headers = { "content-type": "application/json" };
    await fetch(`${gateway.url}/execute/bad%3Aecho`, { method: "POST", headers, body: '{"text":"x"}' });
    await until(async () => (await answer().textContent())?.includes("mcp.request"));
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await outcome().getByText("You have stopped it.").waitFor();
    await answer().getByText("the rest was not read").waitFor();
  });
});

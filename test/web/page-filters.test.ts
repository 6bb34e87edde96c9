import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { onlyPlace } from "../harness/places.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { idAt } from "../../src/store/sql/records/record-ids.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
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

const lines = 500;
/** Lines that a screen and what is kept ready around it may have. */
const mostLines = 150;

const mcpServers = {
  chatty: { ...badServer("--behaviours=echo,fail", "--stderr-lines=40"), tools: { rename: { echo: "say" } } },
  hidden: { ...badServer("--behaviours=echo"), tools: { deny: ["*"] } },
  slow: { ...badServer("--hang-on-initialize", "--on-discover=silent"), startTimeoutMs: 600_000 },
  far: { url: "http://127.0.0.1:9/mcp" },
};

/** Lines of a server of the past: of one that writes so many at once, the gateway keeps fifty in a second. */
function writeLines(file: string): void {
  const database = loadDriver(tmpdir()).open(file);
  const fromMs = Date.now() - lines * 1_000;
  const sql = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${lines})
    insert into server_log (id, at_ms, team, instance, server, level, line)
    select ${idAt(fromMs)} + i * 2048000, ${fromMs} + i * 1000, null, 'past', 'past', 1, 'past line ' || i from n`;
  database.prepare(sql).run();
  database.close();
}

describe.skipIf(!hasBrowser)("lists of the dashboard", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  let directory: string;
  beforeAll(async () => {
    browser = await launchBrowser();
    directory = await mkdtemp(join(tmpdir(), "toolyard-lists-"));
    const first = await startGateway({ config: { mcpServers: {} }, directory });
    await until(async () => (await fetch(`${first.url}/api/logs`)).ok);
    await first.stop();
    writeLines(join(onlyPlace(join(directory, "data")), "records.db"));
    gateway = await startGateway({ config: { mcpServers }, directory });
    await until(async () => {
      const { json } = await get(`${gateway.url}/api/servers`);
      const servers = json.servers as readonly { readonly slug: string; readonly status: string }[];
      const statusOf = (slug: string): string | undefined => servers.find((row) => row.slug === slug)?.status;
      return statusOf("chatty") === "online" && statusOf("hidden") === "online" && statusOf("far") === "offline";
    });
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const filters = (): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams);

  test("a page of tools without tools says which of four reasons it has", async () => {
    for (const [server, reason] of [
      ["nobody", "There is no server “nobody”"],
      ["slow", "Servers are starting: their tools appear here"],
      ["far", "No server is up: their tools are unknown"],
      ["hidden", "Rules of the configuration hide all 1 tool"],
    ] as const) {
      await visit(page, gateway, `/tools?server=${server}`);
      await page.getByText(reason).waitFor();
      expect([server, await axeProblems(page)]).toEqual([server, []]);
    }
    expect(await violations(page)).toEqual([]);
  });

  test("the table of tools says what a tool may do, and what rules say of it", async () => {
    await visit(page, gateway, "/tools?server=chatty");
    const said = page.getByRole("row").filter({ has: page.getByRole("link", { name: "chatty:say", exact: true }) });
    await said.getByText("renamed", { exact: true }).waitFor();
    await said.getByText("only reads", { exact: true }).waitFor();
    const other = page.getByRole("row").filter({ has: page.getByRole("link", { name: "chatty:fail", exact: true }) });
    await other.getByText("may change something", { exact: true }).waitFor();
    expect(await other.getByText("renamed").count()).toBe(0);
    expect(await problemsOfLooks(page)).toEqual([]);
  });

  test("a long log has only lines in sight, begins at its end, and stays where it is when older lines come", async () => {
    await visit(page, gateway, "/logs?server=past");
    const log = page.getByRole("log");
    const shown = log.locator(".log-line");
    await log.getByText(`past line ${lines}`, { exact: true }).waitFor();
    expect(await shown.count()).toBeLessThanOrEqual(mostLines);
    expect(await problemsOfLooks(page)).toEqual([]);
    await visit(page, gateway, "/logs?server=past");
    await log.getByText(`past line ${lines}`, { exact: true }).waitFor();
    await log.evaluate((element) => element.scrollTo({ top: 0 }));
    await until(async () => !(await page.getByLabel("Follow").isChecked()));
    const first = (await shown.first().locator(".text").textContent()) ?? "";
    const number = Number(/^past line (\d+)$/.exec(first)?.[1]);
    expect(number).toBeGreaterThan(1);
    await page.getByRole("button", { name: "Show older lines" }).click();
    await log.getByText(`past line ${number - 1}`, { exact: true }).waitFor();
    expect(await log.getByText(first, { exact: true }).isVisible()).toBe(true);
    expect(await shown.count()).toBeLessThanOrEqual(mostLines);
    await page.getByLabel("Follow").check();
    await log.getByText(`past line ${lines}`, { exact: true }).waitFor();
  });

  test("filters of the log and of events stand in the address, and are there when it is opened again", async () => {
    await visit(page, gateway, "/logs");
    await page.getByLabel("Server", { exact: true }).selectOption("chatty");
    await page.getByLabel("Level").selectOption("info");
    await page.getByLabel("Containing").fill("line 3");
    await until(() => filters()["match"] === "line 3");
    expect(filters()).toEqual({ server: "chatty", level: "info", match: "line 3" });
    await page.reload();
    const log = page.getByRole("log");
    await log.getByText("stderr line 30", { exact: true }).waitFor();
    await until(async () => (await log.locator(".log-line").count()) === 11);
    expect(await page.getByLabel("Containing").inputValue()).toBe("line 3");
    expect(await page.getByLabel("Level").inputValue()).toBe("info");
    await visit(page, gateway, "/logs?tab=events");
    await page.getByLabel("Type or server containing").fill("request");
    await until(() => filters()["match"] === "request");
    await page.reload();
    await page.getByLabel("Type or server containing").waitFor();
    expect(await page.getByLabel("Type or server containing").inputValue()).toBe("request");
  });

  test("the event of a call leads to that call, and to its server", async () => {
    await visit(page, gateway, "/logs?tab=events&match=request");
    await page.getByText("Live", { exact: true }).waitFor();
    await run(gateway.url, "chatty:say", { text: "before" });
    await run(gateway.url, "chatty:fail", {});
    await run(gateway.url, "chatty:say", { text: "after" });
    const events = page.getByRole("list", { name: "Events" });
    await until(async () => (await events.getByRole("button", { name: "chatty:say" }).count()) === 2);
    expect(await axeProblems(page)).toEqual([]);
    const failed = events.getByRole("listitem").filter({ has: page.getByRole("button", { name: "chatty:fail" }) });
    const when = await failed.locator("time").getAttribute("datetime");
    const { json } = await get(`${gateway.url}/api/calls?tool=chatty%3Afail`);
    const [call] = json.calls as readonly { readonly id: string; readonly time: string }[];
    expect(call?.time).toBe(when);
    await failed.getByRole("button", { name: "chatty:fail" }).click();
    await page.waitForURL(`${gateway.url}/ui/calls/${call?.id}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  });

  test("a tool that was run has its tokens beside its result, as its record has them, and its last calls", async () => {
    await visit(page, gateway, `/run/${encodeURIComponent("chatty:fail")}`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.waitFor();
    const { json } = await get(`${gateway.url}/api/calls?tool=chatty%3Afail&limit=1`);
    const [call] = json.calls as readonly {
      readonly id: string;
      readonly argumentTokens: number;
      readonly resultTokens: number;
    }[];
    await result.getByText(`~${call?.argumentTokens} + ~${call?.resultTokens} tokens`).waitFor();
    const last = page.getByRole("list", { name: "Last calls" });
    await until(async () => {
      const link = last.getByRole("listitem").first().getByRole("link");
      return (await link.getAttribute("href"))?.endsWith(`/calls/${call?.id}`) === true;
    });
    await last.getByText("tool error").first().waitFor();
  });

  test("a trial of the search shows what a model reads, in the detail of choice", async () => {
    await visit(page, gateway, "/search?query=echo%20a%20text");
    const answer = page.locator("details").filter({ hasText: "What the model reads" });
    await answer.locator("summary").click();
    await answer.getByText("chatty:say").first().waitFor();
    expect(await answer.textContent()).not.toContain('"inputSchema"');
    await page.getByLabel("The model reads").selectOption("schema");
    await until(() => filters()["detail"] === "schema");
    await answer.getByText('"inputSchema"').first().waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);
  });
});

import { join } from "node:path";
import { tmpdir } from "node:os";
import { mkdtemp, rm, stat } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, violations, visit } from "./dashboard.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers, type ManyServers } from "../harness/many-servers.ts";
import { onlyPlace } from "../harness/places.ts";
import { untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";

const many = { servers: 200, tools: 50, calls: 100_000 };
/** Rows that a screen, what is kept ready around it, and a detail may have. */
const mostRows = 120;

/** Calls of the past, written as the gateway writes them: making so many would take minutes. */
function writeCalls(file: string, count: number): void {
  const database = loadDriver(tmpdir()).open(file);
  const sql = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into request_log (id, at_ms, team, principal, client, instance, server, via, method, name, outcome, code,
      duration_ms, wait_ms, argument_tokens, result_tokens, result_cut, trace_id)
    select i, ${Date.now()} - (${count} - i) * 100, null, 'local', 'past', 's0', 's0', 'mcp', 'tools/call',
      's0:tool-' || i, 'ok', null, 1.5, 0, 1, 1, 0, null from n`;
  database.prepare(sql).run();
  database.close();
}

describe.skipIf(!hasBrowser)("a gateway with 200 servers, 10,000 tools and 100,000 calls", () => {
  let browser: Browser;
  let servers: ManyServers;
  let gateway: RunningGateway;
  let page: Page;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-scale-"));
    servers = await startManyServers(
      Array.from({ length: many.servers }, (_, at) => ({
        key: `s${at}`,
        tools: Array.from({ length: many.tools }, (_tool, number) => ({
          name: `tool-${number}`,
          description: `Does the thing number ${at * many.tools + number}.`,
        })),
      })),
    );
    const big = badServer("--behaviours=big");
    const limits = { upstreamMessageBytes: 64 * 1024 * 1024 };
    const config = { mcpServers: { ...servers.mcpServers, big }, toolyard: { limits } };
    const first = await startGateway({ config, directory });
    await until(async () => (await fetch(`${first.url}/api/calls`)).ok);
    await first.stop();
    writeCalls(join(onlyPlace(join(directory, "data")), "records.db"), many.calls);
    gateway = await startGateway({ config, directory });
    await untilOnline(gateway.url);
    browser = await launchBrowser();
    ({ page } = await openDashboard(browser, gateway));
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const rows = async (): Promise<number> => await page.locator(".table .rows [role=row]").count();
  const scrollTo = async (part: number): Promise<void> =>
    await page.locator(".table-scroll").evaluate((element, to) => {
      element.scrollTop = element.scrollHeight * to;
    }, part);

  test("shows all tools, of which only those in sight are there, and finds any of them", async () => {
    await visit(page, gateway, "/tools");
    await page.getByText(/^10,00\d tools/).waitFor();
    expect(await rows()).toBeLessThanOrEqual(mostRows);
    await scrollTo(1);
    await page.getByText("big:big", { exact: true }).waitFor();
    expect(await rows()).toBeLessThanOrEqual(mostRows);
    await scrollTo(0.5);
    await until(async () => (await page.getByText("big:big", { exact: true }).count()) === 0);
    expect(await rows()).toBeLessThanOrEqual(mostRows);
    await page.getByLabel("Containing").fill("number 7777.");
    await page.getByRole("link", { name: "s155:tool-27" }).waitFor();
    expect(await rows()).toBe(1);
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
  });

  test("shows all servers the same way", async () => {
    await visit(page, gateway, "/servers");
    await page.getByText("201 servers, 201 can be used").waitFor();
    expect(await rows()).toBeLessThanOrEqual(mostRows);
    await page.getByLabel("Filter servers").fill("s137");
    await page.getByRole("link", { name: "s137" }).waitFor();
    expect(await rows()).toBe(1);
  });

  test("shows calls page by page as somebody scrolls, and only those in sight", async () => {
    await visit(page, gateway, "/calls");
    await page.getByRole("link", { name: `s0:tool-${many.calls}`, exact: true }).waitFor();
    const seen = async (): Promise<number> =>
      Number((await page.getByRole("table", { name: "Calls" }).getAttribute("aria-rowcount")) ?? 0);
    const first = await seen();
    for (let more = first; more < 5 * first; more = await seen()) {
      await scrollTo(1);
      await until(async () => (await seen()) > more);
      expect(await rows()).toBeLessThanOrEqual(mostRows);
    }
    await visit(page, gateway, "/calls?tool=s0%3Atool-1");
    await page.getByRole("link", { name: "s0:tool-1", exact: true }).waitFor();
  });

  test("FAULT 35: shows the beginning of a result of 30 MB, and has the whole as a file", async () => {
    await visit(page, gateway, "/run/big%3Abig");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "Arguments as JSON" }).fill('{"bytes": 30000000}');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText(/This is the beginning of 30\.\d MB/).waitFor({ timeout: 120_000 });
    expect((await result.textContent())?.length).toBeLessThan(300_000);
    const download = page.waitForEvent("download");
    await result.getByRole("button", { name: "Download the whole" }).click();
    const file = await (await download).path();
    expect((await stat(file)).size).toBeGreaterThanOrEqual(30_000_000);
    expect(await violations(page)).toEqual([]);
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callAt, clusterKey, startNodes, type Nodes } from "../cluster/nodes.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { hasBrowser, launchBrowser, openDashboard, problemsOfLooks, settled, visit } from "./dashboard.ts";

/** The values of these facts, once they are there. */
const factsOf = async (page: Page, ...names: readonly string[]): Promise<readonly (string | null)[]> =>
  await Promise.all(
    names.map(async (name) => await page.locator("dl > div", { hasText: name }).locator("dd").first().textContent()),
  );
const card = (page: Page, name: string) => page.getByRole("listitem", { name, exact: true });

describe.skipIf(!hasBrowser || hasNoPostgres)("the page of nodes", () => {
  let browser: Browser;
  let nodes: Nodes;
  let [one, two]: RunningGateway[] = [];
  beforeAll(async () => {
    // `toolyard open` reads the same configuration.
    Object.assign(process.env, { TOOLYARD_KEY: clusterKey });
    browser = await launchBrowser();
    nodes = await startNodes();
    Object.assign(process.env, { YARD_DATABASE: nodes.database });
    one = await nodes.start("one");
    two = await nodes.start("two");
  });
  afterAll(async () => {
    await browser.close();
    await nodes[Symbol.asyncDispose]();
    delete process.env["TOOLYARD_KEY"];
    delete process.env["YARD_DATABASE"];
  });
  const at = (name: "one" | "two"): RunningGateway => (name === "one" ? one : two) as RunningGateway;
  const runner = async (): Promise<string> => (await get(`${at("one").url}/api/instances`)).json.instances[0].node;

  test("lists them, drains one after a question and has it take part again, and shows who fell silent", async () => {
    const { context, page, misdeeds } = await openDashboard(browser, at("two"));
    await page.getByRole("link", { name: "Nodes", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Nodes" }).waitFor();
    await callAt(at("two"), "count");
    expect(await runner()).toBe("one");
    await card(page, "two").getByText("this one").waitFor();
    for (const name of ["one", "two"]) {
      await card(page, name).getByText("Ready", { exact: true }).waitFor();
      await card(page, name).getByText("Memory of servers").waitFor();
    }
    const shown = await card(page, "one").innerText();
    expect(shown).toMatch(/Address\s+127\.0\.0\.1:\d+\s+Started\s+.*ago\s+Lease left\s+\d\.\d s\s+Instances\s+1\s/);
    expect(shown).toMatch(/Calls a second\s+[\d.]+, [\d.]+ forwarded\s+CPU\s+\d+\.\d of \d+ cores?\s/);
    expect(shown).toMatch(/Memory of servers\s+\d+\.\d MB of \d+\.\d GB\s+Waiting to start\s+0/);
    expect(shown).not.toContain("this one");
    await page.getByText(/^2 nodes · 1 instance · .* · PostgreSQL takes \d+ connections$/).waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);

    await card(page, "one").getByRole("button", { name: "Drain" }).click();
    const dialog = page.getByRole("dialog", { name: "Drain one?" });
    await dialog.getByText("It hands over the instance that it runs").waitFor();
    // Closed without a yes, nothing happens.
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await get(`${at("one").url}/readyz`)).status).toBe(200);
    await card(page, "one").getByRole("button", { name: "Drain" }).click();
    await dialog.getByRole("button", { name: "Drain" }).click();
    await card(page, "one").getByText("Draining", { exact: true }).waitFor();
    await until(async () => (await callAt(at("one"), "count")) && (await runner()) === "two");
    expect((await get(`${at("one").url}/readyz`)).status).toBe(503);
    // The last one that is ready is not drained.
    await card(page, "two").getByRole("button", { name: "Drain" }).click();
    await page.getByRole("dialog", { name: "Drain two?" }).getByRole("button", { name: "Drain" }).click();
    await card(page, "two").getByText("no other node is ready").waitFor();
    expect(await problemsOfLooks(page)).toEqual([]);
    await card(page, "one").getByRole("button", { name: "Take part again" }).click();
    const again = page.getByRole("dialog", { name: "Have one take part again?" });
    await again.getByRole("button", { name: "Take part again" }).click();
    await card(page, "one").getByText("Ready", { exact: true }).waitFor();

    await page.getByRole("link", { name: "Calls", exact: true }).click();
    await page.getByRole("link", { name: "effects:count" }).first().click();
    expect(await factsOf(page, "Served by node", "Server ran at node")).toEqual(["one", "two"]);
    await visit(page, at("two"), "/servers/effects?tab=status");
    expect(await factsOf(page, "Runs at node")).toEqual(["two"]);
    await page.getByRole("link", { name: "Nodes", exact: true }).click();

    at("one").process.kill("SIGSTOP");
    await card(page, "one").getByText("Silent", { exact: true }).waitFor();
    expect(await card(page, "one").innerText()).not.toMatch(/Lease left|Drain|Calls a second/);
    expect(await problemsOfLooks(page)).toEqual([]);
    at("one").process.kill("SIGCONT");
    await card(page, "one").getByText("Ready", { exact: true }).waitFor();
    await at("one").stop();
    await card(page, "one").getByText("Ended", { exact: true }).waitFor();
    await page.getByText(/^1 node · /).waitFor();
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  }, 300_000);

  test("marks a node of another configuration, and is no page of a gateway that is alone", async () => {
    const other = await nodes.start("other", { servers: { bad: badServer() } });
    const { context, page } = await openDashboard(browser, at("two"));
    await visit(page, at("two"), "/nodes");
    await card(page, "other").getByText("Another configuration").waitFor();
    await other.stop();
    await context.close();

    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
    const alone = await openDashboard(browser, gateway);
    await alone.page.getByRole("link", { name: "Servers", exact: true }).waitFor();
    expect(await alone.page.getByRole("link", { name: "Nodes", exact: true }).count()).toBe(0);
    await visit(alone.page, gateway, "/nodes");
    await settled(alone.page);
    await alone.page.getByText("This gateway is alone").waitFor();
    await alone.page.getByText('"cluster": {}').waitFor();
    expect(await problemsOfLooks(alone.page)).toEqual([]);
    await alone.context.close();
  }, 240_000);
});

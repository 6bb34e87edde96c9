import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { directionOf, errorOf, fitsFilters, type PassedMessage } from "../../web/src/words/protocol.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";
import { modernRpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { axeProblems, hasBrowser, launchBrowser, openDashboard, overflow, violations, visit } from "./dashboard.ts";

const message = (more: Partial<PassedMessage>): PassedMessage => ({
  ...{ side: "server", way: "in", kind: "result", name: "files", method: "tools/call", status: null, text: "{}" },
  ...more,
});

test("a filter of one side leaves the other out, both leave what either names, and text is looked for in the JSON", () => {
  const [server, client] = [message({}), message({ side: "client", name: "editor", text: '{"a":"Needle"}' })];
  expect([fitsFilters(server, {}), fitsFilters(client, { server: "" })]).toEqual([true, true]);
  expect([fitsFilters(server, { server: "files" }), fitsFilters(client, { server: "files" })]).toEqual([true, false]);
  expect([fitsFilters(server, { client: "editor" }), fitsFilters(client, { client: "editor" })]).toEqual([false, true]);
  const both = { server: "other", client: "editor" };
  expect([fitsFilters(server, both), fitsFilters(client, both)]).toEqual([false, true]);
  expect([fitsFilters(server, { match: "needle" }), fitsFilters(client, { match: "needle" })]).toEqual([false, true]);
  expect(fitsFilters(client, { method: "ping" })).toBe(false);
});

test("a direction and a failure are said in words", () => {
  expect(directionOf({ side: "client", way: "in" })).toBe("client → gateway");
  expect(directionOf({ side: "server", way: "out" })).toBe("gateway → server");
  expect(errorOf(message({ kind: "refusal", status: 403, text: "no" }))).toBe("HTTP 403");
  expect(errorOf(message({ kind: "error", text: '{"error":{"code":-32602,"message":"no"}}' }))).toBe("error -32602");
  expect(errorOf(message({ text: '{"result":{"isError":true}}' }))).toBe("tool failed");
  expect(errorOf(message({}))).toBeUndefined();
});

describe.skipIf(!hasBrowser)("the page of messages", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway({ config: { mcpServers: { bad: badServer("--behaviours=canary,env") } } });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });
  const call = async (): Promise<void> => {
    const given = { name: "execute_mcp_tool", arguments: { tool_path: "bad:canary", arguments: {} } };
    await modernRpc(`${gateway.url}/mcp`, "tools/call", given);
  };

  test("shows both sides of a call while it is open, each folded, filtered, saved, paused and cleared", async () => {
    const { context, page, misdeeds } = await openDashboard(browser, gateway);
    await visit(page, gateway, "/protocol");
    const rows = page.getByRole("table", { name: "Messages" }).getByRole("row");
    // Nothing says when the stream has begun.
    await until(async () => {
      await call();
      return (await rows.count()) > 4;
    });
    const answer = rows.filter({ hasText: "gateway → client" }).filter({ hasText: "ok" }).first();
    await answer.getByText("test").waitFor();
    await answer.getByText(/\d+ ms/).waitFor();
    await answer.getByRole("button", { name: "tools/call" }).click();
    await page.locator(".detail pre").getByText('"jsonrpc": "2.0"').waitFor();
    expect([await axeProblems(page), await violations(page)]).toEqual([[], []]);
    for (const width of [768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await overflow(page)]).toEqual([width, 0]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save" }).click();
    const saved = JSON.parse(await readFile(await (await saving).path(), "utf8")) as readonly { side: string }[];
    expect(new Set(saved.map(({ side }) => side))).toEqual(new Set(["client", "server"]));
    await page.getByLabel("Server").selectOption("bad");
    await rows.filter({ hasText: "gateway → client" }).first().waitFor({ state: "detached" });
    await rows.filter({ hasText: "server → gateway" }).first().waitFor();
    await page.getByLabel("Server").selectOption("");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused: what passes now is not shown later.").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await call();
    await page.getByText("Nothing has passed since you opened this page").waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await until(async () => {
      await call();
      return (await rows.count()) > 1;
    });
    expect(misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
    await context.close();
  });
});

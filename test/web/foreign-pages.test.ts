import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { hasBrowser, launchBrowser, openDashboard, visit, type OpenDashboard } from "./dashboard.ts";

const written = '{ "mcpServers": {} }';

/** What another program of this machine serves, at another port of the name that the dashboard has. */
const page = `<!doctype html><title>elsewhere</title><iframe id="inner" name="inner"></iframe>
<form id="form" method="post" enctype="text/plain" target="inner"><input name='{"text":"{}","x":"' value='"}'></form>`;

describe.skipIf(!hasBrowser)("a page of another port, in the browser of whoever is logged in", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  const elsewhere = createServer((_request, response) => response.setHeader("content-type", "text/html").end(page));
  const at = (name: string): string => `http://${name}:${(elsewhere.address() as AddressInfo).port}/`;
  beforeAll(async () => {
    elsewhere.listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    browser = await launchBrowser();
    gateway = await startGateway({ config: written });
    dashboard = await openDashboard(browser, gateway);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    elsewhere.close();
  });

  test.each(["127.0.0.1", "localhost"])("FAULT 34: at %s changes nothing and reads nothing", async (name) => {
    const tab = await dashboard.context.newPage();
    await tab.goto(at(name));
    const attempts = await tab.evaluate(async (url) => {
      const kinds: [string, RequestInit][] = [
        ["/api/config", { method: "PUT", body: '{"text":"{}"}', headers: { "Content-Type": "application/json" } }],
        ["/api/servers", { method: "POST", body: '{"command":["true"]}', mode: "no-cors" }],
        ["/api/session", { method: "DELETE" }],
        ["/api/config", {}],
        ["/api/config", { mode: "no-cors" }],
      ];
      const seen: string[] = [];
      for (const [path, init] of kinds) {
        const answer = await fetch(url + path, { credentials: "include", ...init }).catch(() => undefined);
        seen.push(answer === undefined ? "refused" : await answer.text());
      }
      const form = document.querySelector("form");
      if (form !== null) form.action = `${url}/api/import`;
      form?.submit();
      return seen;
    }, gateway.url);
    // What has no answer that a page may read is empty.
    expect(attempts.every((text) => text === "refused" || text === "")).toBe(true);
    await until(() => tab.frames().some((frame) => frame.name() === "inner" && frame.url() !== "about:blank"));
    expect(await readFile(gateway.configFile, "utf8")).toBe(written);
    // The session is as good as before.
    await visit(dashboard.page, gateway, "/settings");
    await dashboard.page.getByRole("button", { name: "Text", exact: true }).waitFor();
    await tab.close();
  });

  test("FAULT 36: cannot put the dashboard in a frame", async () => {
    const tab = await dashboard.context.newPage();
    const refused: string[] = [];
    tab.on("console", (message) => {
      if (/frame-ancestors|X-Frame-Options/.test(message.text())) refused.push(message.text());
    });
    await tab.goto(at("127.0.0.1"));
    await tab.evaluate((url) => {
      const frame = document.querySelector("iframe");
      if (frame !== null) frame.src = `${url}/ui/`;
    }, gateway.url);
    await until(() => refused.length > 0);
    const inner = tab.frames().find((frame) => frame.name() === "inner");
    expect(await inner?.locator("#root").count()).toBe(0);
    await tab.close();
  });

  test("FAULT 38: sees no cookie of the session, nor does a script of the dashboard", async () => {
    const tab = await dashboard.context.newPage();
    await tab.goto(at("127.0.0.1"));
    expect(await tab.evaluate(() => document.cookie)).toBe("");
    expect(await dashboard.page.evaluate(() => document.cookie)).toBe("");
    const cookies = (await dashboard.context.cookies()).filter(({ name }) => name.includes("toolyard"));
    expect(cookies).toMatchObject([{ httpOnly: true, secure: true, sameSite: "Strict", path: "/" }]);
    expect(cookies[0]?.name).toMatch(/^__Host-toolyard-\d+$/);
    await tab.close();
  });
});

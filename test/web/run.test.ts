import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Frame, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeProblems,
  hasBrowser,
  launchBrowser,
  linkTo,
  openDashboard,
  overflow,
  violations,
  visit,
  type OpenDashboard,
} from "./dashboard.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { startTlsFront } from "../oauth/tls-front.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const apps = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../servers/app-server.mjs", import.meta.url))],
};

const booking = {
  command: process.execPath,
  args: [fileURLToPath(new URL("booking-server.mjs", import.meta.url))],
};

describe.skipIf(!hasBrowser)("a tool that is run", () => {
  let browser: Browser;
  let gateway: RunningGateway;
  let dashboard: OpenDashboard;
  let page: Page;
  /** Somebody else's server, and what it was asked for. */
  const elsewhere = createServer((request, response) => {
    leaked.push(request.url ?? "");
    response.end();
  });
  const leaked: string[] = [];
  beforeAll(async () => {
    elsewhere.listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    browser = await launchBrowser();
    const asking = badServer("--behaviours=elicit,elicit-url,elicit-twice", "--era=modern");
    gateway = await startGateway({
      config: { mcpServers: { apps: { ...apps, env: { APP_TARGET: target } }, asking, booking } },
    });
    await untilOnline(gateway.url);
    dashboard = await openDashboard(browser, gateway);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    elsewhere.close();
  });

  const start = async (tool: string): Promise<void> => {
    await visit(page, gateway, `/run/${encodeURIComponent(tool)}`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
  };
  const result = () => page.getByRole("region", { name: "Result" });
  const question = () => page.getByRole("region", { name: "Question of asking" });

  test("asks with a form under the running call, as often as its server asks, and goes on with the answers", async () => {
    await start("asking:elicit-twice");
    for (const name of ["first answer", "second answer"]) {
      await question().getByText("[asking] What is your name?").waitFor();
      await question().getByLabel("name").fill(name);
      expect(await axeProblems(page)).toEqual([]);
      await question().getByRole("button", { name: "Answer" }).click();
    }
    await result().getByText("second answer").waitFor();
    expect(await question().count()).toBe(0);
  });

  test("is not sent a form that misses what is needed, and is told when somebody declines", async () => {
    await start("asking:elicit");
    await question().getByRole("button", { name: "Answer" }).click();
    await question().getByText("is needed").waitFor();
    await question().getByRole("button", { name: "Decline" }).click();
    await result().getByText("decline").waitFor();
  });

  test("shows the whole address that its server wants opened, and opens it for a person only", async () => {
    await start("asking:elicit-url");
    await question().getByText("https://example.com/login").waitFor();
    const link = question().getByRole("link", { name: "Open it, and go on" });
    expect(await link.getAttribute("href")).toBe("https://example.com/login");
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(await axeProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await question().getByRole("button", { name: "Not now" }).click();
    await result().getByText("cancel").waitFor();
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });

  test("is sent what was filled in, and nothing that the form added by itself", async () => {
    await visit(page, gateway, "/run/booking:book");
    const run = page.getByRole("button", { name: "Run", exact: true });
    await page.getByLabel("title").fill("tea");
    await run.click();
    await result().getByText('booked {"title":"tea"}').waitFor();
    await page.getByRole("combobox").last().selectOption({ index: 1 });
    await page.getByRole("spinbutton").fill("3");
    await run.click();
    await result().getByText('booked {"title":"tea","repeat":{"kind":"monthly","day":3}}').waitFor();
  });

  test("takes its question back when the call is cancelled", async () => {
    await start("asking:elicit");
    await question().waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("CALL_CANCELLED").waitFor();
    expect(await question().count()).toBe(0);
  });

  test("is cancelled when somebody leaves the page while it asks", async () => {
    await start("asking:elicit");
    await question().waitFor();
    await page.getByRole("link", { name: "Its calls" }).click();
    // Beside the one that the button cancelled before.
    await page.getByRole("button", { name: "×2" }).waitFor();
    await page.getByText("CALL_CANCELLED").first().waitFor();
    expect(dashboard.misdeeds).toEqual({ errors: [], foreign: [], dialogs: [] });
  });

  /** The frame of the page in the frame of the sandbox. */
  const inner = async (): Promise<Frame> =>
    await until(() => page.frames().find((frame) => frame.parentFrame()?.url().endsWith("/sandbox") === true));

  test("FAULT 35: shows its page in a sandbox, where it gets input, result and its own tools, and reaches nothing else", async () => {
    await start("apps:show-clock");
    await page.locator("iframe").waitFor();
    const frame = await inner();
    await frame.getByText('{"zone":"UTC"}').waitFor();
    await frame.getByText('{"changes":0}').waitFor();
    expect(await frame.locator("#input").textContent()).toBe("{}");
    await until(async () => (await frame.locator("#attempts").textContent()) !== "not tried");
    const attempts = JSON.parse((await frame.locator("#attempts").textContent()) ?? "") as Record<string, unknown>;
    expect(new Set(Object.values(attempts))).toEqual(new Set(["blocked"]));
    expect(Object.keys(attempts).length).toBe(16);
    expect(
      new URL(
        page
          .frames()
          .find((one) => one.url().endsWith("/sandbox"))
          ?.url() ?? "",
      ).hostname,
    ).toBe("localhost");
    expect(await frame.evaluate(() => [self.origin, document.compatMode])).toEqual(["null", "CSS1Compat"]);
    expect(await axeProblems(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    expect(dashboard.misdeeds.errors).toEqual([]);
    expect(leaked).toEqual([]);
  });

  test("asks before its page calls a tool that changes something", async () => {
    const frame = await inner();
    const dialog = page.getByRole("dialog", { name: "The page wants to call apps:change-clock" });
    await frame.getByRole("button", { name: "Change" }).click();
    await dialog.getByText('"by": 1').waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await frame.getByText("refused:").waitFor();
    await frame.getByRole("button", { name: "Change" }).click();
    await dialog.waitFor();
    // A second wish, of another amount or another tool, must not take the place of the one that is read.
    await frame.locator("#changed").evaluate((place) => place.replaceChildren());
    await frame.locator("#change").evaluate((button) => (button as HTMLElement).click());
    await until(async () => (await frame.locator("#changed").textContent())?.startsWith("refused:"));
    await dialog.getByRole("button", { name: "Allow" }).click();
    await until(async () => (await frame.locator("#changed").textContent()) === '{"changes":1}');
  });

  test("FAULT 35: whose page leaves for another address is stopped there", async () => {
    for (const way of ["Send", "Leave"]) {
      await start("apps:show-clock");
      const frame = await inner();
      await frame.getByRole("button", { name: way }).click();
      await until(() => frame.url() !== "about:srcdoc" || frame.isDetached());
    }
    expect(leaked).toEqual([]);
  });

  test("asks before its page may reach other hosts, and never gives it all of them", async () => {
    await start("apps:show-elsewhere");
    await page.getByText("This page wants to reach https://api.example.com.").waitFor();
    await page.getByText("https://*.example.com, 'unsafe-eval'").waitFor();
    expect(await page.locator("iframe").count()).toBe(0);
    expect(await axeProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Show it all the same" }).click();
    await (await inner()).getByText('{"changes":1}').waitFor();
  });

  test("FAULT 35: behind a public address, where there is no other name for it, its page is kept in as well", async () => {
    leaked.length = 0;
    const folder = await mkdtemp(join(tmpdir(), "toolyard-public-"));
    // Browsers look for every name below localhost on this machine: for them it is another host all the same.
    await using front = await startTlsFront(makeCertificates(folder, ["yard.localhost"]));
    const publicUrl = `https://yard.localhost:${front.port}`;
    const env = { APP_TARGET: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/` };
    await using behind = await startGateway({
      config: { mcpServers: { apps: { ...apps, env } }, toolyard: { publicUrl } },
    });
    front.target = Number(new URL(behind.url).port);
    await untilOnline(behind.url);
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const tab = await context.newPage();
    await tab.goto(`${publicUrl}/ui/${new URL(linkTo(behind)).hash}`);
    await tab.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(await tab.evaluate(() => document.cookie)).toBe("");
    await tab.goto(`${publicUrl}/ui/run/apps%3Ashow-clock`);
    await tab.getByRole("button", { name: "Run", exact: true }).click();
    const frame = await until(() => tab.frames().find((one) => one.parentFrame()?.url() === `${publicUrl}/sandbox`));
    await frame.getByText('{"zone":"UTC"}').waitFor();
    await frame.getByText('{"changes":0}').waitFor();
    await until(async () => (await frame.locator("#attempts").textContent()) !== "not tried");
    const attempts = JSON.parse((await frame.locator("#attempts").textContent()) ?? "") as Record<string, unknown>;
    expect(new Set(Object.values(attempts))).toEqual(new Set(["blocked"]));
    expect(Object.keys(attempts).length).toBe(16);
    for (const one of [frame, frame.parentFrame()]) expect(await one?.evaluate(() => self.origin)).toBe("null");
    expect(leaked).toEqual([]);
    await context.close();
    await rm(folder, { recursive: true, force: true });
  });
});

test("the frame for pages is not at the dashboard's own name, and in no other page", async () => {
  await using gateway = await startGateway({ config: { mcpServers: {} } });
  const port = new URL(gateway.url).port;
  expect((await fetch(`${gateway.url}/sandbox`)).status).toBe(404);
  const { status, headers } = await fetch(`http://localhost:${port}/sandbox`);
  expect(status).toBe(200);
  expect(headers.get("content-security-policy")).toBe(
    `frame-ancestors http://127.0.0.1:${port}; sandbox allow-scripts allow-forms; frame-src 'none'`,
  );
});

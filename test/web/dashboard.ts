import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { mainFile, type RunningGateway } from "../harness/gateway.ts";

const chromiumFile = "/usr/bin/chromium";
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** For what appears on a page: twice what playwright waits for, because a busy machine is slow. */
export const waitMs = 120_000;
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Whether the tests of the dashboard can run; `.ci/run` makes sure of it. */
export const hasBrowser = existsSync(chromiumFile);
if (!hasBrowser) {
  if (process.env["CI"] !== undefined) throw new Error(`there is no ${chromiumFile}: run scripts/get-chromium.mjs`);
  process.stderr.write(`The dashboard is not tested: there is no ${chromiumFile} (scripts/get-chromium.mjs).\n`);
}

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: chromiumFile });
}

/** What a page did that it must not do. */
export interface Misdeeds {
  readonly errors: string[];
  readonly foreign: string[];
  readonly dialogs: string[];
}

export interface OpenDashboard {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly misdeeds: Misdeeds;
}

/** A one-time link, as the terminal prints it. */
export function linkTo({ configFile, directory }: RunningGateway): string {
  const options = ["--print", "--config", configFile, "--data-dir", join(directory, "data")];
  return execFileSync(process.execPath, [mainFile, "open", ...options], { encoding: "utf8" }).trim();
}

/** A fresh browser profile that was logged in with a link. */
export async function openDashboard(
  browser: Browser,
  gateway: RunningGateway,
  options: BrowserContextOptions = {},
): Promise<OpenDashboard> {
  const opened = await openProfile(browser, gateway, options);
  await opened.page.goto(linkTo(gateway));
  await opened.page.getByRole("heading", { level: 1 }).waitFor();
  return opened;
}

/** A fresh browser profile of a person of the gateway, who asked for a page and had to log in for it. */
export async function openAsPerson(
  browser: Browser,
  gateway: RunningGateway,
  { path, name, password, options }: PersonVisit,
): Promise<OpenDashboard> {
  const opened = await openProfile(browser, gateway, options);
  await opened.page.goto(`${gateway.url}/ui${path}`);
  await logInAs(opened.page, { name, password });
  await opened.page.locator("#navigation").waitFor({ state: "attached" });
  return opened;
}

export interface PersonVisit {
  readonly path: string;
  readonly name: string;
  readonly password: string;
  readonly options?: BrowserContextOptions;
}

/** Fills in the login page of the gateway. */
export async function logInAs(page: Page, { name, password }: Pick<PersonVisit, "name" | "password">): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

async function openProfile(
  browser: Browser,
  gateway: RunningGateway,
  options: BrowserContextOptions = {},
): Promise<OpenDashboard> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(waitMs);
  const misdeeds: Misdeeds = { errors: [], foreign: [], dialogs: [] };
  await context.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { violations: seen });
    document.addEventListener("securitypolicyviolation", (event) =>
      seen.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!/^(?:data|blob):/.test(url) && !url.startsWith(`${gateway.url}/`)) misdeeds.foreign.push(url);
  });
  context.on("page", (page) => {
    page.on("pageerror", (error) => misdeeds.errors.push(error.message));
    page.on("dialog", (dialog) => {
      misdeeds.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  return { context, page: await context.newPage(), misdeeds };
}

/** Opens a page of the dashboard, and waits until nothing in it is loading. */
export async function visit(page: Page, gateway: RunningGateway, path: string): Promise<void> {
  await page.goto(`${gateway.url}/ui${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled(page);
}

export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector(".skeleton") === null);
}

/** What axe finds, by these rules or by all that we keep: one sentence for each kind of problem. */
export async function axeProblems(page: Page, only: readonly string[] = rules): Promise<readonly string[]> {
  // It is half a megabyte, and stays until another page is loaded.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  return await page.evaluate(
    async (runOnly) => {
      const { axe } = window as unknown as {
        readonly axe: { run: (what: Document, how: object) => Promise<AxeResult> };
      };
      interface AxeResult {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
      }
      // What passes need not be described, which takes a fifth of the time.
      const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"], preload: false });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
    },
    [...only],
  );
}

/**
 * What axe finds and what does not fit: wide and light, then in the dark, then on a tablet and a phone, and then as
 * narrow as a page must become. Charts and long lists are loaded again for that: they measure their place when they
 * are first drawn.
 */
export async function problemsOfLooks(page: Page): Promise<readonly string[]> {
  const wide = page.viewportSize() ?? { width: 1280, height: 800 };
  await page.emulateMedia({ colorScheme: "light" });
  const found = [...(await axeProblems(page)), ...(await violations(page))];
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...(await axeProblems(page, ["color-contrast"])).map((problem) => `dark: ${problem}`));
  found.push(...(await misfits(page)));
  const isMeasured = (await page.locator("canvas, [role=table]").count()) > 0;
  for (const width of [768, 390, 320]) {
    await page.setViewportSize({ width, height: 640 });
    if (isMeasured) {
      await page.reload();
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settled(page);
    }
    // At the narrowest, a long word has to be broken.
    if (width > 320) found.push(...(await misfits(page)));
  }
  found.push(...(await axeProblems(page)).map((problem) => `at 320 pixels, dark: ${problem}`));
  found.push(...(await violations(page)));
  const over = await overflow(page);
  if (over > 0) found.push(`at 320 pixels: ${over} pixels too wide`);
  await page.setViewportSize(wide);
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

/** What does not fit at the present width: the page itself, and words that are cut, or broken within. */
async function misfits(page: Page): Promise<readonly string[]> {
  const { width = 0 } = page.viewportSize() ?? {};
  const over = await overflow(page);
  const words = await page.evaluate(wordsThatDoNotFit);
  return [...(over > 0 ? [`${over} pixels too wide`] : []), ...words].map(
    (problem) => `at ${width} pixels: ${problem}`,
  );
}

/**
 * In the browser: plain words of up to 20 letters of which a part is in another line than the rest, or behind an edge.
 * Code, which is shown as it is, breaks anywhere.
 */
function wordsThatDoNotFit(): readonly string[] {
  const found = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
    const parent = text.parentElement;
    if (parent === null || parent.closest("pre, script, style, canvas, .hidden") !== null) continue;
    const around = (parent.textContent ?? "").slice(0, 60);
    for (const { 0: word, index } of (text.textContent ?? "").matchAll(
      /(?<![\p{L}\p{N}])\p{L}{2,20}(?![\p{L}\p{N}])/gu,
    )) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0.5);
      if (new Set(boxes.map((box) => Math.round(box.top))).size > 1) found.add(`"${word}" is broken in "${around}"`);
      let frame: Element | null = parent;
      while (frame !== null && getComputedStyle(frame).overflowX === "visible") frame = frame.parentElement;
      const { overflowX = "", textOverflow = "" } = frame === null ? {} : getComputedStyle(frame);
      const edge = frame?.getBoundingClientRect().right ?? Infinity;
      if (!["hidden", "clip"].includes(overflowX) || textOverflow === "ellipsis") continue;
      if (boxes.some((box) => box.left < edge - 1 && box.right > edge + 1))
        found.add(`"${word}" is cut in "${around}"`);
    }
  }
  return [...found];
}

/** Violations of the page's policy. */
export async function violations(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => (window as unknown as { readonly violations: readonly string[] }).violations);
}

/** How far the page is wider than the screen, in pixels. */
export async function overflow(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

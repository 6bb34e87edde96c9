import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";
import { expect, test } from "vitest";
import { linkTo } from "./dashboard.ts";
import { startGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const firefoxFile = "/usr/bin/firefox-esr";
const hasFirefox = existsSync(firefoxFile);
if (!hasFirefox) {
  if (process.env["CI"] !== undefined) throw new Error(`there is no ${firefoxFile}: run scripts/get-firefox.mjs`);
  process.stderr.write(
    `The dashboard is not opened in Firefox: there is no ${firefoxFile} (scripts/get-firefox.mjs).\n`,
  );
}

const apps = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../servers/app-server.mjs", import.meta.url))],
};

const pages = [
  ["/", "Overview"],
  ["/servers", "Servers"],
  ["/servers/apps?tab=about", "apps"],
  ["/tools", "Tools"],
  ["/search?query=clock", "Search"],
  ["/calls", "Calls"],
  ["/logs", "Logs and events"],
  ["/settings", "Settings"],
  ["/start", "Start"],
] as const;

test.skipIf(!hasFirefox)(
  "in Firefox, each page opens without an error and keeps its policy, and a tool's page is shown",
  async () => {
    await using gateway = await startGateway({ config: { mcpServers: { apps } } });
    await untilOnline(gateway.url);
    await run(gateway.url, "apps:show-clock", {});
    const browser = await puppeteer.launch({
      browser: "firefox",
      executablePath: firefoxFile,
      headless: true,
      timeout: 120_000,
      protocolTimeout: 120_000,
    });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      await page.evaluateOnNewDocument(() => {
        const seen: string[] = [];
        Object.assign(window, { violations: seen });
        document.addEventListener("securitypolicyviolation", (event) =>
          seen.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`),
        );
      });
      await page.goto(linkTo(gateway));
      // Not waitForFunction, which makes a function of a text: in older versions the policy forbids it that.
      const untilShown = async (heading: string): Promise<void> => {
        await until(
          async () =>
            await page.evaluate(
              (text) =>
                document.querySelector("h1")?.textContent === text && document.querySelector(".skeleton") === null,
              heading,
            ),
        );
      };
      await untilShown("Overview");
      for (const [path, heading] of pages) {
        await page.goto(`${gateway.url}/ui${path}`);
        await untilShown(heading);
        const seen = await page.evaluate(() => (window as unknown as { readonly violations: string[] }).violations);
        expect([path, seen, errors]).toEqual([path, [], []]);
      }
      await page.goto(`${gateway.url}/ui/run/apps%3Ashow-clock`);
      await (await page.waitForSelector("form button[type=submit]"))?.click();
      const outer = await (await page.waitForSelector("iframe"))?.contentFrame();
      const inner = await (await outer?.waitForSelector("iframe"))?.contentFrame();
      const textOf = async (id: string): Promise<string> =>
        (await inner?.evaluate((name) => document.getElementById(name)?.textContent ?? "", id)) ?? "";
      await until(async () => (await textOf("result")) === '{"zone":"UTC"}');
      await until(async () => (await textOf("attempts")).startsWith("{"));
      const found = JSON.parse(await textOf("attempts")) as Record<string, unknown>;
      expect(new Set(Object.values(found))).toEqual(new Set(["blocked"]));
      expect(await page.evaluate(() => (window as unknown as { readonly violations: string[] }).violations)).toEqual(
        [],
      );
    } finally {
      await browser.close();
    }
  },
  240_000,
);

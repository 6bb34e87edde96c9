// Takes the pictures of docs/dashboard.md: a gateway with real servers, a few calls, and Chromium. They are compared
// with nothing.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = join(root, "dist/cli/main.js");
const images = join(root, "docs/images");
const folder = mkdtempSync(join(tmpdir(), "toolyard-screens-"));
const options = ["--config", join(root, "examples/mcp.json"), "--data-dir", join(folder, "data")];

const pictures = [
  ["overview", "/", "light"],
  ["servers", "/servers", "light"],
  ["search", "/search?query=add%20two%20numbers", "light"],
  ["tools", "/tools?sort=tokens", "light"],
  ["server", "/servers/everything?tab=about", "light"],
  ["run", "/run/everything%3Aget-sum", "dark"],
  ["settings", "/settings", "dark"],
];

const calls = [
  ["everything:get-sum", { a: 2, b: 40 }],
  ["everything:echo", { message: "hello" }],
  ["filesystem:list_directory", { path: "." }],
  ["filesystem:read_text_file", { path: "nowhere.txt" }],
  ["memory:read_graph", {}],
];

async function call(url, name, values) {
  const headers = { "Content-Type": "application/json" };
  await fetch(`${url}/execute/${encodeURIComponent(name)}`, { method: "POST", headers, body: JSON.stringify(values) });
}

async function take(url, browser) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 720 } });
  const page = await context.newPage();
  await page.goto(execFileSync(process.execPath, [main, "open", "--print", ...options], { encoding: "utf8" }).trim());
  await page.getByRole("heading", { level: 1 }).waitFor();
  for (const [name, path, colorScheme] of pictures) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${url}/ui${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (name === "run") {
      await page.getByLabel(/^a/).fill("2");
      await page.getByLabel(/^b/).fill("40");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("The sum of 2 and 40").waitFor();
    }
    if (name === "search") await page.locator(".why summary").first().click();
    await page.waitForFunction(() => document.querySelector(".skeleton") === null);
    await page.screenshot({ path: join(images, `dashboard-${name}.png`) });
  }
}

execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
mkdirSync(images, { recursive: true });
const gateway = spawn(process.execPath, [main, "serve", ...options, "--port", "0"], {
  stdio: ["ignore", "pipe", "ignore"],
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium" });
try {
  for await (const line of createInterface({ input: gateway.stdout })) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    for (const [name, values] of calls) await call(url, name, values);
    await take(url, browser);
    break;
  }
} finally {
  await browser.close();
  gateway.kill("SIGTERM");
  await new Promise((resolve) => gateway.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}

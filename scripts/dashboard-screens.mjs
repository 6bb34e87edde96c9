// Takes the pictures of docs/dashboard.md, docs/first-run.md and docs/safety.md: gateways with real servers, a few
// calls, and Chromium. They are compared with nothing. The pages show where the files are: run it in a clone at a place
// that may be in the pictures. An argument is the port of the first run, in place of the usual one.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { notesAfter, notesBefore } from "./changed-notes.mjs";
import { clientServers, walk } from "./dashboard-walk.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = join(root, "dist/cli/main.js");
const images = join(root, "docs/images");
const folder = mkdtempSync(join(tmpdir(), "toolyard-screens-"));
const config = ["--config", join(root, "examples/mcp.json")];
const own = [...config, "--data-dir", join(folder, "data")];
const ofTeams = [...config, "--data-dir", join(folder, "teams")];

const pictures = [
  ["overview", "/", "light"],
  ["servers", "/servers", "light"],
  ["search", "/search?query=add%20two%20numbers", "light"],
  ["tools", "/tools?sort=tokens", "light"],
  ["server", "/servers/everything?tab=about", "light"],
  ["run", "/run/everything%3Aget-sum", "dark"],
  ["settings", "/settings", "dark"],
  ["approvals", "/approvals", "light"],
  ["resources", "/resources?tab=prompts&prompt=everything-completable-prompt", "light"],
];

/** Steps of the walk that docs/first-run.md shows; the others look like pictures of docs/dashboard.md. */
const inWalk = ["overview", "found", "up", "connect", "connected"];

const teamPictures = [
  ["people", "/people?tab=users", "light"],
  ["team-server", "/teams/red/servers/mail", "light"],
];

const calls = [
  ["everything:get-sum", { a: 2, b: 40 }],
  ["everything:echo", { message: "hello" }],
  ["filesystem:list_directory", { path: "." }],
  ["filesystem:read_text_file", { path: "nowhere.txt" }],
  ["memory:read_graph", {}],
  ["memory:delete_entities", { entityNames: ["draft of March", "draft of April"] }],
];

async function call(url, name, values) {
  const headers = { "Content-Type": "application/json" };
  await fetch(`${url}/execute/${encodeURIComponent(name)}`, { method: "POST", headers, body: JSON.stringify(values) });
}

/** A command of ours for the gateway with these options. */
function command(options, ...words) {
  const stdio = ["ignore", "pipe", "ignore"];
  return execFileSync(process.execPath, [main, ...words, ...options], { encoding: "utf8", stdio }).trim();
}

function addPeople() {
  command(ofTeams, "user", "add", "ann", "--admin", "--team", "red");
  command(ofTeams, "team", "add", "blue");
  for (const [name, team] of [
    ["bob", "red"],
    ["cid", "blue"],
    ["dora", "blue"],
  ])
    command(ofTeams, "user", "add", name, "--team", team);
  const file = join(folder, "mail.json");
  const fields = [
    { path: "headers.X-Region", tier: "team", type: "enum", enum: ["eu", "us"], required: true },
    { path: "headers.X-Key", tier: "user", type: "secret", required: true, description: "From your account page." },
  ];
  writeFileSync(file, JSON.stringify({ entry: { url: "https://mail.example.com/mcp" }, fields }));
  command(ofTeams, "template", "add", "mail", "--file", file);
  command(ofTeams, "install", "mail", "--team", "red");
}

async function take({ url, browser, options, pictures }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 760 } });
  const page = await context.newPage();
  await page.goto(command(options, "open", "--print"));
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
    if (name === "search") {
      // The first search of a gateway reads the words; the figures are to be those of any other.
      await page.locator(".why summary").first().waitFor();
      await page.reload();
      await page.locator(".why summary").first().click();
    }
    await page.waitForFunction(() => document.querySelector(".skeleton") === null);
    // Tokens are estimated until they have been counted.
    if (name === "overview")
      await page
        .getByText(/^about [\d,]+$/)
        .first()
        .waitFor({ state: "detached" });
    // What a list takes is an estimate until it has been counted.
    await page.waitForFunction(() => !/\babout \d/.test(document.querySelector(".hero")?.textContent ?? ""));
    await page.screenshot({ path: join(images, `dashboard-${name}.png`) });
  }
}

execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
mkdirSync(images, { recursive: true });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium" });

/** Serves with these options while `work` runs. */
async function serve(options, work, { port = "0", env = process.env } = {}) {
  const gateway = spawn(process.execPath, [main, "serve", ...options, "--port", port], {
    stdio: ["ignore", "pipe", "ignore"],
    env,
  });
  let isServed = false;
  try {
    for await (const line of createInterface({ input: gateway.stdout })) {
      const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
      if (url === undefined) continue;
      isServed = true;
      await work(url);
      break;
    }
    if (!isServed) throw new Error(`the gateway ended at once; is port ${port} taken? Another one may be given.`);
  } finally {
    const exited = new Promise((resolve) => gateway.once("exit", resolve));
    if (gateway.exitCode === null && gateway.kill("SIGTERM")) await exited;
  }
}

/** The first five minutes, on the port that people have. */
async function takeWalk() {
  const home = join(folder, "home");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  writeFileSync(
    join(home, ".cursor", "mcp.json"),
    JSON.stringify({ mcpServers: clientServers(root.replace(/\/$/, "")) }, undefined, 2),
  );
  const file = join(home, "toolyard.json");
  writeFileSync(file, "{}\n");
  const options = ["--config", file, "--data-dir", join(home, "data")];
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
  await serve(
    options,
    async (url) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 760 } });
      const page = await context.newPage();
      await page.goto(command(options, "open", "--print"));
      await walk({
        ...{ page, url },
        async look(step) {
          await page.waitForFunction(() => document.querySelector(".skeleton") === null);
          if (inWalk.includes(step)) await page.screenshot({ path: join(images, `first-${step}.png`) });
        },
        async useClient() {
          const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
          const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
          await fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(body) });
        },
      });
    },
    { port: process.argv[2] ?? "3001", env },
  );
}

/** A server that lists other definitions while it runs. */
async function takeDefinitions() {
  const [file, list] = [join(folder, "notes.json"), join(folder, "notes-package.json")];
  writeFileSync(list, JSON.stringify({ tools: notesBefore }));
  const args = [join(root, "test/safety/defined-server.mjs"), list, join(folder, "notes.log")];
  writeFileSync(file, JSON.stringify({ mcpServers: { notes: { command: process.execPath, args } } }));
  const options = ["--config", file, "--data-dir", join(folder, "notes")];
  await serve(options, async (url) => {
    await call(url, "notes:list_notes", {});
    writeFileSync(list, JSON.stringify({ tools: notesAfter }));
    const context = await browser.newContext({ viewport: { width: 1280, height: 760 } });
    const page = await context.newPage();
    await page.goto(command(options, "open", "--print"));
    await page.goto(`${url}/ui/servers/notes`);
    await page.getByText("its contents as context").first().waitFor();
    await page.getByRole("heading", { name: "Definitions" }).evaluate((heading) => {
      heading.style.scrollMarginTop = "24px";
      heading.scrollIntoView();
    });
    await page.screenshot({ path: join(images, "dashboard-definitions.png") });
  });
}

try {
  await takeWalk();
  await takeDefinitions();
  await serve(own, async (url) => {
    for (const [name, values] of calls) await call(url, name, values);
    await take({ url, browser, options: own, pictures });
  });
  await serve([...ofTeams, "--team"], async (url) => {
    addPeople();
    await take({ url, browser, options: ofTeams, pictures: teamPictures });
  });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

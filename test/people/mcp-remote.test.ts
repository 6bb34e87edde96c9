import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import type { PageBrowser } from "./page-browser.ts";
import { initialize, startRemoteFront, type RemoteFront } from "./remote-front.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

// Debian's; `.ci/run` makes sure of it (scripts/get-chromium.mjs).
const chromiumFile = "/usr/bin/chromium";
const hasBrowser = existsSync(chromiumFile);
if (!hasBrowser) {
  if (process.env["CI"] !== undefined) throw new Error(`there is no ${chromiumFile}: run scripts/get-chromium.mjs`);
  process.stderr.write(`Consent is not tried in a real browser: there is no ${chromiumFile}.\n`);
}

// Each takes seconds, and many times that on a busy machine: less than the sum of what is waited for below.
const limitMs = 900_000;

let world: TeamWorld;
let ann: PageBrowser;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-remote-"));
  world = await startTeamWorld();
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const start = async (folder: string, flags: readonly string[] = []): Promise<RemoteFront> =>
  await startRemoteFront({ url: `${world.url}/mcp`, home: join(home, folder), flags });
const call = async (front: RemoteFront) =>
  await front.ask("tools/call", { name: "execute_mcp_tool", arguments: { tool_path: "own:canary", arguments: {} } });

/** In the middle of its work, mcp-remote sends its person away before it listens. */
async function untilListening(front: RemoteFront): Promise<void> {
  await until(() => front.log().includes("callback server running"), limitMs);
}

/** As a person does it in a browser. */
async function allow(front: RemoteFront): Promise<void> {
  const page = await ann.open(await front.asked());
  await untilListening(front);
  const end = await ann.submit(page, { answer: "allow" }, 'name="answer"');
  expect([end.status, new URL(end.url).pathname]).toEqual([200, "/oauth/callback"]);
}

async function disconnectNewest(): Promise<void> {
  const page = await ann.open(`${world.url}/account`);
  const newest = [...page.text.matchAll(/name="id" value="(g_[a-z0-9]+)"/g)].at(-1)?.[1] ?? "";
  await ann.submit(page, {}, `value="${newest}"`);
}

/** What several processes of one app read when their access token has become too old. */
async function ageTokens(folder: string): Promise<void> {
  const names = await readdir(join(home, folder, "auth"), { recursive: true });
  const name = names.find((one) => one.endsWith("tokens.json"));
  if (name === undefined) throw new Error(`no tokens in ${names.join(", ")}`);
  const file = join(home, folder, "auth", name);
  const kept = JSON.parse(await readFile(file, "utf8")) as object;
  await writeFile(file, JSON.stringify({ ...kept, access_token: "too-old" }));
}

test(
  "mcp-remote logs its person in, is used, renewed by several processes, restarted, and shut out",
  { timeout: limitMs },
  async () => {
    await using first = await start("one");
    await allow(first);
    await initialize(first);
    expect((await call(first)).result.structuredContent).toMatchObject({ tool: "canary" });
    await ageTokens("one");
    await world.restart("SIGKILL");
    const several = await Promise.all([1, 2, 3].map(async () => await start("one")));
    await Promise.all(several.map(initialize));
    const answers = await Promise.all(several.map(call));
    expect(answers.map(({ result }) => result.structuredContent.tool)).toEqual(Array(3).fill("canary"));
    expect(several.map(({ timesAsked }) => timesAsked)).toEqual([0, 0, 0]);
    for (const one of several.slice(1)) await one[Symbol.asyncDispose]();

    await disconnectNewest();
    const [left] = several as [RemoteFront];
    const waiting = call(left);
    // It does not go on as if nothing had happened: its person is asked again, and the call then goes through.
    await allow(left);
    expect((await waiting).result.structuredContent).toMatchObject({ tool: "canary" });
    await left[Symbol.asyncDispose]();
  },
);

test("mcp-remote on a machine without a browser logs in with a code", { timeout: limitMs }, async () => {
  await using front = await start("device", ["--device-code"]);
  const link = await front.asked();
  // The link has the code in it: whoever reads it still sees it, and nothing is sent by a script.
  const typed = await ann.open(link);
  const code = new URL(link).searchParams.get("user_code") ?? "";
  expect(typed.text).toContain(`value="${code}"`);
  expect([typed.text.includes("<script"), typed.headers["content-security-policy"]]).toEqual([
    false,
    expect.stringMatching(/^default-src 'none'/),
  ]);
  const shown = await ann.submit(typed, { user_code: code });
  const asked = await ann.submit(shown, {}, 'name="confirm"');
  const done = await ann.submit(asked, { answer: "allow" }, 'name="answer"');
  expect(done.text).toContain("The app is connected");
  await initialize(front);
  expect((await call(front)).result.structuredContent).toMatchObject({ tool: "canary" });
});

test.runIf(hasBrowser)(
  "a real browser goes from the app to the login, the consent, and back to the app",
  { timeout: limitMs },
  async () => {
    await world.ask("user", "add", "bob", "--team", "red");
    await world.logIn("bob");
    await using front = await start("browser");
    const browser = await chromium.launch({ executablePath: chromiumFile });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(limitMs);
      await page.goto(await front.asked());
      await page.getByLabel("Name").fill("bob");
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("wants to act for you").waitFor();
      await untilListening(front);
      await page.getByRole("button", { name: "Allow" }).click();
      await page.waitForURL((url) => url.pathname === "/oauth/callback");
      await initialize(front);
      expect((await call(front)).result.structuredContent).toMatchObject({ tool: "canary" });
    } finally {
      await browser.close();
    }
  },
);

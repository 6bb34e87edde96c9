import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeBlocks } from "../../scripts/site/markdown.mjs";
import { freePort } from "../harness/free-port.ts";
import { mainFile } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, consent } from "../people/app-client.ts";
import { createKeptLogin } from "../people/kept-login.ts";
import { createPageBrowser } from "../people/page-browser.ts";
import { readPage } from "./page-transcripts.ts";

const page = readPage("team-start.md");
const memory = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-memory/dist/index.js");
const home = mkdtempSync(join(tmpdir(), "toolyard-team-start-"));
const [gatewayHome, bobHome] = [join(home, "gateway"), join(home, "bob")];
let url: string;
/** What is typed, one command after the other. */
let typed: string[];

/** The commands that a page shows, for the gateway here. */
const commandsOf = (text: string): string[] =>
  codeBlocks(text.replaceAll("https://tools.example.com", url))
    .filter(({ language }) => language === "sh")
    .flatMap(({ content }) => content.trim().split("\n"));

beforeAll(async () => {
  url = `http://127.0.0.1:${await freePort()}`;
  mkdirSync(gatewayHome);
  mkdirSync(join(bobHome, ".cursor"), { recursive: true });
  writeFileSync(join(home, "toolyard"), `#!/bin/sh\nexec "${process.execPath}" "${mainFile}" "$@"\n`);
  chmodSync(join(home, "toolyard"), 0o755);
  typed = commandsOf(page);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function start(line: string, cwd: string) {
  const child = spawn("bash", ["-c", `exec ${line}`], {
    cwd,
    env: { PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}`, HOME: cwd },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, ended, output: () => output };
}

async function type(cwd = gatewayHome): Promise<string> {
  const line = typed.shift() ?? "";
  // Without a terminal, a change of a client's file needs a yes.
  const { ended, output } = start(line.includes(" connect ") ? `${line} --yes` : line, cwd);
  expect([line, await ended, output()]).toEqual([line, 0, expect.any(String)]);
  return output();
}

test("docs/team-start.md leads from nothing to a colleague's client that calls a tool", async () => {
  const gateway = start(`${typed.shift() ?? ""} --port ${new URL(url).port}`, gatewayHome);
  try {
    await until(() => gateway.output().includes(`listening on ${url}`));
    const code = /\/setup#(\S+)/.exec(await type())?.[1] ?? "";
    const ann = createPageBrowser();
    const chosen = { name: "ann", team: "red", password: "a long password", again: "a long password" };
    const account = await ann.submit(await ann.open(`${url}/setup`), { code, ...chosen });
    expect(account.text).toContain("You are <strong>ann</strong>, an admin");

    const [{ content = "" } = {}] = codeBlocks(page).filter(({ language }) => language === "json");
    const template = JSON.parse(content) as { entry: { command: string; args: string[] } };
    expect(template.entry.args).toEqual(["-y", "@modelcontextprotocol/server-memory"]);
    Object.assign(template.entry, { command: process.execPath, args: [memory] });
    Object.assign(template.entry, { env: { MEMORY_FILE_PATH: join(home, "memory.json") } });
    writeFileSync(join(gatewayHome, "notes.json"), JSON.stringify(template));
    await type();
    await type();
    expect(await type()).toMatch(/notes +red +tp_\S+ +shared/);

    const invitation = /http\S+\/invite\/\S+/.exec(await type())?.[0] ?? "";
    const bob = createPageBrowser({ stopAt: callbackUrl });
    const own = { name: "bob", password: "another long one", again: "another long one" };
    const joined = await bob.submit(await bob.open(invitation), own);
    expect(joined.text).toContain("You are <strong>bob</strong>");

    expect(await type(bobHome)).toContain("Cursor is connected");
    const { mcpServers } = JSON.parse(readFileSync(join(bobHome, ".cursor/mcp.json"), "utf8")) as {
      mcpServers: Record<string, { url: string }>;
    };
    await remember(new URL(mcpServers["toolyard"]?.url ?? ""), bob);

    expect(await type()).toMatch(/ann +owner[^]*bob +member/);
    expect(await type()).toMatch(/An app with the SDK +bob +red/);
    expect(await type()).toContain("notes:create_entities");
    expect(await type()).toContain("app.consent");
    expect(await type()).toContain("0 to fix");
    expect(typed).toEqual([]);
    await useElsewhere(bob);
  } finally {
    gateway.child.kill();
    await gateway.ended;
  }
});

/** As a client does with nothing but the address: it is refused, opens a browser, and calls. */
async function remember(address: URL, browser: ReturnType<typeof createPageBrowser>): Promise<void> {
  const login = createKeptLogin();
  const connect = async () => {
    const client = new Client({ name: "cursor-vscode", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const transport = new StreamableHTTPClientTransport(address, { authProvider: login.provider });
    return { client, transport, done: client.connect(transport) };
  };
  const first = await connect();
  await expect(first.done).rejects.toThrow(/Unauthorized/);
  const asked = { url: login.asked[0]?.href ?? "", verifier: "", state: "" };
  await first.transport.finishAuth((await consent(browser, asked)).searchParams);
  const { client, done } = await connect();
  await done;
  const entities = [{ name: "Ann", entityType: "person", observations: ["prefers tea"] }];
  const wanted = { tool_path: "notes:create_entities", arguments: { entities } };
  const { content } = await client.callTool({ name: "execute_mcp_tool", arguments: wanted });
  expect(JSON.stringify(content)).toContain("prefers tea");
  await client.close();
}

/** What docs/elsewhere.md shows, on the colleague's computer. */
async function useElsewhere(browser: ReturnType<typeof createPageBrowser>): Promise<void> {
  const [connect = "", login = "", ...rest] = commandsOf(readPage("elsewhere.md"));
  typed = [connect];
  expect(await type(bobHome)).toContain("Cursor");
  const command = start(`${login} --no-browser`, bobHome);
  const address = await until(() => /^ {2}(http\S+)$/m.exec(command.output())?.[1]);
  await browser.submit(await browser.open(address), { answer: "allow" }, 'name="answer"');
  expect([await command.ended, command.output()]).toEqual([0, expect.stringContaining(`logged in to ${url}`)]);
  typed = rest.filter((line) => line.endsWith(` --gateway ${url}`));
  expect(typed).toHaveLength(4);
  expect(await type(bobHome)).toContain("notes:read_graph");
  expect(await type(bobHome)).toContain("notes:");
  expect(await type(bobHome)).toContain("prefers tea");
  expect(await type(bobHome)).toContain("notes:read_graph");
}

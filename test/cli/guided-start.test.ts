import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDrawnTerminal, keys, type DrawnTerminal, type DrawnTerminalOptions } from "../harness/drawn-terminal.ts";
import { freePort } from "../harness/free-port.ts";
import { badServerFile } from "../harness/gateway.ts";
import { rpc } from "../harness/rpc.ts";
import { locksIn } from "../harness/places.ts";
import { until } from "../harness/until.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-home-"));
  await mkdir(join(home, "work"));
  await symlink(badServerFile, join(home, "bad-server.mjs"));
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

/** Below the home: the project itself may be in a folder for temporary files, of which nothing is preselected. */
const ownServer = () => ({ command: process.execPath, args: [join(home, "bad-server.mjs")] });
const ownFile = () => join(home, ".config", "toolyard", "toolyard.json");
const claudeFile = () => join(home, ".claude.json");
const dataDir = () => join(home, ".local", "share", "toolyard");

/** A machine with nothing but a home and the tools of the system. */
async function open(options: Partial<DrawnTerminalOptions> = {}, ...args: string[]): Promise<DrawnTerminal> {
  return await openDrawnTerminal({
    args: ["--port", "0", ...args],
    cwd: join(home, "work"),
    env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    ...options,
  });
}

async function writeClaude(servers: object): Promise<string> {
  const text = `${JSON.stringify({ theme: "dark", mcpServers: servers }, undefined, 2)}\n`;
  await writeFile(claudeFile(), text);
  return text;
}

/** Waits until a question stands, and answers it. Typed before, the keys would be lost. */
async function answer(terminal: DrawnTerminal, question: string, ...pressed: string[]): Promise<void> {
  await terminal.sees(question);
  for (const key of pressed) {
    const before = terminal.raw().length;
    terminal.type(key);
    await until(() => terminal.raw().length > before);
  }
}

interface WrittenEntry {
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
}

function writtenEntry(): WrittenEntry {
  const { mcpServers } = JSON.parse(readFileSync(claudeFile(), "utf8")) as { mcpServers: Record<string, WrittenEntry> };
  const entry = mcpServers["toolyard"];
  if (entry === undefined) throw new Error("Claude Code's file does not name us");
  return entry;
}

/** Does what Claude Code does with its file: reads it, connects, and lists the tools. */
async function playClaudeCode(url: string): Promise<readonly string[]> {
  return await playClient("claude-code", url);
}

async function playClient(name: string, url: string): Promise<readonly string[]> {
  const client = new Client({ name, version: "2.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}

describe("the guided start", () => {
  test("takes servers over, tries them, connects a client, and is green only when it has come", async () => {
    await writeClaude({ bad: ownServer() });
    const port = String(await freePort());
    await using terminal = await open({ args: ["--port", port] });
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await answer(terminal, "Which of them?", keys.enter);
    await terminal.sees(`Write this to ${ownFile()}?`);
    expect(existsSync(ownFile())).toBe(false);
    expect(locksIn(dataDir())).toEqual([]);
    await answer(terminal, "Write this to", keys.enter);
    await terminal.sees(/\+ bad {2}answers as MCP \d{4}-\d\d-\d\d: \d+ tools, (about )?[\d,]+ tokens/);
    await terminal.sees(/A model reads (about )?\d+ tokens of definitions here, instead of [\d,]+: \d+ % less/);
    expect(JSON.parse(readFileSync(ownFile(), "utf8"))).toEqual({ mcpServers: { bad: ownServer() } });
    await answer(terminal, "Which client should use it?", keys.enter);
    // It has this server itself, which is ticked: the gateway has it from now on.
    await answer(terminal, "Claude Code has these itself", keys.enter);
    await answer(terminal, "Connect Claude Code?", keys.enter);
    await terminal.sees("Waiting for Claude Code to ask for the tools.");
    expect(terminal.all()).not.toContain("has asked for the tools");
    const { url = "" } = writtenEntry();
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    expect(await playClaudeCode(url)).toContain("execute_mcp_tool");
    await terminal.sees("Claude Code has asked for the tools (it calls itself claude-code).");
    await answer(terminal, "Another client?", keys.enter);
    await terminal.sees("Ctrl-C stops it");
    expect(terminal.screen().join("\n")).toMatch(/^ {2}bad +online/m);
    terminal.type(keys.ctrlC);
    expect(await terminal.exited).toBe(0);
  });

  test.each([
    ["at the first question", []],
    ["when servers are chosen", [["Which servers should it start with?", keys.enter]]],
    [
      "when it asks whether to write",
      [
        ["Which servers should it start with?", keys.enter],
        ["Which of them?", keys.enter],
      ],
    ],
  ] as const)("Ctrl-C %s leaves everything as it was, with nothing started", async (_when, before) => {
    const text = await writeClaude({ bad: ownServer() });
    await using terminal = await open();
    for (const [question, key] of before) await answer(terminal, question, key);
    const last = ["Which servers should it start with?", "Which of them?", "Write this to"][before.length] ?? "";
    await answer(terminal, last, keys.ctrlC);
    expect(await terminal.exited).toBe(1);
    expect(readFileSync(claudeFile(), "utf8")).toBe(text);
    expect(existsSync(ownFile())).toBe(false);
    expect(locksIn(dataDir())).toEqual([]);
  });

  test("Ctrl-C when a client is to be connected leaves the servers configured, and ends the gateway", async () => {
    const text = await writeClaude({ bad: ownServer() });
    await using terminal = await open();
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await answer(terminal, "Which of them?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    await answer(terminal, "Which client should use it?", keys.ctrlC);
    expect(await terminal.exited).toBe(0);
    expect(terminal.all()).toContain("stays as it is");
    expect(readFileSync(claudeFile(), "utf8")).toBe(text);
    expect(JSON.parse(readFileSync(ownFile(), "utf8"))).toHaveProperty("mcpServers.bad");
    expect(readdirSync(join(home, ".config", "toolyard"))).toEqual(["toolyard.json"]);
    expect(locksIn(dataDir())).toEqual([]);
    // The next one goes on there, and the one after that has nothing to ask.
    await using again = await open();
    await again.sees("the first start goes on where it stopped");
    await answer(again, "Which client should use it?", keys.up, keys.enter);
    await again.sees("Ctrl-C stops it");
    again.type(keys.ctrlC);
    await again.exited;
    await using last = await open();
    await last.sees("Ctrl-C stops it");
    expect(last.all()).not.toContain("Which client");
  });

  test("asks for values of variables that are not set, and keeps them encrypted for the server", async () => {
    const entry = { ...ownServer(), env: { SHOWN: "${GUIDE_TEST_KEY}" } };
    await writeClaude({ bad: entry });
    await using terminal = await open();
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await answer(terminal, "Which of them?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    await answer(terminal, "GUIDE_TEST_KEY of bad is not set.", "typed-secret", keys.enter);
    // With its variable unset it would be off.
    await terminal.sees(/\+ bad {2}answers as MCP/);
    expect(terminal.raw()).not.toContain("typed-secret");
    expect(JSON.parse(readFileSync(ownFile(), "utf8"))).toEqual({ mcpServers: { bad: entry } });
    await answer(terminal, "Which client should use it?", keys.ctrlC);
    await terminal.exited;
    const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name)).includes("typed-secret"), name).toBe(false);
  });

  test("in 80 columns commands are shown once, and no question is broken within a word", async () => {
    const files = ["--one=/a/folder/with/a/long/name", "--two=/another/folder/with/a/long/name", "--three=last-word"];
    const entry = { ...ownServer(), env: { SHOWN: "${GUIDE_TEST_KEY_WITH_QUITE_A_LONG_NAME}" } };
    await writeClaude({ bad: { ...entry, args: [...entry.args, ...files] } });
    await using terminal = await open({ columns: 80 });
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await terminal.sees("Which of them?");
    expect(terminal.all().split("last-word")).toHaveLength(2);
    await answer(terminal, "Which of them?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    await terminal.sees("GUIDE_TEST_KEY_WITH_QUITE_A_LONG_NAME of bad is not set.");
    await terminal.sees("(Enter leaves it");
    const words = new Set(terminal.all().split(/\s+/));
    for (const word of ["encrypted", "(Enter", "leaves", "out):"]) expect(words).toContain(word);
    for (const line of terminal.screen()) expect(line.length).toBeLessThan(80);
    await answer(terminal, "out):", keys.ctrlC);
  });

  test("the lines to be written are shown to those who ask, and no is no", async () => {
    await writeClaude({ bad: ownServer() });
    await using terminal = await open();
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await answer(terminal, "Which of them?", keys.enter);
    await terminal.sees("Write this to");
    expect(terminal.all()).not.toContain('"mcpServers"');
    await answer(terminal, "Show the lines first", keys.down, keys.enter);
    await terminal.sees(/"mcpServers"[^]*● Yes/);
    await answer(terminal, "Show the lines first", keys.down, keys.enter);
    await terminal.sees("Nothing was changed.");
    expect(existsSync(ownFile())).toBe(false);
  });

  test("what does not come up is named with its reason, and can be taken out again", async () => {
    await using terminal = await open();
    await answer(terminal, "Which servers should it start with?", keys.down, keys.enter);
    await terminal.sees("The command with its arguments, or the address");
    terminal.type("no-such-program-anywhere --flag");
    await answer(terminal, "no-such-program-anywhere --flag", keys.enter);
    await answer(terminal, "What should it be called?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    await terminal.sees(/! no-such-program-anywhere {2}cannot start "no-such-program-anywhere"/);
    await answer(terminal, "Keep no-such-program-anywhere in the configuration?", "n");
    await terminal.sees("Taken out: no-such-program-anywhere.");
    expect(readFileSync(ownFile(), "utf8")).not.toContain("no-such-program");
    await answer(terminal, "Which client should use it?", keys.ctrlC);
    await terminal.exited;
  });

  test("the example servers come up, and write nothing outside the data directory", async () => {
    await using terminal = await open({ rows: 70 });
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    for (const name of ["everything", "files", "memory"])
      await terminal.sees(new RegExp(`\\+ ${name} {2}answers as MCP .*: \\d+ tools`));
    await answer(terminal, "Which client should use it?", keys.up, keys.enter);
    await terminal.sees("Ctrl-C stops it");
    const url = /listening on (\S+)/.exec(terminal.all())?.[1] ?? "";
    const entities = [{ name: "you", entityType: "person", observations: ["types toolyard"] }];
    const { json } = await rpc(`${url}/mcp`, "tools/call", { name: "memory:create_entities", arguments: { entities } });
    expect(json).toHaveProperty("result.content");
    expect(readFileSync(join(dataDir(), "example-memory.jsonl"), "utf8")).toContain("types toolyard");
  });

  test("going on without waiting says where to look, and the client may come later", async () => {
    await writeClaude({});
    const port = String(await freePort());
    await using terminal = await open({ args: ["--port", port] });
    await answer(terminal, "Which servers should it start with?", keys.down);
    await answer(terminal, "● One that I type", keys.enter);
    await terminal.sees("The command with its arguments, or the address");
    const { command, args } = ownServer();
    terminal.type(`'${command}' '${args.join("' '")}'`);
    await answer(terminal, args[0] ?? "", keys.enter);
    await answer(terminal, "What should it be called?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    await answer(terminal, "Which client should use it?", keys.enter);
    await answer(terminal, "Connect Claude Code?", keys.enter);
    await answer(terminal, "Waiting for Claude Code to ask for the tools.", keys.enter);
    await terminal.sees("Claude Code has not asked for the tools yet. `toolyard clients` shows when it is there.");
    await answer(terminal, "Another client?", keys.enter);
    await terminal.sees("Ctrl-C stops it");
    expect(await playClaudeCode(writtenEntry().url ?? "")).toContain("execute_mcp_tool");
    expect(terminal.all()).not.toContain("Claude Code has asked");
  });

  test("a client of another name is not taken for the one that is waited for", async () => {
    await writeClaude({ bad: ownServer() });
    const port = String(await freePort());
    await using terminal = await open({ args: ["--port", port] });
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await answer(terminal, "Which of them?", keys.enter);
    await answer(terminal, "Write this to", keys.enter);
    await answer(terminal, "Which client should use it?", keys.enter);
    await answer(terminal, "Claude Code has these itself", keys.enter);
    await answer(terminal, "Connect Claude Code?", keys.enter);
    await terminal.sees("Waiting for Claude Code");
    await playClient("somebody-else", writtenEntry().url ?? "");
    await playClient("claude-code", writtenEntry().url ?? "");
    await terminal.sees("Claude Code has asked for the tools (it calls itself claude-code).");
    expect(terminal.all()).not.toContain("somebody-else");
  });

  test("whoever wants no server gets a gateway without any, and no file", async () => {
    await using terminal = await open();
    await answer(terminal, "Which servers should it start with?", keys.up, keys.enter);
    await terminal.sees("no servers yet");
    expect(existsSync(ownFile())).toBe(false);
  });

  test("an escape sequence in a client's file is shown as text", async () => {
    await writeClaude({ "evil\u001b[2J\u202e": { command: "node", args: ["\u001b]0;owned\u0007"] } });
    await using terminal = await open();
    await answer(terminal, "Which servers should it start with?", keys.enter);
    await terminal.sees("Which of them?");
    expect(terminal.raw()).not.toContain("\u001b]0;");
    expect(terminal.raw()).not.toContain("\u001b[2J");
    // As it is written in JSON, with nothing in it that a terminal obeys.
    expect(terminal.raw()).not.toMatch(/[\u202a-\u202e]/);
  });
});

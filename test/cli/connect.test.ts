import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashToken } from "../../src/people/identity/token.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";
import { badServer, mainFile, startGateway } from "../harness/gateway.ts";
import { runOnTerminal } from "../harness/terminal.ts";
import { untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let home: string;
let project: string;
let configFile: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "toolyard-connect-")));
  project = join(home, "project");
  await mkdir(project);
  configFile = join(project, "toolyard.json");
  await configure({});
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

async function configure(settings: object, servers: object = {}): Promise<void> {
  await writeFile(configFile, `${JSON.stringify({ mcpServers: servers, toolyard: settings }, null, 2)}\n`);
}

function environment(): Record<string, string> {
  const empty = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "TOOLYARD_TOKEN"];
  return { ...Object.fromEntries(empty.map((name) => [name, ""])), HOME: home, PATH: dirname(process.execPath) };
}

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return await runCommand([...args, "--config", configFile], { ...environment(), ...env });
}

async function runJson(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  const { stdout, stderr, code } = await run([...args, "--yes", "--json"], env);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function writeHome(file: string, text: string): Promise<string> {
  const path = join(home, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

const cursorFile = ".cursor/mcp.json";
const cursorText = `{\n  // mine\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["-y", "files"], "env": { "KEY": "hunter2-hunter2" } }\n  }\n}\n`;

describe("connect", () => {
  test("shows the change without anybody's secrets, and changes nothing without a yes", async () => {
    const path = await writeHome(cursorFile, cursorText);
    const { code, stdout, stderr } = await run(["connect", "cursor"]);
    expect(code).toBe(2);
    expect(stderr).toContain("say --yes or --dry-run");
    expect(stdout).toContain(`+    "toolyard": {\n+      "url": "http://127.0.0.1:3001/mcp"\n+    }`);
    expect(stdout).toContain("[redacted]");
    expect(stdout).not.toContain("hunter2");
    const dry = await run(["connect", "cursor", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toContain("Nothing was changed");
    expect(await readFile(path, "utf8")).toBe(cursorText);
    expect(existsSync(join(home, ".local"))).toBe(false);
  });

  test("writes one entry, says how the client reads it, does nothing the second time, and takes all of it back", async () => {
    const path = await writeHome(cursorFile, cursorText);
    const first = await run(["connect", "cursor", "--yes"]);
    expect(first.code).toBe(0);
    expect(first.stdout).toContain("Cursor is connected");
    expect(first.stdout).toContain("reload the window");
    expect(first.stdout).toContain("No gateway listens at http://127.0.0.1:3001 now");
    const connected = await readFile(path, "utf8");
    expect(connected).toContain("// mine");
    expect(await runJson(["connect", "cursor"])).toMatchObject({ outcome: "unchanged", changed: false });
    expect(await readFile(path, "utf8")).toBe(connected);
    expect(await runJson(["connect", "cursor", "--undo"])).toMatchObject({ outcome: "restored" });
    expect(await readFile(path, "utf8")).toBe(cursorText);
    const nothing = await run(["connect", "cursor", "--undo", "--yes"]);
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain("nothing is kept that could be undone");
  });

  test("brings an outdated entry up to date, whatever it is called", async () => {
    const before = { mcpServers: { gateway: { url: "http://localhost:3001/mcp/flat" }, other: { command: "x" } } };
    const path = await writeHome(cursorFile, JSON.stringify(before));
    expect(await runJson(["connect", "cursor"])).toMatchObject({ name: "gateway", outcome: "connected" });
    const { mcpServers } = JSON.parse(await readFile(path, "utf8")) as typeof before;
    expect(mcpServers).toEqual({ gateway: { url: "http://127.0.0.1:3001/mcp" }, other: { command: "x" } });
  });

  test("does not take the place of another server of the same name, and can have another name itself", async () => {
    const text = JSON.stringify({ mcpServers: { toolyard: { command: "somebody-else" } } });
    const path = await writeHome(cursorFile, text);
    const { code, stderr } = await run(["connect", "cursor", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`has a server called "toolyard" that is not this gateway`);
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await runJson(["connect", "cursor", "--name", "gateway"])).toMatchObject({ name: "gateway" });
    expect(await runJson(["disconnect", "cursor"])).toMatchObject({ name: "gateway", outcome: "disconnected" });
    expect(await readFile(path, "utf8")).toBe(text);
  });

  test.each([
    [["connect"], "say which client"],
    [["connect", "cursr"], "did you mean `cursor`?"],
    [["connect", "claude-desktop", "--scope", "project"], "it has: user"],
    [["connect", "cursor", "--scope", "mine"], "expected user, project, local"],
    [["connect", "claude-desktop", "--url", "http://127.0.0.1:3001"], "starts commands only"],
    [["connect", "cursor", "--url", "127.0.0.1:3001"], "expected an http(s) address"],
    [["connect", "cursor", "--url", "http://127.0.0.1:1", "--stdio"], "opposite things"],
  ])("%j is wrong usage", async (args, message) => {
    const { code, stderr } = await run([...args, "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("says of a file that cannot be used what is wrong with it, and leaves it", async () => {
    const path = await writeHome(cursorFile, `{\n  "mcpServers": {\n`);
    const broken = await run(["connect", "cursor", "--yes"]);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain(`${path}:3:1: expected`);
    await writeFile(path, cursorText);
    await chmod(path, 0o444);
    const { code, stderr } = await run(["connect", "cursor", "--yes"]);
    expect([code, stderr.includes("is read-only")]).toEqual([1, true]);
    expect(await readFile(path, "utf8")).toBe(cursorText);
  });

  test("says when the client is connected in another place as well", async () => {
    await writeFile(
      join(project, ".mcp.json"),
      JSON.stringify({ mcpServers: { toolyard: { type: "http", url: "http://127.0.0.1:3001/mcp" } } }),
    );
    const child = await runCommandIn(project, ["connect", "claude-code", "--yes"]);
    expect(child.text).toContain("is connected in another place as well");
    expect(child.text).toContain(".mcp.json (project)");
  });
});

/** With another working directory: the project's. */
async function runCommandIn(cwd: string, args: readonly string[]): Promise<{ readonly text: string }> {
  await using terminal = runOnTerminal({
    args: [...args, "--config", configFile],
    env: { ...environment(), PATH: process.env["PATH"] ?? "" },
    cwd,
  });
  await until(() => terminal.text().includes("Undo:"));
  return { text: terminal.text() };
}

describe("on a terminal", () => {
  test("asks, and takes a yes and a no", async () => {
    const path = join(home, ".codeium/windsurf/mcp_config.json");
    const env = { ...environment(), PATH: process.env["PATH"] ?? "" };
    await using no = runOnTerminal({ args: ["connect", "windsurf", "--config", configFile], env });
    await until(() => no.text().includes("Connect Windsurf?"));
    no.type("n");
    await until(() => no.text().includes("Nothing was changed."));
    expect(existsSync(path)).toBe(false);
    await using yes = runOnTerminal({ args: ["connect", "windsurf", "--config", configFile], env });
    await until(() => yes.text().includes("Connect Windsurf?"));
    yes.type("y");
    await until(() => yes.text().includes("Windsurf is connected"));
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
      mcpServers: { toolyard: { serverUrl: "http://127.0.0.1:3001/mcp" } },
    });
  });
});

describe("servers that both have", () => {
  const servers = { files: { command: "npx", args: ["-y", "files"] }, docs: { url: "https://docs.example/mcp" } };

  test.each([
    [
      "windsurf",
      ".codeium/windsurf/mcp_config.json",
      { files: { command: "npx", args: ["-y", "files"], disabled: true } },
    ],
    ["cursor", cursorFile, {}],
    ["gemini", ".gemini/settings.json", { files: { command: "npx", args: ["-y", "files"] } }],
  ])("are switched off in %s in its own way, or taken out, and come back", async (id, file, expected) => {
    await configure({}, servers);
    const before = { mcpServers: { files: servers.files, own: { command: "mine" } } };
    const text = JSON.stringify(before, null, 2);
    const path = await writeHome(file, text);
    const told = await run(["connect", id, "--yes"]);
    expect(told.stdout).toContain("its model sees them twice: files");
    expect(await runJson(["connect", id, "--replace"])).toMatchObject({ off: ["files"] });
    const now = JSON.parse(await readFile(path, "utf8")) as { mcpServers: Record<string, unknown>; mcp?: unknown };
    const { toolyard, own, ...rest } = now.mcpServers;
    expect([toolyard === undefined, own, rest]).toEqual([false, { command: "mine" }, expected]);
    if (id === "gemini") expect(now.mcp).toEqual({ excluded: ["files"] });
    await runJson(["disconnect", id]);
    const after = JSON.parse(await readFile(path, "utf8")) as typeof now;
    expect(after.mcpServers).toEqual(before.mcpServers);
    await runJson(["disconnect", id, "--undo"]);
    await runJson(["connect", id, "--undo"]);
    await runJson(["connect", id, "--undo"]);
    expect(await readFile(path, "utf8")).toBe(text);
  });
});

test("on a terminal they are ticked, with the tokens that each saves, and come back as they were", async () => {
  const bad = badServer("--behaviours=canary,env");
  await using gateway = await startGateway({ config: { mcpServers: { bad } }, env: environment() });
  await untilOnline(gateway.url);
  const text = `{\n  // mine\n  "mcpServers": { "twice": ${JSON.stringify(bad)}, "own": { "command": "mine" } }\n}\n`;
  const path = await writeHome(".codeium/windsurf/mcp_config.json", text);
  const env = { ...environment(), PATH: process.env["PATH"] ?? "" };
  const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  await using terminal = runOnTerminal({ args: ["connect", "windsurf", ...where], env });
  await until(() => /twice \(saves \d+ tokens\)/.test(terminal.text()));
  terminal.type("\r");
  await until(() => terminal.text().includes("Connect Windsurf?"));
  terminal.type("y");
  await until(() => terminal.text().includes("Windsurf is connected"));
  const { twice, own } = (JSON.parse((await readFile(path, "utf8")).replace("// mine", "")) as Connected).mcpServers;
  expect([twice, own]).toEqual([{ ...bad, disabled: true }, { command: "mine" }]);
  const ended = await runCommand(["disconnect", "windsurf", "--yes", ...where], environment());
  expect([ended.stderr, ended.code]).toEqual(["", 0]);
  expect(await readFile(path, "utf8")).toBe(text);
});

interface Connected {
  readonly mcpServers: Readonly<Record<string, unknown>>;
}

test("undo works with a configuration that is broken by now", async () => {
  const path = await writeHome(cursorFile, cursorText);
  await runJson(["connect", "cursor"]);
  await writeFile(configFile, "{");
  expect(await runJson(["connect", "cursor", "--undo"])).toMatchObject({ outcome: "restored" });
  expect(await readFile(path, "utf8")).toBe(cursorText);
});

test("what is said after a removal does not tell anybody to switch on what is gone", async () => {
  await writeHome(cursorFile, cursorText);
  const reload = "Where Cursor still shows what was there before, restart it.";
  for (const removal of [
    ["disconnect", "cursor"],
    ["connect", "cursor", "--undo"],
  ]) {
    await runJson(["connect", "cursor"]);
    expect(await runJson(removal)).toMatchObject({ changed: true, reload });
  }
});

test("a file in another place is connected, known again, and disconnected like any other", async () => {
  const servers = { files: { command: "npx", args: ["-y", "files"] } };
  await configure({}, servers);
  const text = JSON.stringify({ mcpServers: servers }, null, 2);
  const path = await writeHome("elsewhere/mcp.json", text);
  expect(await runJson(["connect", "cursor", "--file", path, "--replace"])).toMatchObject({
    file: path,
    off: ["files"],
  });
  expect(await runJson(["connect", "cursor", "--file", path])).toMatchObject({ outcome: "unchanged" });
  await runJson(["disconnect", "cursor", "--file", path]);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ mcpServers: servers });
});

describe("what is true for the client", () => {
  test("one that starts commands only gets a command that works from everywhere", async () => {
    await configure({}, { bad: badServer() });
    const told = await runJson(["connect", "claude-desktop"]);
    expect(told).toMatchObject({ way: "command", command: process.execPath });
    const file = JSON.parse(await readFile(String(told["file"]), "utf8")) as {
      mcpServers: { toolyard: { command: string; args: string[] } };
    };
    const { command, args } = file.mcpServers.toolyard;
    expect(args).toEqual([await realpath(mainFile), "stdio", "--config", configFile]);
    const client = new Client({ name: "desktop", version: "1" });
    const env = { HOME: home, PATH: "/usr/bin:/bin" };
    await client.connect(new StdioClientTransport({ command, args, env, cwd: "/", stderr: "ignore" }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("discover_mcp_tools");
    await client.close();
    expect((await run(["stop"])).code).toBe(0);
  });

  test("the command's name is enough where the PATH leads to this very program", async () => {
    const bin = join(home, "bin");
    await mkdir(bin);
    await symlink(mainFile, join(bin, "toolyard"));
    const PATH = [bin, dirname(process.execPath)].join(delimiter);
    expect(await runJson(["connect", "codex", "--stdio", "--dry-run"], { PATH })).toMatchObject({
      command: "toolyard",
      args: ["stdio", "--config", configFile],
    });
    // Another program of that name comes first: it is not ours.
    await mkdir(join(home, "other"));
    await writeFile(join(home, "other", "toolyard"), "#!/bin/sh\n", { mode: 0o755 });
    const shadowed = [join(home, "other"), PATH].join(delimiter);
    expect(await runJson(["connect", "codex", "--stdio", "--dry-run"], { PATH: shadowed })).toMatchObject({
      command: process.execPath,
    });
  });

  test("a gateway that runs is connected where it listens, and not where the settings say", async () => {
    const config = { mcpServers: {}, toolyard: {} };
    const port = await freePort();
    {
      await using gateway = await startGateway({ directory: project, config, args: ["--port", String(port)] });
      const data = ["--data-dir", join(project, "data")];
      const said = await run(["connect", "cursor", "--dry-run", ...data]);
      expect(said.stdout).toContain(`"url": "${gateway.url}/mcp"`);
      expect(said.stdout).toContain(`listens at ${gateway.url}, and the settings say http://127.0.0.1:3001`);
      expect(await runJson(["connect", "cursor", ...data])).toMatchObject({ url: `${gateway.url}/mcp`, changed: true });
      expect(await runJson(["connect", "cursor", ...data])).toMatchObject({ outcome: "unchanged" });
      expect(await runJson(["disconnect", "cursor", ...data])).toMatchObject({ outcome: "disconnected" });
    }
    // This one's address would lead nowhere after its next start.
    await using chosen = await startGateway({ directory: project, config });
    expect(chosen.url).not.toContain(":3001");
    const data = ["--data-dir", join(project, "data")];
    expect(await runJson(["connect", "cursor", "--dry-run", ...data])).toMatchObject({
      way: "command",
      notes: expect.arrayContaining([expect.stringContaining("port is chosen at each start")]),
    });
  });

  test("a port that is chosen at each start is no address for a file", async () => {
    await configure({ port: 0 });
    expect(await runJson(["connect", "cursor", "--dry-run"])).toMatchObject({ way: "command" });
    await configure({ publicUrl: "https://tools.example.com/yard" });
    expect(await runJson(["connect", "cursor", "--dry-run"])).toMatchObject({
      url: "https://tools.example.com/yard/mcp",
    });
  });
});

describe("what a client needs besides the address", () => {
  test("is written for Codex beside what is there, and all of it is taken back", async () => {
    const text = `# mine\nmodel = "gpt-6" # the large one\n\n[features.code_mode]\ndirect_only_tool_namespaces = [\n  "mcp__files", # mine\n]\n\n[mcp_servers.my-yard]\nurl = "http://127.0.0.1:3001/mcp/flat"\nstartup_timeout_sec = 30\n`;
    const path = await writeHome(".codex/config.toml", text);
    const said = await run(["connect", "codex", "--yes"]);
    expect(said.stdout).toContain(`+  "mcp__my_yard",`);
    expect(said.stdout).toContain("`startup_timeout_sec` and what else the entry says");
    expect(said.stdout).toContain("`codex exec` cannot ask");
    const connected = await readFile(path, "utf8");
    expect(connected).toBe(
      text
        .replace(`# mine\n]`, `# mine\n  "mcp__my_yard",\n]`)
        .replace(
          /url = "[^"]+"\nstartup_timeout_sec = 30/,
          `startup_timeout_sec = 30\nurl = "http://127.0.0.1:3001/mcp"\ntool_timeout_sec = 3600`,
        ),
    );
    expect(connected).not.toContain("required");
    expect(connected).not.toContain("default_tools_approval_mode");
    expect(await runJson(["connect", "codex"])).toMatchObject({ outcome: "unchanged" });
    expect(await runJson(["connect", "codex", "--stdio"])).toMatchObject({ way: "command" });
    expect(await readFile(path, "utf8")).toContain("required = true\n");
    await runJson(["connect", "codex"]);
    expect(await readFile(path, "utf8")).not.toContain("required");
    for (let undone = 0; undone < 3; undone += 1) await runJson(["connect", "codex", "--undo"]);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  test("is taken back from Codex's file alone, where its user has changed the rest", async () => {
    const path = await writeHome(".codex/config.toml", "");
    await runJson(["connect", "codex"]);
    const now = (await readFile(path, "utf8")).replace(`"mcp__toolyard"`, `"mcp__toolyard", "mcp__mine"`);
    await writeFile(path, `model = "gpt-6"\n${now}`);
    await runJson(["disconnect", "codex"]);
    expect(await readFile(path, "utf8")).toBe(
      `model = "gpt-6"\n[features.code_mode]\ndirect_only_tool_namespaces = [ "mcp__mine" ]\n`,
    );
  });

  test.each([
    ["copilot", ".copilot/mcp-config.json", { type: "http", url: "", tools: ["*"], deferTools: "never" }],
    ["qwen", ".qwen/settings.json", { httpUrl: "", alwaysLoadTools: true, timeout: 3_600_000 }],
    ["kimi", ".kimi-code/mcp.json", { url: "", toolTimeoutMs: 3_600_000 }],
  ])("is written for %s, and what hid our tools is gone", async (id, file, entry) => {
    const url = "http://127.0.0.1:3001/mcp";
    const before = {
      mcpServers: {
        own: { command: "mine", deferred: true },
        toolyard: { ...entry, ...("url" in entry ? { url } : { httpUrl: url }), deferTools: "auto", deferred: true },
      },
    };
    const path = await writeHome(file, JSON.stringify(before));
    await runJson(["connect", id]);
    const { mcpServers } = JSON.parse(await readFile(path, "utf8")) as typeof before;
    expect(mcpServers).toEqual({
      own: before.mcpServers.own,
      toolyard: { ...entry, ...("url" in entry ? { url } : { httpUrl: url }) },
    });
  });

  test.each([
    ["claude-code", "`toolyard connect claude-code --hook`"],
    ["gemini", '`"trust": true`'],
    ["qwen", '`"trust": true`'],
  ])("is said of %s, and not written unasked", async (id, words) => {
    const { notes, file } = await runJson(["connect", id]);
    expect(String(notes)).toContain(words);
    const text = await readFile(String(file), "utf8");
    expect(text).not.toMatch(/trust|approval|hook/);
  });
});

describe("an address that is given", () => {
  const token = "canary-4711.token~of+ann/==";

  test("gets the token that is given with it, which is shown to nobody, and is tried before it is written", async () => {
    const directory = join(home, "elsewhere");
    await mkdir(directory);
    await using gateway = await startGateway({
      directory,
      config: { mcpServers: {}, toolyard: { auth: { tokenHashes: [hashToken(token)] } } },
    });
    const url = `${gateway.url}/?codemode=false`;
    for (const [id, written] of [
      ["cursor", `"Authorization": "Bearer ${token}"`],
      ["codex", `Authorization = "Bearer ${token}"`],
      ["continue", `Authorization: Bearer ${token}`],
      ["copilot", `"Authorization": "Bearer ${token}"`],
    ] as const) {
      const said = await run(["connect", id, "--url", url, "--token", token, "--yes"]);
      expect([said.code, said.stderr]).toEqual([0, ""]);
      expect(said.stdout).toContain("[redacted]");
      expect(said.stdout).toContain("is connected: toolyard");
      expect(said.stdout).not.toContain("canary");
      const file = / in (\S+)\n/.exec(said.stdout.slice(said.stdout.indexOf("is connected")))?.[1] ?? "";
      const text = await readFile(file, "utf8");
      expect(text).toContain(written);
      expect(text).toContain(`${gateway.url}/mcp?codemode=false`);
      const undone = await run(["connect", id, "--undo", "--yes"]);
      expect(undone.stdout + undone.stderr).not.toContain("canary");
    }
    const answer = await fetch(`${gateway.url}/mcp?codemode=false&x=%00`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect(await answer.text()).toContain("discover_mcp_tools");
  });

  test("whose gateway refuses is told, and nothing is connected", async () => {
    const directory = join(home, "elsewhere");
    await mkdir(directory);
    await using gateway = await startGateway({
      directory,
      config: { mcpServers: {}, toolyard: { auth: { tokenHashes: [hashToken(token)] } } },
    });
    const path = await writeHome(cursorFile, cursorText);
    const connect = async (...args: readonly string[]) =>
      await run(["connect", "cursor", "--url", gateway.url, ...args, "--yes"]);
    for (const [args, words] of [
      [[], "requires a token"],
      [["--token", "another-4711"], "does not accept this token"],
      [["--token", "two words"], "cannot be sent as one"],
      [["--token", `a"b`], "cannot be sent as one"],
      [["--token", "a\r\nX-Other: 1"], "cannot be sent as one"],
    ] as const) {
      const { code, stdout, stderr } = await connect(...args);
      expect([code, stderr.includes(words)]).toEqual([2, true]);
      expect(stdout + stderr).not.toMatch(/4711|two words|X-Other|is connected/);
    }
    expect(await readFile(path, "utf8")).toBe(cursorText);
  });

  test("at which nothing answers is written with a word about it; a command needs no token", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { notes } = await runJson(["connect", "cursor", "--url", url, "--token", token]);
    expect(String(notes)).toContain(`Nothing answers at ${url}/mcp now`);
    const told = await runJson(["connect", "claude-desktop", "--token", token]);
    expect(told).toMatchObject({ way: "command", token: false });
    expect(String(told["notes"])).toContain("is not written");
    expect(await readFile(String(told["file"]), "utf8")).not.toContain("canary");
  });
});

describe("a gateway that wants a token", () => {
  test("gets a new one, which works, stays at the next time, and is shown to nobody", async () => {
    await using gateway = await startGateway({
      directory: project,
      config: { mcpServers: {}, toolyard: { auth: { tokenHashes: [hashToken("first")] } } },
    });
    const said = await run(["connect", "cursor", "--url", gateway.url, "--yes"]);
    expect(said.code).toBe(0);
    expect(said.stdout).toContain(configFile);
    const path = join(home, cursorFile);
    const { mcpServers } = JSON.parse(await readFile(path, "utf8")) as {
      mcpServers: { toolyard: { url: string; headers: { Authorization: string } } };
    };
    const { url, headers } = mcpServers.toolyard;
    const token = headers.Authorization.replace("Bearer ", "");
    expect(said.stdout + said.stderr).not.toContain(token);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const config = JSON.parse(await readFile(configFile, "utf8")) as { toolyard: { auth: { tokenHashes: string[] } } };
    expect(config.toolyard.auth.tokenHashes).toEqual([hashToken("first"), hashToken(token)]);
    const client = new Client({ name: "cursor-vscode", version: "1" });
    await until(
      async () =>
        await client
          .connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never)
          .then(
            () => true,
            () => false,
          ),
    );
    expect((await client.listTools()).tools.length).toBe(4);
    await client.close();
    expect(await runJson(["connect", "cursor", "--url", gateway.url])).toMatchObject({
      outcome: "unchanged",
      token: true,
    });
    const gone = await run(["disconnect", "cursor", "--yes"]);
    expect(gone.stdout).toContain(hashToken(token));
    await run(["disconnect", "cursor", "--undo", "--yes"]);
    const undone = await run(["connect", "cursor", "--undo", "--yes"]);
    expect(undone.stdout).toContain(hashToken(token));
    expect(undone.stdout).not.toContain(token);
  });

  test("takes one that is given, makes one for a person, and says when there is none", async () => {
    const people = { principals: { ada: { tokenHash: hashToken("ada") } } };
    await configure(people);
    const none = await run(["connect", "zed", "--yes"]);
    expect([none.code, none.stderr.includes("TOOLYARD_TOKEN")]).toEqual([2, true]);
    await runJson(["connect", "zed"], { TOOLYARD_TOKEN: "ada" });
    const zed = JSON.parse(await readFile(join(home, ".config/zed/settings.json"), "utf8")) as {
      context_servers: { toolyard: object };
    };
    expect(zed.context_servers.toolyard).toEqual({
      url: "http://127.0.0.1:3001/mcp",
      headers: { Authorization: "Bearer ada" },
    });
    await runJson(["connect", "codex", "--principal", "ada"]);
    const codex = await readFile(join(home, ".codex/config.toml"), "utf8");
    const token = /Authorization = "Bearer (\S+)"/.exec(codex)?.[1] ?? "";
    const config = JSON.parse(await readFile(configFile, "utf8")) as {
      toolyard: { principals: { ada: { tokenHashes: string[] } } };
    };
    expect(config.toolyard.principals.ada.tokenHashes).toEqual([hashToken(token)]);
    const unknown = await run(["connect", "cursor", "--principal", "bob", "--yes"]);
    expect([unknown.code, unknown.stderr.includes("no one is called")]).toEqual([2, true]);
    // Over stdio the owner's own files are what lets the client in.
    expect(await runJson(["connect", "windsurf", "--stdio"])).toMatchObject({ token: false });
  });

  test("leaves no token behind when the client's file cannot be written", async () => {
    await configure({ auth: { tokenHashes: [hashToken("first")] } });
    const before = await readFile(configFile, "utf8");
    // The folder that the file would be in is a file.
    await writeHome(".codeium", "not a folder");
    expect((await run(["connect", "windsurf", "--yes"])).code).toBe(1);
    expect(await readFile(configFile, "utf8")).toBe(before);
  });
});

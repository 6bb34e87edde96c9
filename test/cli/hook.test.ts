import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";

let home: string;
let configFile: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "toolyard-hook-")));
  // What a shell would take apart.
  configFile = join(home, "it's $(mine) `here`", "toolyard.json");
  await mkdir(dirname(configFile));
  await configure({ github: { command: "x", env: { T: "${NOT_SET}" }, tools: { deny: ["delete_*"] } } });
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

async function configure(mcpServers: object): Promise<void> {
  await writeFile(configFile, JSON.stringify({ mcpServers }));
}

function environment(): Record<string, string> {
  return { HOME: home, CLAUDE_CONFIG_DIR: "", XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", TOOLYARD_TOKEN: "" };
}

async function run(args: readonly string[], input?: string): Promise<CommandResult> {
  return await runCommand([...args, "--config", configFile], environment(), input);
}

/** As Claude Code gives it. */
function call(path: unknown, tool = "mcp__toolyard__execute_mcp_tool"): string {
  const input = { tool_path: path, arguments: { text: "x".repeat(65_536) } };
  return JSON.stringify({ session_id: "1", hook_event_name: "PreToolUse", tool_name: tool, tool_input: input });
}

describe("the hook", () => {
  test.each([
    ["github:delete_repo", "deny"],
    ["github__delete_repo", "deny"],
    ["github:Delete_Repo", "ask"],
  ])("answers for %s: %s", async (path, decision) => {
    const { code, stdout, stderr } = await run(["hook", "claude-code"], call(path));
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: decision,
        permissionDecisionReason: expect.stringContaining(`the rules for github in ${configFile}`) as string,
      },
    });
  });

  test.each([
    ["a tool that no rule denies", call("github:create_issue")],
    ["a tool of nobody's", call("nobody:delete_repo")],
    ["a path that is none", call(7)],
    ["another tool of ours", call("github:delete_repo", "mcp__toolyard__discover_mcp_tools")],
    ["a tool of the client's own", call("github:delete_repo", "Bash")],
  ])("says nothing of %s", async (_, input) => {
    expect(await run(["hook", "claude-code"], input)).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("shows no control characters of a name, and only its beginning", async () => {
    const { stdout } = await run(["hook", "claude-code"], call(`github:delete_\u001B[31m\u202E${"x".repeat(65_536)}`));
    expect(stdout.length).toBeLessThan(1_000);
    expect(stdout).not.toMatch(/\\u001b|\u202E|\\u202e/i);
  });

  test.each([
    ["what is no JSON", ["hook", "claude-code"], "{"],
    ["what is no object", ["hook", "claude-code"], "[]"],
    ["nothing", ["hook", "claude-code"], ""],
    ["a call without a tool", ["hook", "claude-code"], "{}"],
    ["another client", ["hook", "codex"], "{}"],
    ["an option that it does not have", ["hook", "claude-code", "--fast"], "{}"],
  ])("refuses the call for %s", async (_, args, input) => {
    const { code, stdout, stderr } = await run(args, input);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^toolyard: /);
  });

  test("refuses the call where the configuration cannot be read, and says where it is wrong", async () => {
    await writeFile(configFile, `{ "mcpServers": {`);
    const { code, stderr } = await run(["hook", "claude-code"], call("github:create_issue"));
    expect(code).toBe(2);
    expect(stderr).toContain(`${configFile}:1:`);
    await rm(configFile);
    expect((await run(["hook", "claude-code"], call("github:create_issue"))).code).toBe(2);
  });
});

interface Settings {
  readonly hooks?: {
    readonly PreToolUse: readonly { readonly matcher: string; readonly hooks: readonly { command: string }[] }[];
  };
}

describe("connect claude-code --hook", () => {
  const settings = () => join(home, ".claude", "settings.json");
  const read = async (): Promise<Settings> => JSON.parse(await readFile(settings(), "utf8")) as Settings;

  /** As Claude Code runs it. */
  async function runHook(command: string, input: string): Promise<CommandResult> {
    const child = spawn("bash", ["-c", command], { env: { ...process.env, ...environment() }, cwd: home });
    child.stdin.end(input);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    return await new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  }

  test("writes a hook that a shell runs, beside others, once, and takes it back", async () => {
    const text = `{\n  "permissions": { "deny": ["Bash(rm *)"] },\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "guard" }] }\n    ]\n  }\n}\n`;
    await mkdir(join(home, ".claude"));
    await writeFile(settings(), text);
    const said = await run(["connect", "claude-code", "--hook", "--name", "my-yard", "--yes"]);
    expect([said.code, said.stderr]).toEqual([0, ""]);
    expect(said.stdout).toContain("Claude Code is connected");
    expect(said.stdout).toContain("--hook --undo");
    const [bash, ours] = (await read()).hooks?.PreToolUse ?? [];
    expect(bash).toEqual({ matcher: "Bash", hooks: [{ type: "command", command: "guard" }] });
    expect(ours).toEqual({
      matcher: "mcp__my-yard__execute_mcp_tool|mcp__my-yard__execute_read_only_mcp_tool",
      hooks: [{ type: "command", command: expect.any(String) as string, timeout: 30, onFailure: "block" }],
    });
    const command = ours?.hooks[0]?.command ?? "";
    const denied = await runHook(command, call("github:delete_repo", "mcp__my-yard__execute_mcp_tool"));
    const twin = await runHook(command, call("github:delete_repo", "mcp__my-yard__execute_read_only_mcp_tool"));
    expect(twin.stdout).toBe(denied.stdout);
    expect([denied.code, denied.stderr]).toEqual([0, ""]);
    expect(denied.stdout).toContain('"permissionDecision":"deny"');
    const written = await readFile(settings(), "utf8");
    const again = await run(["connect", "claude-code", "--hook", "--name", "my-yard", "--yes"]);
    expect(again.stdout).toContain("is connected already");
    expect(await readFile(settings(), "utf8")).toBe(written);
    const undone = await run(["connect", "claude-code", "--hook", "--undo", "--yes"]);
    expect(undone.stdout).toContain("byte for byte");
    expect(await readFile(settings(), "utf8")).toBe(text);
    expect(await readFile(join(home, ".claude.json"), "utf8")).toContain("my-yard");
  });

  test("makes the file where there is none, and disconnecting takes the hook out with the entry", async () => {
    await run(["connect", "claude-code", "--yes", "--hook"]);
    expect((await read()).hooks?.PreToolUse).toHaveLength(1);
    const gone = await run(["disconnect", "claude-code", "--yes"]);
    expect(gone.code).toBe(0);
    expect(await read()).toEqual({});
    expect(await readFile(join(home, ".claude.json"), "utf8")).not.toContain("toolyard");
    await run(["connect", "claude-code", "--yes"]);
    expect(await read()).toEqual({});
  });

  test("is only shown with --dry-run, and is refused for other clients", async () => {
    const shown = await run(["connect", "claude-code", "--hook", "--dry-run"]);
    expect(shown.stdout).toContain(
      '+        "matcher": "mcp__toolyard__execute_mcp_tool|mcp__toolyard__execute_read_only_mcp_tool"',
    );
    expect(existsSync(settings())).toBe(false);
    const other = await run(["connect", "cursor", "--hook", "--yes"]);
    expect([other.code, other.stderr.includes("--hook is for claude-code")]).toEqual([2, true]);
    expect(existsSync(join(home, ".cursor"))).toBe(false);
  });
});

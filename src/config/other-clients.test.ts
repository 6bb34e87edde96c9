import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mayUse } from "../engine/policy/tool-rules.ts";
import type { Config } from "./config.ts";
import { parseEnvFile } from "./entry/env-file.ts";
import { loadConfig } from "./load.ts";
import { createConfigSecrets } from "./secrets.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function load(content: unknown, env: Record<string, string> = {}, folder = ""): Promise<Config> {
  await mkdir(join(directory, folder), { recursive: true });
  const file = join(directory, folder, "toolyard.json");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  const homeDirectories = { config: directory, data: directory };
  return await loadConfig({ file, cwd: "/", env, flags: {}, homeDirectories, cores: 1 });
}

const reasonOf = (config: Config, index = 0) => config.servers[index]?.disabledReason;

function transportOf(config: Config, index = 0) {
  const transport = config.servers[index]?.transport;
  if (transport?.kind !== "stdio") throw new Error("no stdio server");
  return transport;
}

describe("tools that another client's file switches off are off", () => {
  const names = ["get_user", "get_file", "put_file", "drop"];
  const offered = async (entry: object) => {
    const config = await load({ mcpServers: { a: { command: "x", ...entry } } });
    expect(config.warnings).toEqual([]);
    const rules = config.servers[0]!.tools;
    return names.filter((tool) => mayUse({ rules, tool }));
  };

  test.each<[object, string[]]>([
    [{ disabledTools: ["drop"] }, ["get_user", "get_file", "put_file"]],
    [{ disabled_tools: ["drop"] }, ["get_user", "get_file", "put_file"]],
    [{ excludeTools: ["drop", "get_*"] }, ["put_file"]],
    [{ enabledTools: ["drop"] }, ["drop"]],
    [{ enabled_tools: ["drop"] }, ["drop"]],
    [{ includeTools: ["get_*"] }, ["get_user", "get_file"]],
    [{ includeTools: [] }, []],
    [{ tools: ["*"] }, names],
    [{ tools: ["drop"] }, ["drop"]],
    [{ includeTools: ["get_user", "drop"], excludeTools: ["drop"] }, ["get_user"]],
    [{ includeTools: ["get_*"], enabledTools: ["*_file"] }, ["get_file"]],
    [{ includeTools: ["get_*"], tools: { allow: ["*_file", "drop"], deny: [] } }, ["get_file"]],
    [{ disabledTools: ["drop"], tools: { allow: ["*"], deny: ["put_file"] } }, ["get_user", "get_file"]],
  ])("%j", async (entry, expected) => {
    expect(await offered(entry)).toEqual(expected);
  });

  test("what says only when to ask a person is known, and changes nothing", async () => {
    const approvals = {
      ...{ alwaysAllow: ["drop"], autoApprove: ["drop"], trust: true, default_tools_approval_mode: "prompt" },
      description: "a server",
    };
    expect(await offered(approvals)).toEqual(names);
  });

  test("a list that is none disables the server, so that nothing is offered by mistake", async () => {
    const config = await load({ mcpServers: { a: { command: "x", disabledTools: "drop" } } });
    expect(reasonOf(config)).toBe("toolyard.json:1:51: mcpServers.a.disabledTools: expected an array, found a string");
  });

  test("Gemini's `mcp.excluded` and `mcp.allowed` switch servers off", async () => {
    const mcpServers = { a: { command: "x" }, b: { command: "x" }, c: { command: "x" } };
    const config = await load({ mcp: { allowed: ["a", "b"], excluded: ["b"] }, mcpServers });
    expect(config.servers.map((server) => server.disabledReason)).toEqual([
      undefined,
      "disabled in the configuration",
      "disabled in the configuration",
    ]);
  });
});

describe("numbers and booleans become text, as they stand in the file", () => {
  test("under env, headers and args, and in what teams and people give", async () => {
    const config = await load(`{
      "mcpServers": {
        "a": { "command": "x", "args": ["--port", 3001, true], "env": { "PORT": 3001, "DEBUG": false, "PYTHON": 3.10, "ID": 12345678901234567890 } },
        "b": { "url": "http://b", "headers": { "X-Version": 2 } }
      },
      "toolyard": { "principals": { "alice": { "servers": { "a": { "env": { "LEVEL": 1.0 }, "args": [7] } } } } }
    }`);
    expect(transportOf(config)).toMatchObject({
      args: ["--port", "3001", "true"],
      env: { PORT: "3001", DEBUG: "false", PYTHON: "3.10", ID: "12345678901234567890" },
    });
    expect(config.servers[1]?.transport).toMatchObject({ headers: { "X-Version": "2" } });
    expect(config.people.principals.get("alice")?.servers.get("a")).toEqual({ env: { LEVEL: "1.0" }, args: ["7"] });
  });
});

describe("envFile", () => {
  test("its variables reach the process, those under env are stronger, and every value is a secret", async () => {
    await writeFile(
      join(directory, "my.env"),
      "\uFEFF# mine\r\nexport TOKEN=canary-4711\r\nNAME='two words' # why\nKEY=\"-----BEGIN\nline-of-key\n-----END\"\nBOTH=file\nEMPTY=\n",
    );
    const entry = { command: "x", envFile: "my.env", env: { BOTH: "entry" } };
    const config = await load({ mcpServers: { a: entry } });
    expect(reasonOf(config)).toBeUndefined();
    expect(transportOf(config).env).toEqual({
      TOKEN: "canary-4711",
      NAME: "two words",
      KEY: "-----BEGIN\nline-of-key\n-----END",
      BOTH: "entry",
      EMPTY: "",
    });
    for (const secret of ["canary-4711", "two words", "line-of-key"])
      expect(createConfigSecrets(() => config)()).toContain(secret);
    expect(config.watched).toEqual([join(directory, "my.env")]);
  });

  test("`${workspaceFolder}` is the folder of the file, or that around an editor's own folder", async () => {
    await writeFile(join(directory, ".env"), "A=1");
    const entry = { command: "x", envFile: "${workspaceFolder}/.env", args: ["${workspaceFolder}"] };
    for (const folder of ["", ".vscode", ".cursor"]) {
      const config = await load({ servers: { a: entry } }, {}, folder);
      expect(transportOf(config)).toMatchObject({ env: { A: "1" }, args: [directory] });
    }
  });

  test("one that cannot be used disables its server with reason and place, and no value is shown", async () => {
    await writeFile(join(directory, "bad.env"), "A=1\n\ncanary-4711\n");
    await mkdir(join(directory, "folder"));
    await writeFile(join(directory, "utf16.env"), Buffer.from("\uFEFFA=1", "utf16le"));
    await writeFile(join(directory, "large.env"), "A=1\n".repeat(300_000));
    const files = ["none.env", "bad.env", "folder", "utf16.env", "large.env", "${GONE}/x"];
    const servers = Object.fromEntries(files.map((envFile, index) => [`s${index}`, { command: "x", envFile }]));
    const config = await load({ mcpServers: { ...servers, good: { command: "x" } } });
    expect(
      config.servers.map((server) => server.disabledReason?.replace(/^toolyard\.json:1:\d+: mcpServers\./, "")),
    ).toEqual([
      "s0.envFile: none.env: no such file",
      "s1.envFile: bad.env: line 3 is not NAME=value",
      "s2.envFile: folder: is a directory; expected a file",
      "s3.envFile: utf16.env: is written in UTF-16; save it as UTF-8",
      "s4.envFile: large.env: 1200000 bytes are more than the limit of 1048576",
      "the variable GONE is not set",
      undefined,
    ]);
    expect(config.warnings.join()).not.toContain("4711");
    expect(config.warnings[0]).toContain('toolyard.json:1:21: server "s0" is disabled: toolyard.json:1:46: ');
  });

  test.each([
    ["A=1\n=x\nB=2", "line 2 is not NAME=value"],
    ["A B=1", "line 1 is not NAME=value"],
    ["A=1\0", "has a NUL character"],
    ["\n".repeat(10_000), "has more than 10000 lines"],
  ])("%j is not half read", (text, problem) => {
    expect(parseEnvFile(text)).toEqual({ problem });
  });

  test("on a remote server it has no effect unless a text refers to it, and a warning says so", async () => {
    const { servers, warnings } = await load({ mcpServers: { a: { url: "http://a", envFile: "x" } } });
    expect(servers[0]?.disabledReason).toBeUndefined();
    expect(warnings[0]).toMatch(
      /toolyard\.json:1:48: mcpServers\.a\.envFile: has no effect here: only a process has an environment$/,
    );
    const used = await load({ mcpServers: { a: { url: "http://a/${A}", envFile: "x" } } });
    expect(reasonOf(used)).toBe("the variable A is not set");
    expect(used.warnings).toContainEqual(expect.stringMatching(/mcpServers\.a\.envFile: x: no such file$/));
  });
});

describe("VS Code's inputs and predefined variables", () => {
  const inputs = [
    { id: "api-key", type: "promptString", password: true },
    { id: "region", type: "pickString", options: ["eu-central", "us-east"], default: "eu-central" },
    { id: "pin", type: "promptString", password: true, default: "default-pin" },
  ];
  const env = { KEY: "${input:api-key}", REGION: "${input:region}", PIN: "${input:pin}" };

  test("a variable or the default is the value; what a variable says and a password is a secret", async () => {
    const file = { inputs, servers: { a: { command: "x", env } } };
    const config = await load(file, { TOOLYARD_INPUT_API_KEY: "canary-4711" });
    expect(transportOf(config).env).toEqual({ KEY: "canary-4711", REGION: "eu-central", PIN: "default-pin" });
    expect(config.secrets).toEqual(new Set(["canary-4711", "default-pin"]));
    const other = await load(file, { TOOLYARD_INPUT_API_KEY: "k", TOOLYARD_INPUT_REGION: "us-east" });
    expect(transportOf(other).env["REGION"]).toBe("us-east");
  });

  test("without either that server is disabled, with the input and the variable to set; the others run", async () => {
    const servers = { a: { command: "x", env }, b: { command: "x" }, c: { command: "x", args: ["${input:no such}"] } };
    const config = await load({ mcp: { inputs, servers } });
    expect(config.servers.map((server) => server.disabledReason)).toEqual([
      'it asks for the input "api-key", and there is no one to ask here: set TOOLYARD_INPUT_API_KEY',
      undefined,
      'it asks for the input "no such", and there is no one to ask here: set TOOLYARD_INPUT_NO_SUCH',
    ]);
  });

  test("userHome, pathSeparator and workspaceFolderBasename are known; a prefix or a variable is stronger", async () => {
    const args = ["${userHome}${/}x${pathSeparator}", "${workspaceFolderBasename}", "${env:HOME}"];
    const config = await load({ servers: { a: { command: "x", args } } }, { HOME: "/home/me" });
    expect(transportOf(config).args).toEqual([
      "/home/me/x/",
      directory.slice(directory.lastIndexOf("/") + 1),
      "/home/me",
    ]);
    expect(config.secrets).toEqual(new Set());
    const own = await load({ servers: { a: { command: "${workspaceFolder}" } } }, { workspaceFolder: "/mine" });
    expect(transportOf(own).command).toBe("/mine");
    const named = await load({ servers: { a: { command: "${env:workspaceFolder}" } } });
    expect(reasonOf(named)).toBe("the variable workspaceFolder is not set");
  });
});

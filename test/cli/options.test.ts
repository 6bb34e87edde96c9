import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, mainFile } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { locksIn, onlyPlace } from "../harness/places.ts";

let directory: string;
let flags: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-options-"));
  const config = join(directory, "toolyard.json");
  await writeFile(config, JSON.stringify({ mcpServers: { bad: badServer("--tool-name", "ping") } }));
  flags = ["--config", config, "--data-dir", join(directory, "data")];
});

afterEach(async () => {
  await runCommand(["stop", ...flags]);
  await until(() => locksIn(join(directory, "data")).length === 0);
  await rm(directory, { recursive: true, force: true });
});

/** The tools that a client of `toolyard stdio` comes to see, once there is one of this name. */
async function toolsWith(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [mainFile, "stdio", ...flags, ...args], env }),
  );
  try {
    return await until(async () => {
      const names = (await client.listTools()).tools.map((tool) => tool.name);
      return names.includes(name) && names;
    });
  } finally {
    await client.close();
  }
}

describe("an option is also a variable", () => {
  test("TOOLYARD_EXPOSURE holds for this client, whatever the running gateway shows others", async () => {
    expect(await toolsWith("discover_mcp_tools", [])).toHaveLength(4);
    expect(await toolsWith("bad-ping", [], { TOOLYARD_EXPOSURE: "flat" })).not.toContain("discover_mcp_tools");
  });

  test("TOOLYARD_IN_PROCESS starts no gateway, and one that is neither true nor false is refused", async () => {
    expect(await runCommand(["stdio", ...flags], { TOOLYARD_IN_PROCESS: "true" })).toMatchObject({ code: 0 });
    expect(existsSync(join(onlyPlace(join(directory, "data")), "background.log"))).toBe(false);
    expect(await runCommand(["stdio", ...flags], { TOOLYARD_IN_PROCESS: "perhaps" })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('TOOLYARD_IN_PROCESS: expected "true" or "false"') as string,
    });
  });

  test("TOOLYARD_PRINCIPAL names whose token it is", async () => {
    const { stderr } = await runCommand(["token", "new"], { TOOLYARD_PRINCIPAL: "alice" });
    expect(stderr).toContain('"principals": { "alice": { "tokenHash"');
  });

  test("what is wrong with a variable is said of the variable", async () => {
    for (const [args, variable] of [
      [["serve", "--port", "0", ...flags], "TOOLYARD_IDLE_EXIT"],
      [["login", "bad", "--principal", " ", ...flags], "--principal"],
    ] as const)
      expect(await runCommand(args, { TOOLYARD_IDLE_EXIT: "zz" })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${variable}: expected`) as string,
      });
  });
});

describe("wrong usage", () => {
  test.each([
    [["token", "new", "extra"], 'what is "extra"? Usage: toolyard token new'],
    [["token", "new", "--principal", ""], "--principal: expected a value that is not empty"],
    [["restart", "bad", "worse"], 'what is "worse"? Usage: toolyard restart'],
    [["status", "bad"], 'what is "bad"? Usage: toolyard status'],
    [["login", "bad", "worse"], 'what is "worse"? Usage: toolyard login'],
    [["serve", "now"], 'what is "now"? Usage: toolyard [serve]'],
    [["serve", "--data-dir", "/proc/x"], "the data directory /proc/x cannot be created"],
  ])("%j ends with code 2", async (args, said) => {
    const { code, stderr, stdout } = await runCommand(args);
    expect(stderr).toContain(said);
    expect([code, stdout]).toEqual([2, ""]);
  });

  test("a data directory is made with its parents, for its owner only", async () => {
    const data = join(directory, "some", "where");
    await runCommand(["stdio", "--in-process", ...flags.slice(0, 2), "--data-dir", data]);
    expect(statSync(data).mode & 0o777).toBe(0o700);
  });
});

describe("toolyard stdio", () => {
  test("--exposure server is the one server, over the bridge as anywhere else", async () => {
    expect(await toolsWith("ping", ["--exposure", "server"])).not.toContain("discover_mcp_tools");
  });

  test("--log-level goes on to the gateway that it starts", async () => {
    await toolsWith("discover_mcp_tools", ["--log-level", "debug"]);
    await until(() =>
      readFileSync(join(onlyPlace(join(directory, "data")), "logs", "gateway.log"), "utf8").includes('"level":"debug"'),
    );
  });

  test("--log-level of one in process may be a variable", async () => {
    const loud = await runCommand(["stdio", "--in-process", ...flags], { TOOLYARD_LOG_LEVEL: "debug" });
    expect(loud.stderr).toContain('"level":"');
    expect((await runCommand(["stdio", "--in-process", ...flags])).stderr).toBe("");
  });
});

test("`help` is another way to ask for the help of a command, or of all", async () => {
  for (const [words, option] of [
    [["help"], ["--help"]],
    [
      ["help", "stop"],
      ["stop", "--help"],
    ],
  ] as const) {
    const [asked, usual] = [await runCommand(words), await runCommand(option)];
    expect(asked).toEqual(usual);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining("Stops the running gateway") as string });
  }
  expect(await runCommand(["help", "stopp"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("stop") as string,
  });
});

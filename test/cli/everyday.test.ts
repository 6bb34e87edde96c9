import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SearchReport } from "../../src/catalog/exposure/discover/search-report.ts";
import { startCommandedGateway, type CommandedGateway } from "../harness/commanded-gateway.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, mainFile, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { toTypedInput } from "../harness/typed-input.ts";
import { until } from "../harness/until.ts";

const reference = {
  command: process.execPath,
  args: [
    fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url)),
    "stdio",
  ],
};

let commanded: CommandedGateway;
let gateway: RunningGateway;
let directory: string;
beforeAll(async () => {
  commanded = await startCommandedGateway({
    mcpServers: {
      bad: { ...badServer(), tools: { deny: ["segv"] } },
      everything: reference,
      off: { ...badServer(), disabled: true },
    },
  });
  ({ gateway, directory } = commanded);
});
afterAll(async () => await commanded[Symbol.asyncDispose]());

const toolyard = async (...args: string[]): Promise<CommandResult> => await commanded.toolyard(...args);

/** The same with something on stdin. */
async function piped(input: string | Buffer, ...args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [mainFile, ...args, ...commanded.place], { stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  toTypedInput(child.stdin).end(input);
  return await new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

function resultOf({ stdout }: CommandResult): { content: unknown[] } {
  return JSON.parse(stdout) as never;
}

describe("toolyard call", () => {
  test("reads words by the tool's schema, and prints the text", async () => {
    expect(await toolyard("call", "everything:get-sum", "a=2", "b=40")).toEqual({
      code: 0,
      stdout: "The sum of 2 and 40 is 42.\n",
      stderr: "",
    });
  });

  test.each(["everything:echo", "everything-echo", "everything__echo", "everything.echo"])(
    "takes the spelling %s",
    async (name) => expect((await toolyard("call", name, "message=hi")).stdout).toBe("Echo: hi\n"),
  );

  test("gives the bytes of a JSON text to the server, from the line and from stdin", async () => {
    const text = '{"n":9007199254740993,"z":-0,"e":1e400,"s":"\\u0041"}';
    for (const result of [
      await toolyard("call", "bad:echo", text, "--json"),
      await piped(text, "call", "bad:echo", "-", "--json"),
      await toolyard("call", "bad:echo", "n=9007199254740993", "z=-0", "e=1e400", 's:="\\u0041"', "--json"),
    ]) {
      expect(result.code).toBe(0);
      expect(result.stdout).toContain(text);
    }
  });

  test("--json is the result as the server wrote it, numbers and unknown members included", async () => {
    const { stdout } = await toolyard("call", "bad:numbers", "--json");
    for (const number of ["9007199254740993", "-0", "1e400"]) expect(stdout).toContain(number);
    expect((await toolyard("call", "bad:unknown-fields", "--json")).stdout).toMatch(/nobody|unknown|x-/i);
  });

  test("describes a picture, and saves it byte for byte", async () => {
    const file = join(directory, "picture.png");
    const described = await toolyard("call", "bad:image");
    expect(described.stdout).toMatch(/^image: image\/png, [\d,]+ bytes; --output FILE saves it$/m);
    const saved = await toolyard("call", "bad:image", "--output", file);
    expect(saved.stderr).toContain(`saved ${file}: image/png`);
    const { content } = resultOf(await toolyard("call", "bad:image", "--json")) as unknown as {
      content: { type: string; data: string }[];
    };
    const data = content.find(({ type }) => type === "image")?.data ?? "";
    expect((await readFile(file)).toString("base64")).toBe(data);
  });

  test("saves text where there is nothing else, and names a file that it cannot write", async () => {
    const file = join(directory, "sum.txt");
    expect(await toolyard("call", "everything:get-sum", "a=1", "b=1", "--output", file)).toMatchObject({ stdout: "" });
    expect(await readFile(file, "utf8")).toBe("The sum of 1 and 1 is 2.");
    const refused = await toolyard("call", "bad:image", "--output", join(directory, "no", "such"));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("cannot be written");
  });

  test("lists resource links in a form that `read` takes", async () => {
    const { stdout } = await toolyard("call", "everything:get-resource-links", "count=1");
    const uri = /toolyard:\/\/\S+/.exec(stdout)?.[0] ?? "";
    expect((await toolyard("read", uri)).code).toBe(0);
  });

  test("a tool that failed: code 1, and its text on stderr", async () => {
    expect(await toolyard("call", "bad:fail", "text=went wrong")).toEqual({
      code: 1,
      stdout: "",
      stderr: "went wrong\n",
    });
  });

  test.each<[args: string[], code: number, said: RegExp]>([
    [["everything:get-summ", "a=1"], 1, /Closest: everything:get-sum/],
    [["everything:get-sum", "a=x", "b=1"], 1, /It takes \{ a: number; b: number \}/],
    [["bad:segv"], 1, /no tool|not allowed/],
    [["off:echo"], 1, /disabled/],
    [["everything:get-sum", "[1]"], 2, /is no argument/],
    [["everything:get-sum", "{"], 2, /no JSON object/],
    [["everything:get-sum", "a=1", "a=2"], 2, /was given already/],
    [["everything:echo", "message=@/no/such/file"], 2, /cannot be read/],
    [["bad:rpc-error", "message=sorry"], 1, /sorry/],
    [[], 2, /which tool/],
  ])("%j ends with code %i and says why", async (args, code, said) => {
    const result = await toolyard("call", ...args);
    expect(result.stderr).toMatch(said);
    expect(result).toMatchObject({ code, stdout: "" });
  });

  test("a question is declined where there is no terminal, and said so", async () => {
    const result = await toolyard("call", "bad:elicit");
    expect(result.stderr).toContain("declined, because this is no terminal");
    expect(result.stdout).toContain("decline");
  });

  test("is recorded as the owner's, and goes through the same rules as a client's", async () => {
    await toolyard("call", "bad:canary");
    const calls = await until(async () => {
      const { json } = await get(`${gateway.url}/api/calls?tool=bad:canary`);
      const rows = json.calls as { via: string; client: string; outcome: string }[];
      return rows.length > 0 ? rows : undefined;
    });
    expect(calls[0]).toMatchObject({ via: "owner", client: "toolyard-cli", outcome: "ok" });
  });

  test("ends the call when it is interrupted", async () => {
    const child = spawn(process.execPath, [mainFile, "call", "bad:hang", ...commanded.place], { stdio: "ignore" });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    await until(async () => (await toolyard("call", "bad:in-flight")).stdout.includes('"inFlight":2'));
    child.kill("SIGINT");
    await exited;
    await until(async () => {
      const { json } = await get(`${gateway.url}/api/calls?tool=bad:hang`);
      return (json.calls as { outcome: string; code: string | null }[]).some(
        ({ outcome, code }) => outcome === "CALL_CANCELLED" || code === "CALL_CANCELLED",
      );
    });
  });
});

describe("toolyard search", () => {
  test("finds what a model would, and explains it", async () => {
    const { stdout, code } = await toolyard("search", "add two numbers", "--explain", "--limit", "2");
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^1 {2}everything:get-sum +0\.\d\d {2}\{ a: number; b: number \}$/);
    expect(stdout).toMatch(/numbers \(.*\) \d+ %/);
    expect(lines.at(-1)).toMatch(/^\d of \d+, \w+ match, [\d.]+ m?s, ~\d+ tokens for a model$/);
    expect((await toolyard("search", "add two numbers", "--limit", "2")).stdout).not.toContain(" %");
  });

  test("prints one object with --json, and looks at one server alone", async () => {
    const { stdout } = await toolyard("search", "picture", "--json", "--server", "bad", "--explain");
    const report = JSON.parse(stdout) as SearchReport;
    expect(report.queries[0]?.tools[0]).toMatchObject({ tool_path: "bad:image", server: "bad" });
    expect(report.queries[0]?.tools.every(({ server }) => server === "bad")).toBe(true);
  });

  test("teaches nothing: neither the search nor the call that follows it", async () => {
    const learned = async (): Promise<number> => {
      const { stdout } = await toolyard("search", "frobnicate canary", "--json", "--explain");
      const { queries } = JSON.parse(stdout) as SearchReport;
      const found = queries[0]?.tools.find(({ tool_path: path }) => path === "bad:canary");
      return found?.explanation?.learned.likeness ?? Number.NaN;
    };
    await learned();
    await toolyard("call", "bad:canary");
    expect(await learned()).toBe(0);
  });

  test("keeps a search as a test, makes it again, fails when it finds its tool lower, and forgets it", async () => {
    expect(await toolyard("search", "--check")).toMatchObject({ code: 0, stdout: "" });
    const kept = await toolyard("search", "add two numbers", "--keep", "everything:get-sum");
    expect(kept).toMatchObject({ code: 0, stdout: "kept: everything:get-sum is number 1\n" });
    // As every command finds a tool: by any spelling.
    const other = await toolyard("search", "say it again", "--keep", "everything-echo", "--json");
    expect(JSON.parse(other.stdout)).toMatchObject({ tool: "everything:echo", toolExists: true });
    const mistyped = await toolyard("search", "add two numbers", "--keep", "everything:get-sun");
    expect(mistyped).toMatchObject({ code: 1, stdout: "" });
    expect(mistyped.stderr).toContain("everything has no tool");
    expect(mistyped.stderr).toContain("Closest: everything:get-sum");
    // The same that REST and the dashboard show.
    const { json } = await get(`${gateway.url}/api/searches`);
    expect(json.searches).toHaveLength(2);
    const checked = await toolyard("search", "--check");
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(checked.stdout).toMatch(/^OUTCOME +THEN +NOW +ID +TOOL +SEARCH$/m);
    expect(checked.stdout).toMatch(/^as before +1 +1 +\S+ +everything:get-sum +add two numbers$/m);
    const { id } = JSON.parse(other.stdout) as { readonly id: string };
    expect(await toolyard("search", "--forget", id)).toMatchObject({ code: 0, stdout: "removed\n" });
    expect(await toolyard("search", "--forget", id)).toMatchObject({ code: 1, stdout: "" });
    const lines = await toolyard("search", "--check", "--json");
    expect(lines.code).toBe(0);
    expect(JSON.parse(lines.stdout)).toMatchObject({ rank: 1, rankNow: 1, toolExists: true });
  });

  test.each([[["--keep", "a:b"]], [["x", "--check"]], [["--check", "--forget", "x"]]])(
    "%j is wrong usage",
    async (args) => {
      expect(await toolyard("search", ...args)).toMatchObject({ code: 2, stdout: "" });
    },
  );

  test.each([[[]], [["x", "--limit", "0"]], [["x", "--limit", "many"]]])("%j is wrong usage", async (args) => {
    expect(await toolyard("search", ...args)).toMatchObject({ code: 2, stdout: "" });
  });

  test("says so when nothing fits, and when a server is not known", async () => {
    expect((await toolyard("search", "xqzzywv")).stderr).toContain("nothing fits");
    const unknown = await toolyard("search", "x", "--server", "evrything");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("Closest: everything");
  });
});

describe("lists", () => {
  test("toolyard tools: a table, one server's, those with some words, or lines of JSON", async () => {
    const table = (await toolyard("tools", "everything")).stdout.trimEnd().split("\n");
    expect(table[0]).toMatch(/^TOOL +EFFECT +TOKENS +STATUS +DESCRIPTION$/);
    expect(table.slice(1).every((line) => line.startsWith("everything:"))).toBe(true);
    const all = (await toolyard("tools", "--json")).stdout.trimEnd().split("\n");
    const paths = all.map((line) => (JSON.parse(line) as { tool_path: string }).tool_path);
    expect(paths).toContain("bad:echo");
    expect(paths).not.toContain("bad:segv");
    expect((await toolyard("tools", "--match", "sum numbers")).stdout).toMatch(/^everything:get-sum +read/m);
    expect(await toolyard("tools", "--match", "xqzzy")).toEqual({
      code: 0,
      stdout: "",
      stderr: "there is no such tool\n",
    });
    expect((await toolyard("tools", "off")).stderr).toContain("not listed: off (off");
  });

  test("toolyard show: what a tool takes, says of itself, costs, and how it is used", async () => {
    await toolyard("call", "everything:get-sum", "a=1", "b=2");
    const { stdout } = await toolyard("show", "everything-get-sum");
    expect(stdout).toMatch(/^everything:get-sum/);
    for (const line of [
      /^takes +\{ a: number; b: number \}$/m,
      /^says +reads only/m,
      /^tokens +~\d+ /m,
      /^server +everything is (online|asleep)$/m,
      /^use +[\d,]+ calls? in 24 h/m,
      /^people say +add two numbers$/m,
    ])
      expect(stdout).toMatch(line);
    const shown = JSON.parse((await toolyard("show", "get-sum", "--json")).stdout) as {
      definition: { name: string; inputSchema: object };
    };
    expect(shown.definition).toMatchObject({ name: "get-sum", inputSchema: { type: "object" } });
  });

  test("toolyard resources and read: every URI that is listed can be read", async () => {
    const { stdout } = await toolyard("resources", "everything", "--json");
    const [first] = stdout.split("\n");
    const { uri } = JSON.parse(first ?? "") as { uri: string };
    expect(uri).toMatch(/^everything\|/);
    const read = await toolyard("read", uri);
    expect(read.code).toBe(0);
    expect(read.stdout.length).toBeGreaterThan(100);
    const json = JSON.parse((await toolyard("read", uri, "--json")).stdout) as { contents: { text: string }[] };
    expect(read.stdout.trimEnd()).toBe(json.contents[0]?.text.trimEnd());
    const missing = await toolyard("read", "everything|demo://no/such");
    expect(missing).toMatchObject({ code: 1, stdout: "" });
  });

  test("toolyard prompts: names as clients see them, with their arguments", async () => {
    const { stdout } = await toolyard("prompts", "everything");
    expect(stdout).toMatch(/^PROMPT +SERVER +ARGUMENTS +DESCRIPTION$/m);
    expect(stdout).toMatch(/^everything-args-prompt +everything +city, state\?/m);
  });
});

test("without a gateway one is started in the background, said once, and shared by the next command", async () => {
  const own = await mkdtemp(join(tmpdir(), "toolyard-started-"));
  const config = join(own, "toolyard.json");
  await writeFile(config, JSON.stringify({ mcpServers: { bad: badServer() } }));
  const where = ["--config", config, "--data-dir", join(own, "data")];
  try {
    const first = await runCommand(["call", "echo", "text=hi", ...where], { TOOLYARD_IDLE_EXIT: "60" });
    expect(first).toMatchObject({ code: 0 });
    expect(first.stderr.match(/started a gateway in the background/g)).toHaveLength(1);
    expect(first.stdout).toContain("hi");
    expect(await runCommand(["tools", "--match", "sound", ...where])).toMatchObject({ code: 0, stderr: "" });
  } finally {
    await runCommand(["stop", ...where]);
    await until(async () => (await runCommand(["status", ...where])).code === 1);
    await rm(own, { recursive: true, force: true });
  }
});

test("with neither a gateway nor a configuration it says what to do", async () => {
  const own = await mkdtemp(join(tmpdir(), "toolyard-nothing-"));
  try {
    const child = spawn(process.execPath, [mainFile, "tools", "--data-dir", join(own, "data")], {
      cwd: own,
      env: { ...process.env, HOME: own, XDG_CONFIG_HOME: own },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
    expect(stderr).toContain("there is no configuration to start one with");
  } finally {
    await rm(own, { recursive: true, force: true });
  }
});

import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { get } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { onlyPlace } from "../harness/places.ts";
import { addressOn, runOnTerminal, type TerminalCommand } from "../harness/terminal.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-terminal-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const place = () => ["--config", join(directory, "toolyard.json"), "--data-dir", join(directory, "data")];

async function serve(servers: object, ...args: string[]): Promise<TerminalCommand> {
  return await serveIn(120, servers, args);
}

async function serveIn(columns: number, servers: object, args: readonly string[] = []): Promise<TerminalCommand> {
  await writeFile(join(directory, "toolyard.json"), JSON.stringify({ mcpServers: servers }));
  return runOnTerminal({ args: ["serve", "--port", "0", ...place(), ...args], columns });
}

/** Starts the server if it must, so that it is up afterwards. */
async function callPid(url: string): Promise<void> {
  await rpc(`${url}/mcp`, "tools/call", { name: "bad:pid", arguments: {} });
}

const broken = { command: "no-such-command-anywhere" };
/** Below the place of the one gateway that runs with this data directory. */
const logFile = () => join(onlyPlace(join(directory, "data")), "logs", "gateway.log");

describe("on a terminal", () => {
  test("the last screen has the servers, what they cost, the address, one way to connect and things to ask", async () => {
    await using terminal = await serve({ bad: badServer(), broken });
    const url = await addressOn(terminal);
    await until(() => terminal.text().includes("Connect"));
    const text = terminal.text();
    expect(text).toMatch(/^ {2}SERVER +STATUS +TOOLS +TOKENS$/m);
    expect(text).toMatch(/^ {2}bad +online +\d+ +[\d,]+$/m);
    expect(text).toMatch(/^ {2}broken +cannot start +- +- +.*no-such-command-anywhere/m);
    expect(text).toMatch(/2 servers, \d+ tools\. A model reads \d+ tokens of definitions, instead of [\d,]+ for/);
    expect(text).toContain(`  Address   ${url}/mcp\n`);
    expect(text).toContain(`claude mcp add --transport http toolyard ${url}/mcp\n`);
    expect(text).toContain(`  Log       ${logFile()}\n`);
  });

  test("in 80 columns sentences are broken between words, and what is to be copied has a line of its own", async () => {
    await using terminal = await serveIn(80, { bad: badServer(), broken });
    await until(() => terminal.text().includes("Connect"));
    const lines = terminal.text().split("\n");
    const link = lines.find((line) => line.includes("/ui/#code=")) ?? "";
    expect(link).toMatch(/^ {4}http:\S+$/);
    expect(link.length).toBeLessThanOrEqual(80);
    const tooLong = lines.filter((line) => line.length > 80);
    // Nothing but one word, which the terminal itself goes on with in the next line.
    for (const line of tooLong) expect(line).toMatch(/^ {4}(\S+|claude mcp add .*)$/);
  });

  test("tokens are the same number at the start, in the command and in REST", async () => {
    await using terminal = await serve({ bad: badServer() });
    const url = await addressOn(terminal);
    const started = await until(() => /A model reads (\d+) tokens of definitions/.exec(terminal.text())?.[1]);
    const { stdout } = await runCommand(["tokens", ...place()]);
    expect(/here: the list of \/mcp \(meta\) +(\S+)/.exec(stdout)?.[1]).toBe(started);
    const report = (await get(`${url}/api/usage/tokens`)).json as { readonly here: { readonly tokens: number } };
    expect(String(report.here.tokens)).toBe(started);
  });

  test("the last screen says of what is off whether somebody switched it off, or its entry is wrong", async () => {
    await using terminal = await serve({
      bad: badServer(),
      resting: { ...badServer(), disabled: true },
      wrong: { command: process.execPath, env: { KEY: "${NOBODY_HAS_SET_THIS}" } },
    });
    await until(() => terminal.text().includes("Connect"));
    expect(terminal.text()).toMatch(/^ {2}resting +off +- +-/m);
    expect(terminal.text()).toMatch(/^ {2}wrong +wrong entry +- +- +.*NOBODY_HAS_SET_THIS/m);
  });

  test("where a proxy stands in front, the last screen shows the address that clients use", async () => {
    await using terminal = await serve({ bad: badServer() }, "--public-url", "https://tools.example.com/yard/");
    await until(() => terminal.text().includes("Connect"));
    expect(terminal.text()).toContain("  Address   https://tools.example.com/yard/mcp\n");
    expect(terminal.text()).toContain("claude mcp add --transport http toolyard https://tools.example.com/yard/mcp\n");
  });

  test("there are no JSON lines; the whole log stands in a file that only its owner can read", async () => {
    await using terminal = await serve({ bad: badServer(), broken });
    await until(() => terminal.text().includes("Connect"));
    expect(terminal.text()).not.toContain('{"level"');
    const lines = readFileSync(logFile(), "utf8").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object).length).toBeGreaterThan(0);
    expect(statSync(logFile()).mode & 0o777).toBe(0o600);
  });

  test("warnings are plain lines", async () => {
    const config = join(directory, "toolyard.json");
    await writeFile(config, '{ "mcpServers": {}, "toolyard": { "limits": { "nothingReadsThis": 1 } } }');
    await using terminal = runOnTerminal({
      args: ["serve", "--config", config, "--port", "0", "--data-dir", join(directory, "data")],
    });
    await until(() => /^\d\d:\d\d:\d\d warning: .*nothingReadsThis/m.test(terminal.text()));
  });

  test("without servers it says how to add one", async () => {
    await using terminal = await serve({});
    await until(() => terminal.text().includes(`There are no servers in ${join(directory, "toolyard.json")}`));
  });

  test("--log-format says what stands on stderr, and then there is no file", async () => {
    await using json = await serve({ bad: badServer() }, "--log-format", "json");
    await until(() => json.text().includes('{"level":"info"'));
    await json.interrupt();
    await using pretty = await serve({ bad: badServer() }, "--log-format", "pretty");
    await callPid(await addressOn(pretty));
    await until(() => /^\d\d:\d\d:\d\d bad: \w+ -> connecting/m.test(pretty.text()));
    expect(existsSync(logFile())).toBe(false);
  });

  test("--verbose shows each call as it ends", async () => {
    await using terminal = await serve({ bad: badServer() }, "--verbose");
    const url = await addressOn(terminal);
    await callPid(url);
    await until(() => /^\d\d:\d\d:\d\d bad:pid {2}ok {2}\d+ ms$/m.test(terminal.text()));
  });

  test("Ctrl-C ends it with code 0 and without a word about the configuration", async () => {
    const terminal = await serve({ bad: badServer() });
    await until(() => terminal.text().includes("Connect"));
    expect(await terminal.interrupt()).toBe(0);
    expect(terminal.text()).not.toMatch(/removed from the configuration|warning|error/);
  });
});

describe("not on a terminal", () => {
  test("stderr holds JSON lines only, and stdout the line that says where it listens", async () => {
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer(), broken } },
      args: ["--verbose"],
    });
    await callPid(gateway.url);
    await until(() => gateway.stderr().includes('"component":"calls"'));
    for (const line of gateway.stderr().trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(gateway.stdout()).toBe(`listening on ${gateway.url}\n`);
  });

  test("--log-format file leaves stderr alone: all of the log is in the file", async () => {
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer() } },
      directory,
      args: ["--log-format", "file"],
    });
    await callPid(gateway.url);
    await until(() => readFileSync(logFile(), "utf8").includes('"server":"bad"'));
    expect(gateway.stderr()).toBe("");
    expect(gateway.stdout()).toBe(`listening on ${gateway.url}\n`);
  });

  test("an unknown --log-format is wrong usage", async () => {
    await expect(startGateway({ config: {}, args: ["--log-format", "xml"] })).rejects.toThrow(
      /--log-format: expected json, pretty or file/,
    );
  });
});

describe("GET /", () => {
  test("is text for programs: what this is, where things are, and that it works", async () => {
    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer(), broken } } });
    await callPid(gateway.url);
    const { status, headers, text } = await send(`${gateway.url}/`, { method: "GET" });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(text).toMatch(
      /^Toolyard \d+\.\d+\.\d+, an MCP gateway\. It works: 1 of 2 servers can be used, with \d+ tools\. A model reads about \d+ tokens of definitions, instead of [\d,]+ for all tools\.$/m,
    );
    for (const known of [
      `claude mcp add --transport http toolyard ${gateway.url}/mcp`,
      JSON.stringify({ mcpServers: { toolyard: { type: "http", url: `${gateway.url}/mcp` } } }),
      JSON.stringify({ servers: { toolyard: { type: "http", url: `${gateway.url}/mcp` } } }),
    ])
      expect(text).toContain(known);
  });

  test("leads browsers to the dashboard, and says in words to all others what there is", async () => {
    await using gateway = await startGateway({ config: { mcpServers: {} } });
    const page = await send(`${gateway.url}/`, { method: "GET", headers: { Accept: "text/html" } });
    expect([page.status, page.headers["location"]]).toEqual([302, `${gateway.url}/ui/`]);
    const { text } = await send(`${gateway.url}/`, { method: "GET" });
    expect(text).toContain("It works, and no server is configured yet.");
    expect(text).toContain("`toolyard open`");
  });

  test("tells nobody about servers where people have to authenticate", async () => {
    const tokenHash = `sha256:${"0".repeat(64)}`;
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer() }, toolyard: { auth: { tokenHashes: [tokenHash] } } },
    });
    const { text } = await send(`${gateway.url}/`, { method: "GET" });
    expect(text).toContain("It works. Clients need a token.");
    expect(text).not.toMatch(/bad|\d+ tools/);
    expect(text).toContain("Authorization: Bearer <token>");
  });
});

import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallJson, LogJson } from "../../src/records/calls/record-json.ts";
import type { GatewayStatus } from "../../src/records/gateway-status.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { startCommandedGateway, type CommandedGateway } from "../harness/commanded-gateway.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post, run, untilOnline } from "../harness/rest.ts";
import { modernRpc } from "../harness/rpc.ts";
import { openDrawnTerminal } from "../harness/drawn-terminal.ts";
import { runOnTerminal } from "../harness/terminal.ts";
import { until } from "../harness/until.ts";

let commanded: CommandedGateway;
let gateway: RunningGateway;
beforeAll(async () => {
  commanded = await startCommandedGateway({
    mcpServers: { one: badServer(), two: badServer(), mine: { ...badServer(), scope: "client" } },
  });
  ({ gateway } = commanded);
});
afterAll(async () => await commanded[Symbol.asyncDispose]());

const toolyard = async (...args: string[]): Promise<CommandResult> => await commanded.toolyard(...args);

function jsonLines<Row>({ stdout }: Pick<CommandResult, "stdout">): Row[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

/** A command that goes on, without a terminal; what it printed so far. */
const follow = (...args: string[]) => started(...args, ...commanded.place);

function started(...args: string[]) {
  const child = spawn(process.execPath, [mainFile, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    stdout: () => stdout,
    exited,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

describe("toolyard calls", () => {
  test("lists the newest, the oldest of them first, with filters, as a table or as JSON", async () => {
    await run(gateway.url, "one:echo", { n: 1 });
    await run(gateway.url, "two:fail", { text: "no" });
    await run(gateway.url, "one:fail", { text: "no" });
    const table = (await toolyard("calls")).stdout.trimEnd().split("\n");
    expect(table[0]).toMatch(/^TIME +CALL +WHO +RESULT +TOOK +WAITED +TOKENS IN +OUT$/);
    expect(table.slice(-3).map((line) => line.split(/ {2,}/).slice(1, 4))).toEqual([
      ["one:echo", "local", "ok"],
      ["two:fail", "local", "tool failed"],
      ["one:fail", "local", "tool failed"],
    ]);
    const namesOf = async (...args: string[]): Promise<string[]> =>
      jsonLines<CallJson>(await toolyard("calls", "--json", ...args)).map(({ name }) => name);
    expect(await namesOf("--failed")).toEqual(["two:fail", "one:fail"]);
    expect(await namesOf("--failed", "--limit", "1")).toEqual(["one:fail"]);
    expect(await namesOf("--server", "two")).toEqual(["two:fail"]);
    expect(await namesOf("--tool", "one:echo")).toEqual(["one:echo"]);
    const none = await toolyard("calls", "--tool", "one:none");
    expect(none).toEqual({ code: 0, stdout: "", stderr: "there is no such call\n" });
  });

  test("a limit that is no number is wrong usage", async () => {
    const { code, stderr } = await toolyard("calls", "--limit", "many");
    expect([code, stderr]).toEqual([2, expect.stringContaining('--limit: "many" is no whole number')]);
  });

  test("-f goes on with every call that comes, in order, and ends with the command", async () => {
    await using following = follow("calls", "-f", "--json", "--server", "two", "--limit", "0");
    const bodies = Array.from({ length: 120 }, (_, n) => n);
    // Until it looks, none of these may be missed either: those that it finds first are the newest.
    await until(async () => {
      await run(gateway.url, "two:echo", { first: true });
      return following.stdout() !== "";
    });
    const before = jsonLines<CallJson>({ stdout: following.stdout() }).length;
    for (const n of bodies) await run(gateway.url, n % 3 === 0 ? "one:echo" : "two:echo", { n });
    await run(gateway.url, "two:fail", { text: "the last one" });
    const rows = await until(() => {
      const found = jsonLines<CallJson>({ stdout: following.stdout() });
      return found.at(-1)?.name === "two:fail" && found;
    });
    expect(rows.length - before).toBeGreaterThanOrEqual(81);
    expect(rows.every(({ server }) => server === "two")).toBe(true);
    const ids = rows.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    const kept = jsonLines<CallJson>(await toolyard("calls", "--json", "--server", "two", "--limit", "1000"));
    const first = kept.findIndex(({ id }) => id === rows[0]?.id);
    expect(rows.map(({ id }) => id)).toEqual(kept.slice(first).map(({ id }) => id));
  });
});

test("-f shows a call that was refused at once, although no server was reached and nothing comes after it", async () => {
  await using following = follow("calls", "-f", "--json", "--limit", "0");
  await until(async () => {
    await run(gateway.url, "one:echo", { n: 1 });
    return following.stdout() !== "";
  });
  await run(gateway.url, "nowhere:refused");
  await until(() => following.stdout().includes("nowhere:refused"));
});

test("on a terminal, what -f prints has headings, and what is long moves nothing that comes after it", async () => {
  await using terminal = runOnTerminal({ args: ["calls", "-f", "--limit", "0", ...commanded.place] });
  await until(async () => {
    await run(gateway.url, "one:echo", { n: 1 });
    await run(gateway.url, "one:strict", { count: "no number" });
    return /ARGUMENTS_INVALID.*\n[^]*one:echo[^]*\n/.test(terminal.text());
  });
  const lines = terminal
    .text()
    .split(/\r?\n/)
    .filter((line) => /^(TIME|\d\d:\d\d)/.test(line));
  expect(lines[0]).toMatch(/^TIME +CALL +WHO +RESULT +TOOK +WAITED {2}TOKENS IN +OUT$/);
  const [end] = new Set(lines.map((line) => line.length));
  expect(lines.slice(0, -1).map((line) => line.length)).toEqual(lines.slice(1).map(() => end));
});

test("how long a call waited for its server is in a column of its own", async () => {
  await using fresh = await startGateway({ config: { mcpServers: { late: badServer() } } });
  await untilOnline(fresh.url);
  const place = ["--config", fresh.configFile, "--data-dir", join(fresh.directory, "data")];
  await until(async () => {
    const restarted = post(`${fresh.url}/api/instances/late/restart`);
    await run(fresh.url, "late:echo", { n: 1 });
    await restarted;
    const { stdout } = await runCommand(["calls", "--limit", "1", ...place]);
    const [headings = [], cells = []] = stdout.split("\n").map((line) => line.split(/ {2,}/));
    const shown = ["TOOK", "WAITED"].map((heading) => cells[headings.indexOf(heading)] ?? "");
    return shown.every((cell) => /^[\d.]+ m?s$/.test(cell));
  });
});

describe("toolyard logs", () => {
  test("shows what servers wrote, of one or of all, from a level on", async () => {
    await run(gateway.url, "one:stderr", { text: "INFO: begins\u001b[2J" });
    await run(gateway.url, "two:stderr", { text: "ERROR: breaks" });
    const all = (await toolyard("logs")).stdout.trimEnd().split("\n");
    expect(all[0]).toMatch(/^TIME +SERVER +LEVEL +LINE$/);
    expect(all.slice(1).map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      ["one", "info", "INFO: begins [2J"],
      ["two", "error", "ERROR: breaks"],
    ]);
    expect(jsonLines<LogJson>(await toolyard("logs", "one", "--json")).map(({ line }) => line)).toHaveLength(1);
    expect(jsonLines<LogJson>(await toolyard("logs", "--level", "error", "--json"))).toMatchObject([{ server: "two" }]);
    const said = 'there is no line of "nobody": `toolyard status` lists the servers\n';
    expect(await toolyard("logs", "nobody")).toMatchObject({ code: 0, stdout: "", stderr: said });
    const wrong = await toolyard("logs", "--level", "loud");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("debug, info, warning, error")]);
  });

  test("-f goes on with the lines that come, of the server that is named", async () => {
    await using following = follow("logs", "two", "-f", "--limit", "0");
    await until(async () => {
      await run(gateway.url, "two:stderr", { text: "WARN: is anybody there" });
      return following.stdout().includes("is anybody there");
    });
    await run(gateway.url, "one:stderr", { text: "not of this one" });
    await run(gateway.url, "two:stderr", { text: "WARN: the last line" });
    await until(() => following.stdout().includes("the last line"));
    expect(following.stdout()).not.toContain("not of this one");
    expect(following.stdout()).toMatch(/^\d\d:\d\d:\d\d {2}two +warning {2}WARN: is anybody there$/m);
  });
});

describe("toolyard status", () => {
  test("has everything about each server as JSON", async () => {
    const [status, ...others] = jsonLines<GatewayStatus>(await toolyard("status", "--json"));
    expect(others).toEqual([]);
    expect(status).toMatchObject({
      pid: gateway.process.pid,
      configFile: gateway.configFile,
      addresses: [gateway.url],
      store: { status: "ready" },
    });
    const one = status?.servers.find(({ server }) => server === "one");
    expect(one).toMatchObject({ status: "online", word: "online", next: null, era: "legacy", transport: "stdio" });
    expect(one?.memoryBytes).toBeGreaterThan(10_000_000);
    expect(() => process.kill(one?.pid ?? 0, 0)).not.toThrow();
  });

  test("shortens the long ids of clients' instances", async () => {
    await modernRpc(`${gateway.url}/mcp/flat`, "tools/call", { name: "mine-echo", arguments: {} });
    const { stdout } = await toolyard("status");
    expect(stdout).toMatch(/^ {2}mine +\S/m);
    expect(stdout).toMatch(/^ {2}mine@[0-9a-f]{6} +\S/m);
    const [status] = jsonLines<GatewayStatus>(await toolyard("status", "--json"));
    expect(status?.servers.some(({ instance }) => /^mine.*@[0-9a-f]{12}$/.test(instance))).toBe(true);
  });

  test("--watch draws over what it drew on a terminal, with what to do about each server", async () => {
    await using terminal = runOnTerminal({ args: ["status", "--watch", ...commanded.place] });
    /** What was drawn last: drawing again begins with going back and clearing what was below. */
    const screen = (): string => terminal.text().split("\r\u001b[J").at(-1) ?? "";
    await until(() => /^ {2}two +online /m.test(screen()));
    await post(`${gateway.url}/api/instances/two/stop`);
    await until(() => /^ {2}two +stopped .* toolyard restart two  # stopped by hand$/m.test(screen()));
    expect(screen().match(/^gateway /gm)).toHaveLength(1);
    expect((await toolyard("restart", "two")).code).toBe(0);
    await until(() => /^ {2}two +online /m.test(screen()));
    expect(await terminal.interrupt()).not.toBe(0);
  });

  test.each([
    ["a terminal with colours", {}, true],
    ["NO_COLOR", { NO_COLOR: "1" }, false],
    ["a terminal without colours", { TERM: "dumb" }, false],
  ] as const)("states have colours: %s", async (_where, env, hasColours) => {
    const surroundings = { HOME: gateway.directory, PATH: process.env["PATH"] ?? "", ...env };
    const args = ["status", ...commanded.place];
    await using terminal = await openDrawnTerminal({ args, env: surroundings, cwd: gateway.directory });
    expect(await terminal.exited).toBe(0);
    await terminal.sees("SERVER");
    expect(terminal.raw().includes("\u001b[")).toBe(hasColours);
    expect((await toolyard("status")).stdout).not.toContain("\u001b");
  });

  test("--watch is a line for each change elsewhere, and ends with the gateway", async () => {
    await using other = await startGateway({ config: { mcpServers: { bad: badServer() } } });
    await untilOnline(other.url);
    const flags = ["--config", other.configFile, "--data-dir", join(other.directory, "data")];
    await using watching = started("status", "--watch", ...flags);
    await using json = started("status", "--watch", "--json", ...flags);
    await until(() => watching.stdout().includes("bad") && json.stdout().includes("bad"));
    await post(`${other.url}/api/instances/bad/stop`);
    const word = (): string | undefined => jsonLines<GatewayStatus>({ stdout: json.stdout() }).at(-1)?.servers[0]?.word;
    await until(() => watching.stdout().includes("stopped") && word() === "stopped");
    await other.stop();
    expect(await watching.exited).toBe(1);
    expect(await json.exited).toBe(1);
    const lines = watching.stdout().trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ""))).toEqual([
      expect.stringMatching(/^bad +online$/),
      expect.stringMatching(/^bad +stopped {2}toolyard restart bad$/),
    ]);
  });
});

test("without records, calls and logs say what to set", async () => {
  await using off = await startGateway({
    config: { mcpServers: { bad: badServer() }, toolyard: { records: { store: "off" } } },
  });
  const flags = ["--config", off.configFile, "--data-dir", join(off.directory, "data")];
  for (const command of [["calls"], ["calls", "-f"], ["logs"]]) {
    const { code, stderr } = await runCommand([...command, ...flags]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/records\.store is off[^]*"sqlite"/)]);
  }
  expect(await runCommand(["status", ...flags])).toMatchObject({ code: 0 });
});

import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDrawnTerminal, keys, type DrawnTerminal, type DrawnTerminalOptions } from "../harness/drawn-terminal.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { onlyPlace } from "../harness/places.ts";
import { get } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-live-"));
  await mkdir(join(home, "work"));
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

async function open(config: object, options: Partial<DrawnTerminalOptions> = {}): Promise<DrawnTerminal> {
  await writeFile(join(home, "work", "toolyard.json"), JSON.stringify(config));
  return await openDrawnTerminal({
    args: ["--port", "0", "--config", "toolyard.json", "--data-dir", join(home, "data")],
    cwd: join(home, "work"),
    env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    ...options,
  });
}

async function addressOf(terminal: DrawnTerminal): Promise<string> {
  await terminal.sees(/listening on \S+/);
  return /listening on (\S+)/.exec(terminal.all())?.[1] ?? "";
}

/** Waits until the screen as it is now has this. */
async function shows(terminal: DrawnTerminal, what: RegExp): Promise<void> {
  await until(() => what.test(terminal.screen().join("\n"))).catch(() => {
    throw new Error(`${String(what)} is not on the screen:\n${terminal.screen().join("\n")}`);
  });
}

async function call(url: string, name: string, args: object = {}): Promise<void> {
  await rpc(`${url}/mcp`, "tools/call", { name, arguments: args });
}

describe("toolyard on a terminal with a configuration", () => {
  test("shows servers, calls that go on, the last ones with their failures, what is saved, and how to stop", async () => {
    const broken = { command: "no-such-command-anywhere" };
    await using terminal = await open({ mcpServers: { bad: badServer(), broken } });
    const url = await addressOf(terminal);
    await shows(terminal, /^ {2}bad +online +\d+/m);
    await shows(terminal, /^ {2}broken +cannot start .* toolyard logs broken$/m);
    await call(url, "bad:pid");
    await shows(terminal, /^ {3}\d\d:\d\d:\d\d +bad:pid +ok +\d+ ms/m);
    await call(url, "bad:fail");
    await shows(terminal, /^! +\d\d:\d\d:\d\d +bad:fail +tool failed +\d+ ms/m);
    const never = call(url, "bad:hang").catch(() => undefined);
    await shows(terminal, /^> +\d\d:\d\d:\d\d +bad:hang +goes on +/m);
    await shows(terminal, /2 servers, \d+ tools {3}\d+ calls in 24 h, 1 failed, 1 now/);
    await rpc(`${url}/mcp`, "tools/list", {});
    await shows(terminal, /Saved today: (about )?[\d,]+ tokens in 1 conversation \(a model reads (about )?\d+ here/);
    await shows(terminal, new RegExp(`^${url}/mcp `, "m"));
    terminal.type(keys.ctrlC);
    expect(await terminal.exited).toBe(0);
    await never;
  });

  test("the log goes to its file, not through the view", async () => {
    await using terminal = await open({ mcpServers: {}, toolyard: { limits: { nothingReadsThis: 1 } } });
    // Without servers it is guided; with none chosen, the view comes.
    await terminal.sees("Which servers should it start with?");
    terminal.type(keys.up);
    terminal.type(keys.enter);
    await shows(terminal, /Ctrl-C stops it {3}log: /);
    const file = join(onlyPlace(join(home, "data")), "logs", "gateway.log");
    await until(() => existsSync(file) && readFileSync(file, "utf8").includes("nothingReadsThis"));
    expect(terminal.all()).not.toContain("nothingReadsThis");
  });

  test("a narrow window shows less, a resized one is drawn anew, and nothing is left of what stood there", async () => {
    await using terminal = await open({ mcpServers: { bad: badServer() } }, { columns: 130, rows: 30 });
    await shows(terminal, /^ {2}SERVER +STATUS +TOOLS +CALLS +FAILED +P95 +NEXT$/m);
    terminal.resize(40, 15);
    await shows(terminal, /^ {2}SERVER +STATUS +TOOLS +CALLS +NEXT$/m);
    await until(() => terminal.screen().filter((line) => line.startsWith("Toolyard ")).length === 1);
    expect(Math.max(...terminal.screen().map((line) => line.length))).toBeLessThan(40);
    terminal.resize(130, 30);
    await shows(terminal, /^ {2}SERVER +STATUS +TOOLS +CALLS +FAILED +P95 +NEXT$/m);
    await until(() => terminal.screen().filter((line) => line.startsWith("Toolyard ")).length === 1);
  });

  test("in 80 columns no command, no name and no path of a call is cut", async () => {
    const long = "a-server-with-quite-a-long-name-of-its-own-and-no-other";
    const works = "another-server-with-quite-a-long-name-that-works";
    const mcpServers = { [long]: { command: "no-such-command-anywhere" }, [works]: badServer() };
    await using terminal = await open({ mcpServers }, { columns: 80, rows: 24 });
    const url = await addressOf(terminal);
    await shows(terminal, new RegExp(`^ {4}toolyard logs ${long}$`, "m"));
    await shows(terminal, /^ {2}another-server\S+ +online/m);
    await call(url, `${works}:fail`);
    await shows(terminal, /^! .*tool failed/m);
    for (const line of terminal.screen()) {
      expect(line.length, line).toBeLessThan(80);
      expect(line).not.toContain("…");
    }
    expect(terminal.screen().length).toBeLessThanOrEqual(24);
    const text = terminal.screen().join("").replaceAll(/\s/g, "");
    expect(text).toContain(long);
    expect(text.replaceAll(/toolfailed\d+ms/g, "")).toContain(`${works}:fail`);
  });

  test("very many servers are folded, and what needs somebody comes before the others", async () => {
    const entries = Array.from({ length: 300 }, (_, at) => [`off-${at}`, { command: "node", enabled: false }] as const);
    const mcpServers = { ...Object.fromEntries(entries), zz: { command: "no-such-command-anywhere" } };
    await using terminal = await open({ mcpServers }, { rows: 20 });
    await shows(terminal, /^ {2}zz +cannot start/m);
    await shows(terminal, /^ {2}and \d+ more: \d+ off/m);
    expect(terminal.screen().length).toBeLessThanOrEqual(20);
    await shows(terminal, /^Ctrl-C stops it/m);
  });

  test("NO_COLOR takes the colours away, and nothing else", async () => {
    const env = { HOME: home, PATH: process.env["PATH"] ?? "" };
    const config = { mcpServers: { bad: badServer() } };
    await using plain = await open(config, { env: { ...env, NO_COLOR: "1" } });
    await shows(plain, /^ {2}bad +online/m);
    // oxlint-disable-next-line no-control-regex -- what sets a colour or makes text bold
    expect(plain.raw()).not.toMatch(/\u001b\[\d+m/);
    plain.type(keys.ctrlC);
    await plain.exited;
    await using coloured = await open(config, { env });
    await shows(coloured, /^ {2}bad +(online|asleep)/m);
    expect(coloured.raw()).toContain("\u001b[1m");
  });

  test("it is drawn four times a second at most, however many calls there are", async () => {
    await using terminal = await open({ mcpServers: { bad: badServer() } });
    const url = await addressOf(terminal);
    await shows(terminal, /^ {2}bad +online/m);
    const startedMs = Date.now();
    const before = terminal.raw().length;
    for (let round = 0; round < 20; round += 1)
      await Promise.all(Array.from({ length: 10 }, async () => await call(url, "bad:pid")));
    await shows(terminal, /200 calls in 24 h/);
    const seconds = (Date.now() - startedMs) / 1_000;
    // What takes the lines before away.
    const drawn = terminal.raw().slice(before).split("\u001b[J").slice(1);
    expect(drawn.length).toBeGreaterThan(0);
    expect(drawn.length).toBeLessThanOrEqual(Math.ceil(seconds * 4) + 1);
  });

  test("what asks for lines gets lines: --verbose", async () => {
    await using terminal = await open(
      { mcpServers: { bad: badServer() } },
      { args: ["--port", "0", "--config", "toolyard.json", "--data-dir", join(home, "data"), "--verbose"] },
    );
    const url = await addressOf(terminal);
    await call(url, "bad:pid");
    await terminal.sees(/^\d\d:\d\d:\d\d bad:pid {2}ok {2}\d+ ms$/m);
    expect(terminal.all()).not.toContain("Ctrl-C stops it");
  });
});

describe("toolyard on a terminal beside a gateway that runs", () => {
  /** Without `--config`, what is found in an empty folder is nothing. */
  const beside = async (gateway: RunningGateway, ...args: string[]): Promise<DrawnTerminal> =>
    await openDrawnTerminal({
      args: [...args, "--data-dir", join(gateway.directory, "data")],
      cwd: join(home, "work"),
      env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    });

  test("shows that one, with its calls, and Ctrl-C leaves it as it is", async () => {
    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
    await call(gateway.url, "bad:pid");
    await using terminal = await beside(gateway, "--config", gateway.configFile);
    await shows(terminal, /^ {2}bad +online +\d+/m);
    await shows(terminal, /bad:pid +ok +\d+ ms/);
    await shows(terminal, new RegExp(`the gateway of process ${String(gateway.process.pid)}: Ctrl-C leaves this view`));
    await call(gateway.url, "bad:fail");
    await shows(terminal, /^! +\d\d:\d\d:\d\d +bad:fail +tool failed +\d+ ms/m);
    const never = call(gateway.url, "bad:hang").catch(() => undefined);
    await shows(terminal, /^> +\d\d:\d\d:\d\d +bad:hang +goes on +/m);
    terminal.type(keys.ctrlC);
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen().join("\n")).toContain(`The gateway goes on at ${gateway.url}.`);
    expect((await get(`${gateway.url}/api/status`)).status).toBe(200);
    await gateway.stop();
    await never;
  });

  test("one whose records cannot be read is shown all the same, and says so", async () => {
    const preload = pathToFileURL(join(import.meta.dirname, "../harness/worker-fault.mjs")).href;
    const env = { NODE_OPTIONS: `--import ${preload}` };
    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } }, env });
    await call(gateway.url, "bad:pid");
    // The wait for the next thread grows with each death, so that there is time to look.
    await until(async () => {
      gateway.process.kill("SIGUSR2");
      return (await get(`${gateway.url}/readyz`)).json["records"] === "degraded";
    });
    await using terminal = await beside(gateway);
    await until(() => {
      gateway.process.kill("SIGUSR2");
      return /^ {2}records: the thread that has the database is gone/m.test(terminal.screen().join("\n"));
    });
    await shows(terminal, /^ {2}bad +online/m);
    expect(terminal.all()).not.toContain("The gateway has ended.");
    terminal.type(keys.ctrlC);
    expect(await terminal.exited).toBe(0);
  });

  test("also without a configuration of its own, and says when the gateway has ended", async () => {
    await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
    await using terminal = await beside(gateway);
    await shows(terminal, /^ {2}bad +/m);
    await gateway.stop();
    await terminal.sees("The gateway has ended.");
    expect(await terminal.exited).toBe(0);
  });
});

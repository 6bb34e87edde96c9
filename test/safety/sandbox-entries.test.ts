import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { keys, openDrawnTerminal } from "../harness/drawn-terminal.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { insideServer, makeHome, openInside } from "./inside.ts";
import { loosened, marks, sandboxes, serversOf, unmarked } from "./loosened.ts";

let directory: string;
let home: string;
let config: string;
let started: string;
beforeEach(async () => {
  directory = await makeHome();
  home = join(directory, "home");
  config = join(directory, "toolyard.json");
  started = join(directory, "started");
  // Below the home: of a folder for temporary files nothing is preselected.
  symlinkSync(insideServer, join(home, "server.mjs"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

function writeClient(mode = "auto"): void {
  mkdirSync(join(home, ".cursor"));
  writeFileSync(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: serversOf(home) }));
  writeFileSync(config, JSON.stringify({ mcpServers: {}, toolyard: { sandbox: { mode } } }));
}

const env = () => ({ HOME: home, XDG_CONFIG_HOME: join(home, ".config"), XDG_DATA_HOME: join(home, ".local/share") });
const run = async (...words: string[]) =>
  await runCommand([...words, "--config", config, "--data-dir", join(directory, "data")], env());
const written = (): Record<string, { sandbox?: unknown }> => JSON.parse(readFileSync(config, "utf8")).mcpServers;

describe("45 an imported entry that loosens its sandbox is shown as such, and is never preselected:", () => {
  test("by the command, for people and programs; what it says of its sandbox is taken over as it is", async () => {
    writeClient();
    const { servers } = JSON.parse((await run("import", "--dry-run", "--json")).stdout) as {
      servers: { name: string; marks: string[]; preselected: boolean; notes: string[] }[];
    };
    const facts = servers.map(({ name, marks, preselected }) => [name, marks, preselected]);
    const expected = Object.entries(sandboxes).map(([name, [, mark]]) => [
      name,
      mark === undefined ? [] : [mark],
      mark === undefined,
    ]);
    expect(facts).toEqual(expected);
    expect(servers.find(({ name }) => name === "root")?.notes).toEqual(['its sandbox: {"read":["/"]}']);
    const shown = await run("import", "--dry-run");
    for (const [name, [, mark]] of loosened) expect(shown.stdout, name).toContain(`! ${mark}`);
    expect(shown.stdout).toContain(`Left out because of what it runs: ${loosened.map(([name]) => name).join(", ")}`);
    expect((await run("import", "--yes")).code).toBe(0);
    expect(Object.keys(written())).toEqual(unmarked);
    expect(written()["tight"]?.sandbox).toEqual(sandboxes["tight"]?.[0]);
    expect((await run("import", "--yes", "--only", "root", "--only", "off")).code).toBe(0);
    expect([written()["root"]?.sandbox, written()["off"]?.sandbox]).toEqual([{ read: ["/"] }, false]);
  });

  test("`false` says nothing where servers run without a sandbox anyway", async () => {
    writeClient("off");
    const { servers } = JSON.parse((await run("import", "--dry-run", "--json")).stdout) as {
      servers: { name: string; preselected: boolean }[];
    };
    expect(servers.find(({ name }) => name === "off")?.preselected).toBe(true);
    expect(servers.find(({ name }) => name === "machine")?.preselected).toBe(false);
  });

  test("in the guide of the terminal", async () => {
    writeClient();
    const args = ["--config", config, "--data-dir", join(directory, "data")];
    await using terminal = await openDrawnTerminal({
      args: ["import", ...args],
      cwd: directory,
      env: { ...env(), PATH: process.env["PATH"] ?? "" },
    });
    await terminal.sees("Which of them?");
    terminal.type(keys.enter);
    await terminal.sees("Write this to");
    for (const mark of Object.values(marks)) expect(terminal.raw()).toContain(mark);
    terminal.type(keys.enter);
    expect(await terminal.exited).toBe(0);
    expect(Object.keys(written())).toEqual(unmarked);
  });

  test("of a found file of a cloned folder, before a person allows it", async () => {
    const clone = join(directory, "clone");
    mkdirSync(clone);
    // A variable hides nothing: what counts is what would be started.
    const hidden = { command: "node", args: ["x"], sandbox: { network: "${SOMEWHERE:-host}" } };
    writeFileSync(
      join(clone, "toolyard.json"),
      JSON.stringify({ mcpServers: { ...serversOf(home, ["root", "tight"]), hidden } }),
    );
    const { stderr } = await runCommand(["trust", clone], env());
    const lines = stderr.split("\n").map((line) => line.trim());
    const after = (name: string) => lines[lines.findIndex((line) => line.startsWith(`${name}: node`)) + 1];
    expect(after("root")).toBe(`! ${marks.reads}`);
    expect(after("hidden")).toBe(`! ${marks.reaches}`);
    expect(after("tight")).toBe("hidden: node x");
  });
});

describe("45 an entry that is added by hand or over REST, and loosens its sandbox, waits for a yes:", () => {
  /** Marks that it was started. */
  const entry = (sandbox: unknown) => ({
    command: process.execPath,
    args: [
      "-e",
      `try { require("fs").writeFileSync(${JSON.stringify(started)}, "") } catch {} import(process.argv[1])`,
      insideServer,
    ],
    sandbox,
  });

  test("by `servers add`: nothing is started or written without it", async () => {
    writeFileSync(config, JSON.stringify({ mcpServers: {} }));
    const file = join(directory, "entry.json");
    writeFileSync(file, JSON.stringify(entry({ network: "host" })));
    const refused = await run("servers", "add", "wide", "--entry", file);
    expect(refused.stderr).toContain(`wide: ${marks.reaches}`);
    expect(refused.stderr).toContain("Nothing was started or written. --force adds it all the same.");
    expect([refused.code, existsSync(started), Object.keys(written())]).toEqual([1, false, []]);
    expect((await run("servers", "add", "wide", "--entry", file, "--force")).code).toBe(0);
    expect(written()["wide"]?.sandbox).toEqual({ network: "host" });
  });

  test("over REST: the answer says what it is, and it takes another request that agrees", async () => {
    await using gateway = await start();
    const add = async (body: object) =>
      JSON.parse((await askOwner(join(directory, "data"), "POST", "/api/servers", body)).text);
    for (const [sandbox, mark] of [
      [false, marks.without],
      [{ read: ["/"] }, marks.reads],
      [{ network: "host" }, marks.reaches],
    ] as const) {
      const answer = await add({ name: "wide", entry: entry(sandbox) });
      expect(answer).toMatchObject({ ok: false, facts: [{ asks: "loosened", marks: [mark] }] });
      expect(answer.text).toContain(`wide: ${mark}`);
    }
    expect([existsSync(started), Object.keys(written())]).toEqual([false, []]);
    const agreed = await add({ name: "wide", entry: entry({ network: "host" }), loosened: true });
    expect(agreed.ok, agreed.text).toBe(true);
    expect(written()["wide"]?.sandbox).toEqual({ network: "host" });
    expect(gateway.stderr()).not.toContain("Error");
  });
});

async function start(): Promise<RunningGateway> {
  const toolyard = { sandbox: { mode: "auto" } };
  return await startGateway({ config: { mcpServers: {}, toolyard }, directory, env: env() });
}

test("41 a link in a folder of a project names neither keys nor anything wider than it is itself", async () => {
  for (const [name, target] of [
    ["keys", join(home, ".ssh")],
    ["key", join(home, ".ssh/id_rsa")],
    ["all", home],
    ["everything", "/"],
  ] as const)
    symlinkSync(target, join(directory, name));
  const read = ["keys", "key", "all", "everything"].map((name) => join(directory, name));
  await using inside = await openInside({ sandbox: { network: [], read }, directory });
  for (const path of ["keys/id_rsa", "key", "all/notes.txt", "everything/etc/hostname"]) {
    const found = await inside.run(`return fs.readFileSync(${JSON.stringify(join(directory, path))}, "utf8")`);
    expect(found === "" || String(found).startsWith("failed: ENO"), `${path}: ${String(found)}`).toBe(true);
  }
});

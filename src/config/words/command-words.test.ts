import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toCommandWords } from "./command-words.ts";
import type { Config } from "../config.ts";
import { loadConfig } from "../load.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard words "));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function load(entry: object, env: Record<string, string> = {}): Promise<Config> {
  const file = join(folder, "toolyard.json");
  await writeFile(file, JSON.stringify({ mcpServers: { a: entry } }));
  const homeDirectories = { config: folder, data: folder };
  return await loadConfig({ file, cwd: "/", env, flags: {}, homeDirectories, cores: 1 });
}

async function program(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, "#!/bin/sh\n", { mode: 0o755 });
  return path;
}

test.each([
  ["npx -y pkg", undefined, "npx", ["-y", "pkg"]],
  [" npx  -y\tpkg ", ["--more", "x"], "npx", ["-y", "pkg", "--more", "x"]],
  [`uvx "a b" 'c "d"' e\\ f "g\\"h" i'j'"k" ''`, [], "uvx", ["a b", 'c "d"', "e f", 'g"h', "ijk", ""]],
  ["npx -y $HOME `id` $(id) *.js ; x", undefined, "npx", ["-y", "$HOME", "`id`", "$(id)", "*.js", ";", "x"]],
  ["npx --header Authorization:${AUTH} ${NONE:-a b}", undefined, "npx", ["--header", "Authorization:Bearer x", "a b"]],
  [["npx", "-y", 3], ["z"], "npx", ["-y", "3", "z"]],
])("a command line in `command` is taken apart: %j", async (command, args, expected, words) => {
  const { servers, warnings } = await load({
    command,
    ...(args === undefined ? {} : { args }),
    env: { AUTH: "Bearer x" },
  });
  expect(servers[0]).toMatchObject({ disabledReason: undefined, transport: { command: expected, args: words } });
  expect(warnings).toEqual(
    Array.isArray(command) ? [] : [expect.stringMatching(/mcpServers\.a\.command: is a whole command line/)],
  );
});

test("opencode's `environment` comes along with its list", async () => {
  const entry = { type: "local", command: ["npx", "pkg", "${A}"], environment: { A: 1 } };
  expect((await load(entry)).servers[0]?.transport).toMatchObject({ args: ["pkg", "1"], env: { A: "1" } });
});

test("a program whose name has spaces is started as it is: by its path, from the file, and in PATH", async () => {
  const path = await program("my tools/run it");
  for (const [command, env] of [
    [path, {}],
    ["my tools/run it", {}],
    ["${DIR}/my tools/run it", { DIR: folder }],
    ["run it", { PATH: `/none:${folder}/my tools` }],
  ] as const) {
    const { servers, warnings } = await load({ command }, env);
    expect([servers[0]?.transport, warnings]).toMatchObject([{ args: [] }, []]);
  }
  const own = await load({ command: "run it", env: { PATH: `${folder}/my tools:\${PATH}` } }, { PATH: "/none" });
  expect(own.servers[0]?.transport).toMatchObject({ command: "run it", args: [] });
  expect((await load({ command: "run it" }, { PATH: "/none" })).servers[0]?.transport).toMatchObject({ args: ["it"] });
});

test("a path stays whole where its first word is no program, and is split where it is one", async () => {
  const path = await program("bin/run");
  const shortened = path.replace(`${folder}/`, "./");
  expect((await load({ command: `${shortened} --flag` })).servers[0]?.transport).toMatchObject({
    command: path,
    args: ["--flag"],
  });
  expect((await load({ command: `"${path}" --flag` })).servers[0]?.transport).toMatchObject({
    command: path,
    args: ["--flag"],
  });
  for (const command of ["/gone app/run", "./gone app/run", "npx 'open"])
    expect((await load({ command })).servers[0]?.transport).toMatchObject({ args: [] });
});

test("the paths of Windows keep their backslashes", () => {
  const there = ["C:\\Program Files\\nodejs\\npx.cmd", "C:\\tools\\run.exe"];
  const split = (command: string) =>
    toCommandWords({ command }, { isProgram: (path) => there.includes(path), platform: "win32" })?.entry;
  expect(split("C:\\Program Files\\nodejs\\npx.cmd")).toBeUndefined();
  expect(split("C:\\Program Files\\gone\\npx.cmd")).toBeUndefined();
  expect(split('"C:\\Program Files\\nodejs\\npx.cmd" -y pkg')).toEqual({ command: there[0], args: ["-y", "pkg"] });
  expect(split('C:\\tools\\run.exe "C:\\a b" c\\d')).toEqual({ command: there[1], args: ["C:\\a b", "c\\d"] });
});

test("what is wrong beside a command line disables the server alone", async () => {
  const { servers } = await load({ command: "npx pkg", args: "x" });
  expect(servers[0]?.disabledReason).toContain("mcpServers.a.args: expected an array, found a string");
  expect((await load({ command: [["x"]] })).servers[0]?.disabledReason).toContain("mcpServers.a.command: expected");
});

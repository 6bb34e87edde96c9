import { chmod, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config } from "../config.ts";
import { loadConfig } from "../load.ts";
import { decidingPaths, watchConfig } from "./watch.ts";
import { untilPasses } from "../../../test/harness/until-passes.ts";

let directory: string;
let file: string;
let stop: AbortController;
let applied: Config[];
let refused: string[];
let mended: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-watch-"));
  file = join(directory, "toolyard.json");
  stop = new AbortController();
  applied = [];
  refused = [];
  mended = 0;
});
afterEach(async () => {
  stop.abort();
  await rm(directory, { recursive: true, force: true });
});

const textOf = (...args: string[]) =>
  JSON.stringify({ mcpServers: { a: { command: "x", args }, b: { command: "y" } } });
const argsOf = (config: Config | undefined) =>
  config?.servers[0]?.transport.kind === "stdio" ? config.servers[0].transport.args : undefined;
const load = () =>
  loadConfig({
    file,
    cwd: directory,
    env: {},
    flags: {},
    homeDirectories: { config: directory, data: directory },
  });

async function start(): Promise<Config> {
  const current = await load();
  await watchConfig({
    file,
    current,
    load,
    signal: stop.signal,
    onApplied: (config) => void applied.push(config),
    onRefused: (error) => void refused.push(error.message),
    onMended: () => void (mended += 1),
  });
  return current;
}

const until = (condition: () => void) => untilPasses(condition);
const untilInForce = (...args: string[]) => until(() => expect(argsOf(applied.at(-1))).toEqual(args));

test("a changed file is applied, and the difference names only what changed", async () => {
  await writeFile(file, textOf("1"));
  const before = await start();
  await writeFile(file, textOf("2"));
  await untilInForce("2");
  const after = applied.at(-1)!;
  expect(after.servers.map(({ slug }) => slug)).toEqual(before.servers.map(({ slug }) => slug));
  expect({ settings: after.settings, people: after.people }).toEqual({
    settings: before.settings,
    people: before.people,
  });
  // The hash decides whether a server is restarted.
  expect(after.servers.map(({ hash }, index) => hash === before.servers[index]?.hash)).toEqual([false, true]);
  expect(after.servers[1]).toEqual(before.servers[1]);
  expect(refused).toEqual([]);
});

test("FAULT 87: a broken file is refused once with line and column, the old one stays, a mended one is applied", async () => {
  await writeFile(file, textOf("1"));
  await start();
  await writeFile(file, '{\n  "mcpServers": {');
  await until(() => expect(refused).toEqual([`${file}:2:18: expected \`}\`; the file ends or goes wrong here`]));
  await writeFile(file, "");
  await until(() => expect(refused.at(-1)).toContain("the file is empty"));
  expect(applied).toEqual([]);
  await writeFile(file, textOf("2"));
  await untilInForce("2");
  expect(mended).toBe(1);
});

test("a file that says again what it said before it was broken is mended, and nothing is applied", async () => {
  await writeFile(file, textOf("1"));
  await start();
  await writeFile(file, "{");
  await until(() => expect(refused).toHaveLength(1));
  expect(mended).toBe(0);
  await writeFile(file, textOf("1"));
  await until(() => expect(mended).toBe(1));
  expect(applied).toEqual([]);
});

test("a file rewritten with the same meaning is no change", async () => {
  await writeFile(file, textOf("1"));
  await start();
  await writeFile(file, ` ${textOf("1")}\n// the same\n`);
  await writeFile(join(directory, "other.json"), "{");
  await writeFile(file, textOf("2"));
  await untilInForce("2");
  expect(applied).toHaveLength(1);
  expect(refused).toEqual([]);
});

const withEnvFile = (envFile: string) => JSON.stringify({ mcpServers: { a: { command: "x", envFile } } });
const envOf = (config: Config | undefined) =>
  config?.servers[0]?.transport.kind === "stdio" ? config.servers[0].transport.env : undefined;

test("a file that an envFile names is watched as well: changed, taken away, replaced, and no longer named", async () => {
  const first = join(directory, "first.env");
  await writeFile(first, "A=1");
  await writeFile(file, withEnvFile("first.env"));
  await start();
  await writeFile(first, "A=2");
  await until(() => expect(envOf(applied.at(-1))).toEqual({ A: "2" }));
  await unlink(first);
  await until(() => expect(applied.at(-1)?.servers[0]?.disabledReason).toContain("first.env: no such file"));
  await writeFile(join(directory, "new"), "A=3");
  await rename(join(directory, "new"), first);
  await until(() => expect(envOf(applied.at(-1))).toEqual({ A: "3" }));
  await mkdir(join(directory, "sub"));
  await writeFile(join(directory, "sub", "second.env"), "A=4");
  await writeFile(file, withEnvFile("sub/second.env"));
  await until(() => expect(envOf(applied.at(-1))).toEqual({ A: "4" }));
  await writeFile(join(directory, "sub", "second.env"), "A=5");
  await until(() => expect(envOf(applied.at(-1))).toEqual({ A: "5" }));
  expect(refused).toEqual([]);
});

test("an envFile in a folder that does not exist yet is found when it does", async () => {
  await writeFile(file, withEnvFile("later/my.env"));
  const before = await start();
  expect(before.servers[0]?.disabledReason).toContain("later/my.env: no such file");
  await mkdir(join(directory, "later"));
  await writeFile(join(directory, "later", "my.env"), "A=1");
  await until(() => expect(envOf(applied.at(-1))).toEqual({ A: "1" }));
});

test("FAULT 90: renamed over, as editors do, again and again", async () => {
  await writeFile(file, textOf("0"));
  await start();
  for (const step of ["1", "2", "3"]) {
    await writeFile(join(directory, ".toolyard.json.swp"), textOf(step));
    await rename(join(directory, ".toolyard.json.swp"), file);
    await untilInForce(step);
  }
});

test("FAULT 90: moved away as a backup and written anew", async () => {
  await writeFile(file, textOf("0"));
  await start();
  for (const step of ["1", "2"]) {
    await rename(file, `${file}~`);
    await writeFile(file, textOf(step));
    await untilInForce(step);
  }
});

test("FAULT 90: deleted, and created later", async () => {
  await writeFile(file, textOf("0"));
  await start();
  await unlink(file);
  await until(() => expect(refused).toEqual([`${file}: no such file`]));
  await writeFile(file, textOf("1"));
  await untilInForce("1");
});

test("FAULT 90: the directory deleted and made again", async () => {
  const parent = join(directory, "conf");
  await mkdir(parent);
  file = join(parent, "toolyard.json");
  await writeFile(file, textOf("0"));
  await start();
  await rm(parent, { recursive: true });
  await until(() => expect(refused).toEqual([`${file}: no such file`]));
  await mkdir(parent);
  await writeFile(file, textOf("1"));
  await untilInForce("1");
  await writeFile(file, textOf("2"));
  await untilInForce("2");
});

test("FAULT 90: a link to the file swapped, and then the file behind it written", async () => {
  await mkdir(join(directory, "v1"));
  await mkdir(join(directory, "v2"));
  await writeFile(join(directory, "v1", "c.json"), textOf("1"));
  await writeFile(join(directory, "v2", "c.json"), textOf("2"));
  await symlink(join("v1", "c.json"), file);
  await start();
  await symlink(join("v2", "c.json"), `${file}.new`);
  await rename(`${file}.new`, file);
  await untilInForce("2");
  await writeFile(join(directory, "v2", "c.json"), textOf("3"));
  await untilInForce("3");
});

test("FAULT 90: a link to the directory swapped, as Kubernetes does", async () => {
  for (const version of ["1", "2"]) {
    await mkdir(join(directory, `..${version}`));
    await writeFile(join(directory, `..${version}`, "toolyard.json"), textOf(version));
  }
  await symlink("..1", join(directory, "..data"));
  await symlink(join("..data", "toolyard.json"), file);
  await start();
  await symlink("..2", join(directory, "..new"));
  await rename(join(directory, "..new"), join(directory, "..data"));
  await untilInForce("2");
});

test("FAULT 90: rights taken away (chmod 000), changed meanwhile, and given back", async () => {
  await writeFile(file, textOf("0"));
  await start();
  await chmod(file, 0o000);
  await writeFile(join(directory, "next"), textOf("1"), { mode: 0o000 });
  await rename(join(directory, "next"), file);
  // Root can read the file all the same. For everybody else the old configuration stays in force.
  if (process.getuid?.() !== 0) {
    await until(() => expect(refused.at(-1)).toContain("may not be read"));
    expect(applied).toEqual([]);
  }
  await chmod(file, 0o600);
  await untilInForce("1");
});

test("FAULT 89: after a thousand rewrites, some of them broken, the last one is in force", async () => {
  await writeFile(file, textOf("start"));
  await start();
  for (let step = 0; step < 1_000; step += 1) {
    await writeFile(file, step % 10 === 5 ? '{ "mcpServers": ' : textOf(String(step)));
  }
  await writeFile(file, textOf("last"));
  await untilInForce("last");
  expect(applied.length).toBeLessThan(100);
});

test("a change that comes while another is being applied waits for it", async () => {
  await writeFile(file, textOf("0"));
  const current = await load();
  const gate: { open?: () => void } = {};
  const log: string[] = [];
  await watchConfig({
    file,
    current,
    load,
    signal: stop.signal,
    onRefused: () => undefined,
    onMended: () => undefined,
    onApplied: async (config) => {
      log.push(`begin ${String(argsOf(config))}`);
      if (!gate.open) await new Promise<void>((resolve) => Object.assign(gate, { open: resolve }));
      log.push(`end ${String(argsOf(config))}`);
    },
  });
  await writeFile(file, textOf("1"));
  await until(() => expect(log).toEqual(["begin 1"]));
  await writeFile(file, textOf("2"));
  // A second watcher, which is not held up, shows when the change has been noticed.
  await start();
  await writeFile(file, textOf("3"));
  await untilInForce("3");
  expect(log).toEqual(["begin 1"]);
  gate.open?.();
  await until(() => expect(log).toEqual(["begin 1", "end 1", "begin 3", "end 3"]));
});

test("after the abort nothing is applied any more", async () => {
  await writeFile(file, textOf("0"));
  await start();
  stop.abort();
  const before = applied.length;
  stop = new AbortController();
  const later: Config[] = [];
  await watchConfig({
    file,
    current: await load(),
    load,
    signal: stop.signal,
    onApplied: (config) => void later.push(config),
    onRefused: () => undefined,
    onMended: () => undefined,
  });
  await writeFile(file, textOf("1"));
  await until(() => expect(argsOf(later.at(-1))).toEqual(["1"]));
  expect(applied).toHaveLength(before);
});

test("the paths that decide are the real file and every link on the way, also in a circle", async () => {
  await mkdir(join(directory, "real"));
  await symlink("real", join(directory, "link"));
  await symlink("loop", join(directory, "loop"));
  expect(await decidingPaths(join(directory, "link", "c.json"))).toEqual([
    join(directory, "link"),
    join(directory, "real", "c.json"),
  ]);
  expect((await decidingPaths(join(directory, "loop"))).at(-1)).toBe(join(directory, "loop"));
});

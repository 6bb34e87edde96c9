import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { brokenFolderIn, folderWithoutProgram, moveAside } from "./broken-folder.ts";
import { findNpxFolders, type NpxFolders, npxFolderName, npxFormOf } from "./npx-form.ts";

const hash = "0123456789abcdef";
const other = "fedcba9876543210";
const folders: NpxFolders = { names: ["/home/a/.npm/_npx"] };
const inFolder = `/home/a/.npm/_npx/${hash}/node_modules`;

test.each([
  ["a file of the package", [`Error: Cannot find module '${inFolder}/x/dist/index.js'`]],
  [
    "a dependency, by who requires it",
    ["Error: Cannot find module 'zod'", "Require stack:", `- ${inFolder}/x/index.js`],
  ],
  ["a dependency of an ES module", [`Error: Cannot find package 'zod' imported from ${inFolder}/x/index.js`]],
  [
    "what npm stumbles over",
    [
      "npm error code ENOTEMPTY",
      "npm error syscall rename",
      `npm error path ${inFolder}/x`,
      `npm error dest ${inFolder}/.x-1`,
    ],
  ],
])("a folder is known to be broken by %s", (_what, lines) => {
  expect(brokenFolderIn(["starting", ...lines], folders)).toBe(hash);
});

test.each([
  ["a plugin of the user's", ["Error: Cannot find module '/home/a/plugin.js'", "Require stack:", `- ${inFolder}/x.js`]],
  ["a file that it reads", [`Error: ENOENT: no such file or directory, open '${inFolder}/x/memory.json'`]],
  ["another cache", [`Error: Cannot find module '/tmp/.npm/_npx/${hash}/node_modules/x.js'`]],
  ["a folder that is none of npx's", ["Error: Cannot find module '/home/a/.npm/_npx/../../secret/x.js'"]],
  ["a name that only begins like one", [`Error: Cannot find module '/home/a/.npm/_npx/${hash}.broken-1/x.js'`]],
  ["npm without a path", ["npm error code E404", `npm error 404 ${inFolder}`]],
])("a server that misses %s has no broken folder", (_what, lines) => {
  expect(brokenFolderIn(lines, folders)).toBeUndefined();
});

let cache: string;
let npx: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "toolyard-cache-"));
  npx = join(cache, "_npx");
  await mkdir(join(npx, hash), { recursive: true });
  await mkdir(join(npx, other));
});
afterEach(async () => await rm(cache, { recursive: true, force: true }));

const found = async (): Promise<NpxFolders> =>
  (await findNpxFolders({ npm_config_cache: cache, HOME: "/nowhere" })) as NpxFolders;

test("only the named folder is moved, beside where it was", async () => {
  const aside = await moveAside(await found(), hash, Date.UTC(2026, 0, 2));
  expect(aside).toBe(join(npx, `${hash}.broken-2026-01-02T00-00-00-000Z`));
  expect((await readdir(npx)).toSorted()).toEqual([`${hash}.broken-2026-01-02T00-00-00-000Z`, other]);
});

test("a link is not followed and not moved, neither as the folder nor as the cache's", async () => {
  await rm(join(npx, hash), { recursive: true });
  await symlink(join(npx, other), join(npx, hash));
  expect(await moveAside(await found(), hash, 0)).toBeUndefined();
  const elsewhere = await mkdtemp(join(tmpdir(), "toolyard-cache-"));
  await symlink(npx, join(elsewhere, "_npx"));
  expect(await findNpxFolders({ npm_config_cache: elsewhere })).toBeUndefined();
  await rm(elsewhere, { recursive: true });
});

test("a folder that somebody installs into is left alone; one whose lock was left behind is not", async () => {
  const lock = join(npx, hash, "concurrency.lock");
  await mkdir(lock);
  expect(await moveAside(await found(), hash, Date.now())).toBeUndefined();
  await utimes(lock, new Date(0), new Date(0));
  expect(await moveAside(await found(), hash, Date.now())).toBeDefined();
});

test("a program that the shell does not find counts only where the form's own folder lacks it", async () => {
  const form = npxFormOf({ kind: "stdio", command: "npx", args: ["-y", "x-server@1"], env: {}, cwd: "/" });
  if (form === undefined) throw new Error("expected a form");
  const { names } = await found();
  const lines = ["sh: 1: x-server: not found"];
  expect(await folderWithoutProgram(lines, form, names)).toBeUndefined();
  const own = npxFolderName("x-server@1");
  const bin = join(npx, own, "node_modules", ".bin");
  await mkdir(bin, { recursive: true });
  expect(await folderWithoutProgram(lines, form, names)).toBe(own);
  await writeFile(join(bin, "x-server"), "", { mode: 0o755 });
  expect(await folderWithoutProgram(lines, form, names)).toBeUndefined();
});

test.each([
  [["-y", "@a/b@^1.2", "--flag", "x"], { specification: "@a/b@^1.2", args: ["--flag", "x"] }],
  [["--yes", "b"], { specification: "b", args: [] }],
  [["b@latest", "-y"], { specification: "b@latest", args: ["-y"] }],
])("npx %j is a form that is understood", (args, form) => {
  expect(npxFormOf({ kind: "stdio", command: "/usr/bin/npx", args, env: {}, cwd: "/" })).toEqual(form);
});

test.each([
  [["-p", "a", "b"]],
  [["-y", "--package=a", "b"]],
  [["-y", "-y", "b"]],
  [["."]],
  [["./b"]],
  [["a/b"]],
  [["github:a/b"]],
  [["a@file:../b"]],
  [["https://a.example/b.tgz"]],
  [[]],
])("npx %j is left to npx", (args) => {
  expect(npxFormOf({ kind: "stdio", command: "npx", args, env: {}, cwd: "/" })).toBeUndefined();
});

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { insideServer, makeHome } from "./inside.ts";

let directory: string;
let config: string;
beforeEach(async () => {
  directory = await makeHome();
  config = join(directory, "toolyard.json");
  const inside = { command: process.execPath, args: [insideServer, join(directory, "home")], sandbox: { network: [] } };
  const plain = { command: process.execPath, args: [insideServer] };
  writeFileSync(config, JSON.stringify({ mcpServers: { inside, plain } }));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const options = ["--config", config, "--data-dir", join(directory, "data")];
  const end = words.indexOf("--");
  const all = end === -1 ? [...words, ...options] : [...words.slice(0, end), ...options, ...words.slice(end)];
  return await runCommand(all, { HOME: join(directory, "home"), ...env });
}

/** A PATH without bubblewrap. */
function withoutBubblewrap(): string {
  const folder = join(directory, "bin");
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, "node"));
  return folder;
}

test("`sandbox explain` says what a server would see, and what this machine lacks", async () => {
  const shown = await run(["sandbox", "explain", "inside"]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain("inside runs in a sandbox (bubblewrap");
  expect(shown.stdout).toContain("It has no network.");
  expect(shown.stdout).toContain(join(directory, "home"));
  expect(shown.stdout).toContain(join(directory, "home/.ssh"));
  const lacking = await run(["sandbox", "explain", "plain"], { PATH: withoutBubblewrap() });
  expect(lacking.code).toBe(1);
  expect(lacking.stdout).toContain("plain runs without a sandbox.");
  expect(lacking.stdout).toContain("bubblewrap is not installed");
});

test("`sandbox try` starts a server in one, whatever its entry says", async () => {
  const tried = await run(["sandbox", "try", "plain"]);
  expect(tried.stdout).toContain("plain: it answers as inside 1, 1 tool");
  expect(tried.code).toBe(0);
});

test("the doctor says whether servers can run in sandboxes", async () => {
  expect((await run(["doctor"])).stdout).toContain("servers can run in sandboxes (bubblewrap");
  const { stdout, code } = await run(["doctor"], { PATH: withoutBubblewrap() });
  expect(stdout).toContain("servers cannot run in sandboxes: bubblewrap is not installed");
  expect(code).toBe(1);
});

test("`servers add --sandbox` tries a new server in one, and keeps it there", async () => {
  const added = await run(["servers", "add", "third", "--sandbox", "--", process.execPath, insideServer]);
  expect(added.code).toBe(0);
  expect(JSON.parse(readFileSync(config, "utf8")).mcpServers.third).toMatchObject({ sandbox: true });
});

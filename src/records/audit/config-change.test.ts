import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config } from "../../config/config.ts";
import { loadConfig } from "../../config/load.ts";
import { compareConfigs } from "./config-change.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-change-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function read(text: object): Promise<Config> {
  const file = join(directory, "toolyard.json");
  await writeFile(file, JSON.stringify(text));
  const homes = { config: directory, data: directory, home: directory };
  return await loadConfig({ file, cwd: directory, env: {}, flags: {}, homeDirectories: homes as never });
}
const server = (...args: string[]) => ({ command: "node", args });
const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
const none = { added: [], removed: [], changed: [] };

test("a change is told by names, never by values", async () => {
  const before = await read({ mcpServers: { a: server(), b: server("old-secret"), c: server() } });
  const next = await read({
    mcpServers: { b: server("new-secret"), c: server(), d: server() },
    toolyard: { logLevel: "debug" },
  });
  const change = compareConfigs(before, next);
  expect(change).toEqual({
    servers: { added: ["d"], removed: ["a"], changed: ["b"] },
    settings: ["logLevel"],
    rights: undefined,
  });
  expect(JSON.stringify(change)).not.toContain("secret");
});

test("who gained and who lost rights is told apart from the rest", async () => {
  const person = (digit: string, role = "member") => ({ tokenHash: hash(digit), roles: [role] });
  const before = await read({
    toolyard: {
      auth: { tokenHashes: [hash("1")] },
      principals: { ann: person("a"), bob: person("b"), eve: person("e") },
    },
  });
  const next = await read({
    toolyard: {
      auth: { tokenHashes: [hash("2")] },
      principals: { ann: person("a", "admin"), bob: person("b"), cay: person("c") },
    },
  });
  expect(compareConfigs(before, next).rights).toEqual({
    principals: { added: ["cay"], removed: ["eve"], changed: ["ann"] },
    teams: none,
    tokens: { added: ["2".repeat(12)], removed: ["1".repeat(12)], changed: [] },
  });
  expect(compareConfigs(next, next)).toEqual({ servers: none, settings: [], rights: undefined });
});

test("of very many names it is told how many they are", async () => {
  const servers = Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`s${at}`, server()]));
  const { added } = compareConfigs(undefined, await read({ mcpServers: servers })).servers;
  expect(added).toHaveLength(101);
  expect(added.at(-1)).toBe("and 30 more");
});

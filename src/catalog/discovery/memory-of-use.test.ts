import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { createLanguage } from "../search/language.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { createLearnedFile } from "../../store/files/learned-file.ts";
import { sampleCatalog } from "../../../test/sample-catalog.ts";
import { createLexicalEngine } from "./lexical.ts";
import { createUseMemory, type UseMemory } from "./memory-of-use.ts";

const language = createLanguage();
const parts = sampleCatalog();
const tools = parts.flatMap((part) => part.tools);
const alice = "alice" as PrincipalId;
const bob = "bob" as PrincipalId;
const never = new AbortController().signal;
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-learned-"));
});
afterEach(() => rm(folder, { recursive: true }));

function tool(name: string): ToolEntry {
  return tools.find((entry) => entry.definition.name === name) as ToolEntry;
}

/** Slack is everyone's own, the rest is shared. */
function remember(
  options: { readonly store?: ReturnType<typeof createLearnedFile>; readonly now?: () => number } = {},
): Promise<UseMemory> {
  const store = options.store ?? { load: async () => undefined, save: () => undefined };
  return createUseMemory({
    language,
    store,
    clock: { now: options.now ?? (() => 1_000) },
    isShared: (entry) => entry.server !== "slack",
  });
}

test("a call of an offered tool teaches the words of that search", async () => {
  const memory = await remember();
  memory.offered(alice, "morning standup update", [tool("list_issues"), tool("create_issue")]);
  expect(memory.stemsOf(alice, tool("create_issue"))).toBeUndefined();
  memory.executed(alice, tool("create_issue"));
  expect(memory.stemsOf(alice, tool("create_issue"))).toContain(language.stem("standup"));
  expect(memory.stemsOf(alice, tool("list_issues"))).toBeUndefined();
});

test("a call of what was not offered, or too late, teaches nothing", async () => {
  let now = 0;
  const memory = await remember({ now: () => now });
  memory.offered(alice, "standup", [tool("list_issues")]);
  memory.executed(alice, tool("create_issue"));
  memory.executed(bob, tool("list_issues"));
  now = 31 * 60_000;
  memory.executed(alice, tool("list_issues"));
  expect(memory.version).toBe(0);
});

test("words learned on a user's own server never reach another, those of a shared one reach all", async () => {
  const memory = await remember();
  memory.offered(alice, "payroll secret", [tool("slack_post_message"), tool("create_issue")]);
  memory.executed(alice, tool("slack_post_message"));
  memory.executed(alice, tool("create_issue"));
  expect(memory.stemsOf(bob, tool("slack_post_message"))).toBeUndefined();
  expect(memory.stemsOf(alice, tool("slack_post_message"))).toContain("secret");
  expect(memory.stemsOf(bob, tool("create_issue"))).toContain("secret");

  const engine = createLexicalEngine({ language, memory });
  const find = async (principal: PrincipalId): Promise<string[]> => {
    const found = await engine.search({ principal, parts, query: "payroll", limit: 10 }, never);
    return found.tools.map((one) => one.tool.path);
  };
  expect(await find(bob)).toEqual(["github:create_issue"]);
  expect(await find(alice)).toContain("slack:slack_post_message");
  expect(await find(bob)).toEqual(["github:create_issue"]);
});

test("numbers and keys are not kept, and neither is more than fits", async () => {
  const memory = await remember();
  const words = Array.from({ length: 20 }, (_, at) => `word${String.fromCharCode(97 + at)}`).join(" ");
  for (let round = 0; round < 50; round += 1) {
    memory.offered(
      alice,
      `AKIA1234567890 42 variant${String.fromCharCode(97 + (round % 26))}${round < 26 ? "x" : "y"} ${words}`,
      [tool("create_issue")],
    );
    memory.executed(alice, tool("create_issue"));
  }
  const stems = memory.stemsOf(alice, tool("create_issue")) ?? [];
  expect(stems).toHaveLength(20 * 12);
  expect(stems.filter((stem) => /\d/.test(stem))).toEqual([]);
});

test("what was learned survives a restart, in a file of its owner's only", async () => {
  const path = join(folder, "learned.json");
  const failures: unknown[] = [];
  {
    await using store = createLearnedFile(path, (error) => failures.push(error));
    const memory = await remember({ store });
    memory.offered(alice, "standup", [tool("create_issue")]);
    memory.executed(alice, tool("create_issue"));
  }
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await using store = createLearnedFile(path, (error) => failures.push(error));
  const later = await remember({ store });
  expect(later.stemsOf(bob, tool("create_issue"))).toEqual([language.stem("standup")]);
  const muchLater = await remember({ store, now: () => 200 * 86_400_000 });
  expect(muchLater.stemsOf(bob, tool("create_issue"))).toBeUndefined();
  expect(failures).toEqual([]);
});

test("a broken file is forgotten, the next save makes it whole", async () => {
  const path = join(folder, "learned.json");
  for (const content of [
    "{",
    "null",
    '{"tools":[1,{"owner":5},{"owner":null,"server":"github","tool":"x","queries":[{"stems":[1],"atMs":1}]}]}',
  ]) {
    await writeFile(path, content);
    await using store = createLearnedFile(path, () => undefined);
    const memory = await remember({ store });
    memory.offered(alice, "standup", [tool("create_issue")]);
    memory.executed(alice, tool("create_issue"));
    await store[Symbol.asyncDispose]();
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ tools: [{ tool: "create_issue" }] });
  }
});

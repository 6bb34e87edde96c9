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
import type { Lesson } from "../search/learning/learned.ts";
import { createUseMemory, type RecallOptions, type UseMemory, type UseMemoryStore } from "./memory-of-use.ts";

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

/** Alice and bob have none. */
const teamOf = (principal: PrincipalId): string | undefined => /^(red|blue)-/.exec(principal)?.[1];

/** In these tests every user has an instance of Slack of their own, and all other servers are shared. */
function remember(options: { readonly store?: UseMemoryStore; readonly now?: () => number } = {}): Promise<UseMemory> {
  const store = options.store ?? { load: async () => undefined, save: () => undefined };
  return createUseMemory({
    language,
    store,
    clock: { now: options.now ?? (() => 1_000) },
    sharedWith: (principal, entry) => (entry.server === "slack" ? undefined : (teamOf(principal) ?? null)),
    teamOf,
  });
}

/** Everything that was ever learned and has to do with the query. */
const anything: RecallOptions = { leastLikeness: 0, leastOdds: 0, rarityOf: () => 1 };

/** The likeness between the query and the closest past query that led to this tool, and what its words say for it. */
function lessonOf(memory: UseMemory, principal: PrincipalId, query: string, name: string): Lesson {
  const recalled = memory
    .recall(principal, query, { ...anything, leastLikeness: 0.3 })
    .filter((one) => memory.isAbout(one, principal, tool(name)));
  expect(recalled.length).toBeLessThan(2);
  return recalled[0] ?? { likeness: 0, odds: 0 };
}

const recall = (...asked: Parameters<typeof lessonOf>): number => lessonOf(...asked).likeness;

/** A call of the tool that such a search led to. */
function use(memory: UseMemory, principal: PrincipalId, query: string, name: string): void {
  memory.offered(principal, query, [tool(name)]);
  memory.executed(principal, tool(name));
}

test("a call of an offered tool teaches the words of that search", async () => {
  const memory = await remember();
  memory.offered(alice, "morning standup update", [tool("list_issues"), tool("create_issue")]);
  expect(recall(memory, alice, "standup", "create_issue")).toBe(0);
  memory.executed(alice, tool("create_issue"));
  expect(recall(memory, alice, "standup", "create_issue")).toBeCloseTo(Math.sqrt(1 / 3));
  expect(recall(memory, alice, "Standup updates, morning!", "create_issue")).toBeCloseTo(1);
  expect(recall(memory, alice, "standup", "list_issues")).toBe(0);
});

test("a call of what was not offered, or too late, teaches nothing", async () => {
  let now = 0;
  const memory = await remember({ now: () => now });
  memory.offered(alice, "standup", [tool("list_issues")]);
  memory.executed(alice, tool("create_issue"));
  memory.executed(bob, tool("list_issues"));
  now = 31 * 60_000;
  memory.executed(alice, tool("list_issues"));
  for (const one of [alice, bob]) expect(memory.recall(one, "standup", anything)).toEqual([]);
});

test("what another client of the same person calls meanwhile says nothing about a search", async () => {
  const memory = await remember();
  memory.offered(alice, "standup", [tool("list_issues"), tool("create_issue")], "session 1");
  memory.executed(alice, tool("create_issue"), "session 2");
  expect(memory.recall(alice, "standup", anything)).toEqual([]);
  memory.executed(alice, tool("list_issues"), "session 1");
  expect(recall(memory, alice, "standup", "list_issues")).toBeCloseTo(1);
});

test("queries are compared one by one: a tool that is used a lot does not answer what it was never asked", async () => {
  const memory = await remember();
  for (const query of [
    "please open a bug about login",
    "file a ticket, the morning build fails",
    "report the weather page",
  ]) {
    memory.offered(alice, query, [tool("create_issue")]);
    memory.executed(alice, tool("create_issue"));
  }
  // Each word occurred in some past query, but never together.
  expect(recall(memory, alice, "login ticket weather morning", "create_issue")).toBeLessThan(0.55);
  expect(recall(memory, alice, "open a login bug", "create_issue")).toBeGreaterThan(0.9);

  const learning = createLexicalEngine({ language, memory });
  const plain = createLexicalEngine({ language });
  const find = async (engine: typeof plain): Promise<string[]> => {
    const request = { principal: alice, parts, query: "morning weather", limit: 10 };
    return (await engine.search(request, never)).tools.map((one) => one.tool.path);
  };
  expect((await find(learning))[0]).toBe((await find(plain))[0]);
});

test("words that led to a tool again and again speak for it, in questions that are like none before", async () => {
  const memory = await remember();
  const asked = {
    create_issue: [
      "customer reports a crash",
      "the crash from monday",
      "a customer sees an error",
      "error after login",
    ],
    list_issues: ["what did monday bring", "everything about login", "work that is left", "login work of this week"],
    get_forecast: ["will it rain on monday", "umbrella or not", "sunshine this week", "rain after work"],
  };
  for (const [name, queries] of Object.entries(asked)) for (const query of queries) use(memory, alice, query, name);
  const question = "a customer had an error and then a crash";
  const odds = (name: string, query = question): number => lessonOf(memory, alice, query, name).odds;
  expect(odds("create_issue")).toBeGreaterThan(1);
  expect(odds("list_issues")).toBe(0);
  expect(odds("get_forecast")).toBe(0);
  // What everybody says speaks for nobody much.
  expect(Math.max(...Object.keys(asked).map((name) => odds(name, "monday")))).toBeLessThan(0.2);
  // So does a question of several needs: which words belong together is not known.
  const filling = Array.from({ length: 26 }, (_, at) => `filler${String.fromCharCode(97 + at)}`).join(" ");
  expect(odds("create_issue", `${question} ${filling}`)).toBe(0);
});

test("what other people ask for on servers of their own changes nothing in what words say here", async () => {
  const [alone, among] = [await remember(), await remember()];
  for (const memory of [alone, among]) {
    use(memory, alice, "customer reports a crash", "create_issue");
    use(memory, alice, "rain on monday", "get_forecast");
  }
  for (const query of ["crash of the customer", "crash again", "customer crash"]) {
    use(among, bob, query, "slack_post_message");
    use(among, "red-1" as PrincipalId, query, "list_issues");
  }
  const lesson = lessonOf(alone, alice, "customer crash", "create_issue");
  expect(lesson.odds).toBeGreaterThan(0);
  expect(lessonOf(among, alice, "customer crash", "create_issue")).toEqual(lesson);
  expect(among.recall(alice, "customer crash", anything)).toHaveLength(1);
});

test("words learned on a user's own server never reach another, those of a shared one reach all", async () => {
  const memory = await remember();
  memory.offered(alice, "payroll secret", [tool("slack_post_message"), tool("create_issue")]);
  memory.executed(alice, tool("slack_post_message"));
  memory.executed(alice, tool("create_issue"));
  expect(recall(memory, bob, "secret", "slack_post_message")).toBe(0);
  expect(recall(memory, alice, "secret", "slack_post_message")).toBeGreaterThan(0);
  expect(recall(memory, bob, "secret", "create_issue")).toBeGreaterThan(0);

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
  let saved: unknown;
  const memory = await remember({ store: { load: async () => undefined, save: (value) => (saved = value) } });
  const words = Array.from({ length: 20 }, (_, at) => `word${String.fromCharCode(97 + at)}`).join(" ");
  for (let round = 0; round < 50; round += 1) {
    memory.offered(
      alice,
      `AKIA1234567890 42 variant${String.fromCharCode(97 + (round % 26))}${round < 26 ? "x" : "y"} ${words}`,
      [tool("create_issue")],
    );
    memory.executed(alice, tool("create_issue"));
  }
  const [kept] = (JSON.parse(JSON.stringify(saved)) as { tools: { queries: { stems: string[] }[] }[] }).tools;
  expect(kept?.queries).toHaveLength(20);
  for (const { stems } of kept?.queries ?? []) expect(stems).toHaveLength(12);
  expect(memory.recall(alice, words, anything)).toMatchObject([{ likeness: expect.closeTo(11 / Math.sqrt(19 * 12)) }]);
  expect(memory.recall(alice, "AKIA1234567890 42", anything)).toEqual([]);
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
  expect(recall(later, bob, "standup", "create_issue")).toBeCloseTo(1);
  const muchLater = await remember({ store, now: () => 200 * 86_400_000 });
  expect(recall(muchLater, bob, "standup", "create_issue")).toBe(0);
  expect(failures).toEqual([]);
});

test("no more is kept than the limit, and what was taught longest ago goes first", async () => {
  let saved: unknown;
  const memory = await remember({ store: { load: async () => undefined, save: (value) => (saved = value) } });
  const letters = (number: number): string =>
    Array.from(number.toString(26), (digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join("");
  for (let number = 0; number < 1_010; number += 1) {
    const one: ToolEntry = { ...tool("create_issue"), upstreamName: `tool ${number}` };
    for (let round = 0; round < 20; round += 1) {
      memory.offered(alice, `standup q${letters(number * 20 + round)}q`, [one]);
      memory.executed(alice, one);
    }
  }
  const kept = (JSON.parse(JSON.stringify(saved)) as { tools: { tool: string; queries: unknown[] }[] }).tools;
  expect(kept.reduce((sum, { queries }) => sum + queries.length, 0)).toBe(20_000);
  const names = memory.recall(alice, "standup", anything).map(({ place }) => place.tool);
  expect(names).toHaveLength(1_000);
  expect(new Set(names).has("tool 9")).toBe(false);
  expect(new Set(names).has("tool 10")).toBe(true);
});

test("a file of an earlier version is set aside without a complaint", async () => {
  const path = join(folder, "learned.json");
  const queries = [{ stems: ["standup"], atMs: 1_000 }];
  await writeFile(
    path,
    JSON.stringify({ version: 1, tools: [{ owner: null, server: "github", tool: "create_issue", queries }] }),
  );
  const failures: unknown[] = [];
  await using store = createLearnedFile(path, (error) => failures.push(error));
  const memory = await remember({ store });
  expect(recall(memory, alice, "standup", "create_issue")).toBe(0);
  expect(failures).toEqual([]);
});

test("a broken file is forgotten, the next save makes it whole", async () => {
  const path = join(folder, "learned.json");
  for (const content of [
    "{",
    "null",
    '{"version":2,"tools":[1,{"owner":5},{"owner":null,"server":"github","tool":"x","queries":[{"stems":[1],"atMs":1}]}]}',
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

test("what one team asked a shared server for shows nothing to another team, nor to people without one", async () => {
  const [red, redToo, blue] = ["red-1", "red-2", "blue-1"] as PrincipalId[] as [PrincipalId, PrincipalId, PrincipalId];
  const store = createLearnedFile(join(folder, "learned.json"), () => undefined);
  const memory = await remember({ store });
  memory.offered(red, "zeppelin takeover", [tool("create_issue")]);
  memory.executed(red, tool("create_issue"));
  const seen = (memories: UseMemory): number[] =>
    [red, redToo, blue, alice].map((one) => recall(memories, one, "zeppelin", "create_issue"));
  expect(seen(memory)).toEqual([expect.closeTo(0.71, 2), expect.closeTo(0.71, 2), 0, 0]);
  // An offer of one team is no lesson for the call of another, and people without a team teach none.
  memory.executed(blue, tool("create_issue"));
  memory.offered(alice, "dirigible merger", [tool("create_issue")]);
  memory.executed(alice, tool("create_issue"));
  expect([red, blue, bob].map((one) => recall(memory, one, "dirigible", "create_issue") > 0)).toEqual([
    false,
    false,
    true,
  ]);
  await store[Symbol.asyncDispose]();
  const again = await remember({ store: createLearnedFile(join(folder, "learned.json"), () => undefined) });
  expect(seen(again)).toEqual(seen(memory));
});

import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import { createTokenCountsFile } from "../../store/files/learned-file.ts";
import { createTokenCounts, textKeyOf, type TokenCounts } from "./token-counts.ts";
import type { TokenLimits } from "./token-thread.ts";

let folder: string;
const failures: unknown[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-tokens-"));
  failures.length = 0;
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

const patient: TokenLimits = { countMs: 60_000, startMs: 60_000, idleMs: 60_000 };

function open(limits: TokenLimits = patient): TokenCounts {
  const store = createTokenCountsFile(join(folder, "counts.json"), (error) => failures.push(error));
  return createTokenCounts({ store, clock: systemClock, limits });
}

const texts = [
  '{"name":"everything-echo","description":"Echoes","inputSchema":{"type":"object"}}',
  "",
  "Grüße, 世界 🎉 <|endoftext|> <|fim_prefix|>",
  `{"description":"${"what a tool is for. ".repeat(400)}"}`,
];
const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

/** Threads of this process, by the names that the system has for them. */
const threads = async (): Promise<number> =>
  Number(/^Threads:\s+(\d+)$/m.exec(await readFile("/proc/self/status", "utf8"))?.[1]);

test("counts are those of the tokenizer itself, also of what looks like a special token", async () => {
  await using counts = open();
  expect(texts.map((text) => counts.get(textKeyOf(text)))).toEqual([undefined, undefined, undefined, undefined]);
  await counts.count(texts);
  expect(texts.map((text) => counts.get(textKeyOf(text)))).toEqual(texts.map(exact));
});

test("what was counted before a restart is known after it, without a thread", async () => {
  const first = open();
  await first.count(texts);
  await first[Symbol.asyncDispose]();
  expect((await stat(join(folder, "counts.json"))).mode & 0o777).toBe(0o600);
  // A thread that would be needed could not start in no time.
  await using second = open({ ...patient, startMs: 0, countMs: 0 });
  await second.count([...texts, "this one is new, and cannot be counted"]);
  expect(texts.map((text) => second.get(textKeyOf(text)))).toEqual(texts.map(exact));
  expect(second.get(textKeyOf("this one is new, and cannot be counted"))).toBeUndefined();
});

test.each([
  ["no JSON", "{"],
  ["another format", '{"format":"cl100k_base-1","counts":{}}'],
  ["no counts", '{"format":"o200k_base-1","counts":[1]}'],
  ["counts that are none", '{"format":"o200k_base-1","counts":{"a":-1,"b":"2","c":1e99,"d":null}}'],
])("a file with %s is as good as none", async (what, text) => {
  await writeFile(join(folder, "counts.json"), text);
  await using counts = open();
  await counts.count(["a word"]);
  expect(counts.get(textKeyOf("a word"))).toBe(2);
  if (what === "no JSON") expect(failures.splice(0)).toHaveLength(1);
});

test("a text whose counting takes too long is given up, and the next one is counted", async () => {
  await using counts = open({ ...patient, countMs: 1_500 });
  const endless = "аб".repeat(100_000);
  await counts.count(["one", endless, "two words"]);
  expect(counts.get(textKeyOf(endless))).toBeUndefined();
  expect(counts.get(textKeyOf("two words"))).toBe(2);
});

test("the thread and its memory are there only while something is counted", async () => {
  const before = await threads();
  await using counts = open({ ...patient, idleMs: 10 });
  await counts.count(["first"]);
  await until(async () => (await threads()) <= before);
  await counts.count(["second"]);
  expect(counts.get(textKeyOf("second"))).toBe(1);
});

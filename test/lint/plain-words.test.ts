import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownRules } from "../../scripts/lint-rules.mjs";

/**
 * How often each word may be in comments and texts of src and web/src, without tests. The limits may only shrink: a
 * subject is a noun ("the caller", "the result"), and there is a plainer word for the others ("no one", "unclaimed",
 * "is in", "removed", "again").
 */
const limits = { whoever: 5, nobody: 17, "what is": 24, stands: 10, gone: 9, anew: 1 };

const root = fileURLToPath(new URL("../..", import.meta.url));
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "toolyard-words-"));
  const config = {
    jsPlugins: [join(root, "scripts/lint-rules.mjs")],
    categories: { correctness: "off" },
    rules: { [ownRules.plainText]: "error" },
    // The types of REST in web/src/api are generated from the descriptions of src.
    overrides: [{ files: ["**/*.test.ts", "**/*.d.ts"], rules: { [ownRules.plainText]: "off" } }],
  };
  writeFileSync(join(directory, ".oxlintrc.json"), JSON.stringify(config));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** How often each of the words is found below these paths. */
function counted(...paths: readonly string[]): Readonly<Record<string, number>> {
  const options = ["--config", join(directory, ".oxlintrc.json"), "--format", "json"];
  const run = spawnSync(join(root, "node_modules/.bin/oxlint"), [...options, ...paths], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const { diagnostics } = JSON.parse(run.stdout) as { readonly diagnostics: readonly { readonly message: string }[] };
  const counts: Record<string, number> = Object.fromEntries(Object.keys(limits).map((word) => [word, 0]));
  for (const { message } of diagnostics) counts[message] = (counts[message] ?? 0) + 1;
  return counts;
}

/** Above its limit, a word has to be replaced; below it, the limit has to be lowered. */
function verdict(word: string, count: number, limit: number): string {
  if (count > limit) return `"${word}": ${count}, and at most ${limit} are allowed: use a plainer word`;
  return count < limit ? `"${word}": ${count}: lower its limit from ${limit} to that` : "";
}

test("hard words in comments and texts grow no more, and their limits follow them down", () => {
  const counts = counted("src", "web/src");
  const verdicts = Object.entries(limits).map(([word, limit]) => verdict(word, counts[word] ?? 0, limit));
  expect(verdicts.filter((text) => text !== "")).toEqual([]);
});

test("words are found in comments, strings, templates and pages, and not in code, values and questions", () => {
  const planted = {
    "comment.ts":
      "// What\n// is sent.\n/** Whoever calls,\n * and what\n * is asked. */\nexport const a = 1; // anew\n",
    "text.ts": 'export const b = ["nobody is here", `it ${1} is gone`, "gone", "./gone.ts"];\n',
    "page.tsx": "export const c = <p>It stands here</p>;\n",
    "code.ts": "/** `gone` */\nexport const anew = { gone: true, stands: (nobody: number) => nobody };\n",
    "question.ts": "// What is it, and where?\nexport const d = 1;\n",
    "some.test.ts": "// Whoever tests\nexport const e = 1;\n",
  };
  for (const [name, text] of Object.entries(planted)) writeFileSync(join(directory, name), text);
  expect(counted(directory)).toEqual({ whoever: 1, nobody: 1, "what is": 2, stands: 1, gone: 1, anew: 1 });
});

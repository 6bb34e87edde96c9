import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { widestLine } from "../../scripts/line-length-rule.mjs";
import { ownRules } from "../../scripts/lint-rules.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "toolyard-lines-"));
  const jsPlugins = [join(root, "scripts/lint-rules.mjs")];
  const config = { jsPlugins, categories: { correctness: "off" }, rules: { [ownRules.lineLength]: "error" } };
  writeFileSync(join(directory, ".oxlintrc.json"), JSON.stringify(config));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Where the rule finds something in these files: name and line. */
function foundIn(files: Readonly<Record<string, string>>): readonly string[] {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const options = ["--config", join(directory, ".oxlintrc.json"), "--format", "json"];
  const paths = Object.keys(files).map((name) => join(directory, name));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/oxlint"), [...options, ...paths], { encoding: "utf8" });
  const { diagnostics } = JSON.parse(stdout) as {
    readonly diagnostics: readonly {
      readonly filename: string;
      readonly labels: readonly { readonly span: { readonly line: number } }[];
    }[];
  };
  return diagnostics.map(({ filename, labels }) => `${basename(filename)}:${labels[0]?.span.line}`).sort();
}

/** Words up to exactly so many columns. */
function words(columns: number): string {
  return "word "
    .repeat(columns)
    .slice(0, columns - 1)
    .concat("x");
}

test("a comment or code that is one column too wide is found, one that just fits is not", () => {
  expect(
    foundIn({
      "line.ts": `// ${words(widestLine - 3)}\n// ${words(widestLine - 2)}\nexport const a = 1;\n`,
      "block.ts": `/**\n * ${words(widestLine - 3)}\n * ${words(widestLine - 2)}\n */\nexport const b = 1;\n`,
      "trailing.mjs": `export const c = "text"; // ${words(widestLine)}\n`,
      "code.ts": `export const d = [${"1, ".repeat(50)}1];\n`,
      "letters.ts": `// ${"é".repeat(widestLine - 3)}\n// ${"é".repeat(widestLine - 2)}\nexport const e = 1;\n`,
    }),
  ).toEqual(["block.ts:3", "code.ts:1", "letters.ts:2", "line.ts:2", "trailing.mjs:1"]);
});

test("what cannot be broken may be wider: strings, templates, patterns, and an address at the end of a comment", () => {
  const address = `https://example.com/${"path/".repeat(30)}`;
  expect(
    foundIn({
      "string.ts": `export const a = "${words(150)}";\n`,
      "template.ts": `export const b = \`first\n${words(150)}\n\${1 + 1} ${words(150)}\`;\n`,
      "pattern.ts": `export const c = /${words(150)}/;\n`,
      "address.ts": `// see ${address}\n/** ${words(100)}\n * (${address}) */\nexport const d = 1;\n`,
      "beyond.ts": `// ${words(130)} ${address}\nexport const e = 1;\n`,
    }),
  ).toEqual(["beyond.ts:1"]);
});

test("the project's own lint has the rule, for every folder that it looks at", () => {
  const config = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as {
    readonly rules: Readonly<Record<string, unknown>>;
    readonly overrides: readonly { readonly rules: Readonly<Record<string, unknown>> }[];
  };
  expect(config.rules[ownRules.lineLength]).toBe("error");
  expect(config.overrides.filter(({ rules }) => ownRules.lineLength in rules)).toEqual([]);
});

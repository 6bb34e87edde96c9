import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { groupTitles, testTitles } from "../../scripts/docs/test-titles.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/security.md"), "utf8");

/** The rows of the tables of what is tried, each with the tests that it names. */
const rows = page
  .split("\n")
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => {
    const [number = "", , , shown = ""] = line.replace(/^\| | \|$/g, "").split(" | ");
    const named = shown.split("; ").flatMap((part) => {
      const file = /`(\S+\.test\.ts)`/.exec(part)?.[1] ?? "";
      return [...part.matchAll(/“([^”]+)”/g)].map(([, title = ""]) => ({ file, title }));
    });
    return { number: Number(number), line, shown, named };
  });

test("docs/security.md has a row for each thing that is tried, in order", () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 49 }, (_, index) => index + 1));
});

test("every test that a row of docs/security.md names is there", () => {
  const titles = [...testTitles(root), ...groupTitles(root)];
  const missing = rows.flatMap(({ number, named }) =>
    named
      .filter((one) => !titles.some(({ file, title }) => file === one.file && title.startsWith(one.title)))
      .map(({ file, title }) => `${number}: ${file} “${title}”`),
  );
  expect(missing).toEqual([]);
});

test("every row of docs/security.md names a test", () => {
  expect(rows.filter(({ named }) => named.length === 0).map(({ line }) => line)).toEqual([]);
});

test("docs/safety-transcript.md shows what is held and refused, and nothing of the machine that it was made on", () => {
  const transcript = readFileSync(join(root, "docs/safety-transcript.md"), "utf8");
  for (const text of [
    "notes:find_notes waits for a person to look at its definition",
    "notes:read_note may be used",
    '"a private key\\n"',
    "no such file or directory, open '~/.ssh/id_rsa'",
    "ENOTFOUND collect.example.net",
    "connect ECONNREFUSED 127.0.0.1:3001",
    "kept from collect.example.net",
  ])
    expect(transcript).toContain(text);
  expect(transcript).not.toMatch(/\/tmp\/|\/root\/|\/work\//);
});

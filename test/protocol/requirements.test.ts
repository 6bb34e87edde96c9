import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { heldBy, protocolPage } from "../../scripts/docs/protocol-page.mjs";
import { testTitles } from "../../scripts/docs/test-titles.mjs";
import { sections } from "./requirements.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const held = heldBy(sections, testTitles(root));

test("every requirement has a test, and every test that is named exists", () => {
  const rows = held.flatMap(({ section, rows: ofSection }) => ofSection.map((row) => ({ section, ...row })));
  expect(rows.flatMap(({ section, text, missing }) => missing.map((title) => `${section}: ${text}: ${title}`))).toEqual(
    [],
  );
  expect(rows.filter((row) => row.held.length === 0).map(({ text }) => text)).toEqual([]);
});

test("docs/protocol.md is what scripts/write-docs.mjs makes of them", () => {
  expect(readFileSync(join(root, "docs/protocol.md"), "utf8")).toBe(protocolPage(held));
});

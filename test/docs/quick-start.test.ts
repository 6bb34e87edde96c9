import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { quickStartPage } from "../../scripts/docs/quick-start-page.mjs";
import { codeBlocks } from "../../scripts/site/markdown.mjs";
import { clientTable } from "../../src/config/clients/table/client-table.ts";
import { toOwnEntry } from "../../src/config/clients/connect/own-entry.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/quick-start.md", import.meta.url)), "utf8");

describe("docs/quick-start.md", () => {
  test("is what scripts/write-docs.mjs makes of the table of clients", () => {
    expect(page).toBe(quickStartPage(clientTable, toOwnEntry));
  });

  test.each(clientTable)("says for $label what to type, what to write and what to do then", ({ label, id, reload }) => {
    const section = page.split(/^## /m).find((part) => part.startsWith(`${label}\n`)) ?? "";
    const [typed, written] = codeBlocks(`## ${section}`);
    expect(typed?.content).toBe(`toolyard connect ${id}\n`);
    expect(written?.content).toMatch(/http:\/\/127\.0\.0\.1:3001\/mcp|stdio/);
    expect(section).toContain(reload);
  });
});

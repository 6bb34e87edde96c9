import { expect, test } from "vitest";
import { clientFilesTable } from "../../scripts/docs/client-files-table.mjs";
import { clientTable } from "../../src/config/clients/table/client-table.ts";
import { readPage, testTranscripts } from "./page-transcripts.ts";

test("docs/import.md has the table of clients", () => {
  expect(readPage("import.md")).toContain(clientFilesTable(clientTable));
});

testTranscripts("import.md", ["import --secrets variables", "clients"]);

import { expect, test } from "vitest";
import { connectionsTable } from "../../scripts/docs/connections-table.mjs";
import { clientTable } from "../../src/config/clients/table/client-table.ts";
import { readPage, testTranscripts } from "./page-transcripts.ts";

test("docs/connect.md has the table of clients", () => {
  expect(readPage("connect.md")).toContain(connectionsTable(clientTable));
});

testTranscripts("connect.md", [
  "connect cursor --replace --dry-run",
  "connect cursor --yes",
  "connect cursor --undo --yes",
]);

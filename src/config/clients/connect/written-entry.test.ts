import { expect, test } from "vitest";
import { clientTable, findClient } from "../table/client-table.ts";
import { readClientText } from "./client-text.ts";
import { toWrittenEntry } from "./written-entry.ts";

const url = "https://mcp.example.com/mcp";

test.each(clientTable.map((row) => [row.id, row] as const))(
  "%s is given a file that it reads, with the address and the token, or none where it takes no address",
  async (_id, row) => {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const written = await toWrittenEntry(row, { url, token: "ty_pat_0", platform });
      expect(written === undefined).toBe(row.http === undefined);
      if (written === undefined) continue;
      const [place] = row.places;
      const values = await readClientText({
        text: written.text,
        format: place?.format ?? "json",
        fileName: written.file,
      });
      expect(JSON.stringify(values)).toContain(`"${url}"`);
      expect(JSON.stringify(values)).toContain('"Bearer ty_pat_0"');
      expect(written.file).toMatch(platform === "win32" ? /^(?:~|%APPDATA%)\\/ : /^~\//);
    }
  },
);

test("without a token there are no headers, for a client that logs in by itself", async () => {
  const cursor = findClient("cursor");
  if (cursor === undefined) throw new Error("there is no such client");
  const written = await toWrittenEntry(cursor, { url, token: undefined, platform: "linux" });
  expect(written?.file).toBe("~/.cursor/mcp.json");
  expect(JSON.parse(written?.text ?? "")).toEqual({ mcpServers: { toolyard: { url } } });
});

import { describe, expect, test } from "vitest";
import type { Settings } from "../config.ts";
import { buildConfig } from "../load.ts";
import type { Row, Rows } from "../rows/setting-row.ts";
import { settingsTable } from "./settings-table.ts";
import { changedForNextStart } from "./settings.ts";

const embeddings = { url: "http://localhost/v1", model: "some" };
const enrich = { url: "http://localhost/v1", model: "small" };
const search = { embeddings, enrich };
const issuers = ["https://sso.example.com/here"];
const introspection = { clientId: "here", clientSecret: "${HERE}" };
/** What is written before, for a row in a part that is not there unless it is written. */
const partsAround = (path: string): object =>
  path.startsWith("auth.")
    ? {
        team: true,
        publicUrl: "https://a.test",
        auth: { external: { issuers, introspection }, assertions: { issuers } },
      }
    : { search, cluster: {} };
const before = settingsOf({ search });
const rows = [...rowsOf(settingsTable, [])];

describe("a change of the file", () => {
  test.each(rows.filter(([, row]) => row.isReadAtStart === true))("names %s", (path, row) => {
    expect(changedForNextStart(settingsOf(partsAround(path)), changed(path, row))).toEqual([path]);
  });

  test("does not name what follows the file at once", () => {
    const others = rows.filter(([, row]) => row.isReadAtStart !== true);
    expect(others.length).toBeGreaterThan(30);
    for (const [path, row] of others)
      expect(changedForNextStart(settingsOf(partsAround(path)), changed(path, row)), path).toEqual([]);
  });

  test("names everything of a part that was not there", () => {
    expect(changedForNextStart(settingsOf({}), before)).toEqual([
      "search.embeddings.url",
      "search.embeddings.model",
      "search.embeddings.deadlineMs",
      "search.enrich.url",
      "search.enrich.model",
      "search.enrich.parallel",
      "search.enrich.toolsPerMinute",
      "search.enrich.toolsPerHour",
      "search.enrich.tokensPerHour",
      "search.enrich.tokensInAll",
    ]);
    expect(changedForNextStart(before, before)).toEqual([]);
  });
});

/** Every setting that is no member of an object with names of the user's. */
function* rowsOf(table: Rows, above: readonly string[]): Generator<readonly [string, Row<unknown, unknown>]> {
  for (const [name, member] of Object.entries(table)) {
    if (member.kind === "row") yield [[...above, name].join("."), member];
    else if (member.kind === "group") yield* rowsOf(member.rows, [...above, name]);
  }
}

/** The settings as they are with one row's example. */
function changed(path: string, row: Row<unknown, unknown>): Settings {
  const keys = path.split(".");
  const written = structuredClone(partsAround(path)) as Record<string, unknown>;
  let place = written;
  for (const key of keys.slice(0, -1)) place = (place[key] ??= {}) as Record<string, unknown>;
  place[keys.at(-1) as string] = row.example;
  return settingsOf(written);
}

function settingsOf(toolyard: object): Settings {
  return buildConfig(
    { file: "/conf/toolyard.json", text: JSON.stringify({ mcpServers: { github: { command: "x" } }, toolyard }) },
    {
      cwd: "/conf",
      env: { EMBEDDINGS_KEY: "key", CHAT_KEY: "key", HERE: "one", INTROSPECTION_SECRET: "other" },
      flags: {},
      homeDirectories: { config: "/c", data: "/d" },
      cores: 2,
    },
  ).settings;
}

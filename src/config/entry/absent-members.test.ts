import { expect, test } from "vitest";
import { loadText, loadValue } from "../../../test/harness/config-text.ts";
import { entryRows } from "./server-fields.ts";

const process = { command: "x", args: ["a"], env: { A: "1" } };
const remote = { url: "https://h/mcp", headers: { "X-A": "1" } };

async function loadEntry(entry: unknown) {
  const config = await loadValue({ mcpServers: { a: entry, other: { command: "y" } } });
  expect(config.servers[1]?.disabledReason).toBeUndefined();
  return { server: config.servers[0], warnings: config.warnings };
}

const fields = Object.keys(entryRows);

test.each([null, "", [], {}])("a member that is %j is as good as none, where that is no value of it", async (value) => {
  for (const entry of [process, remote]) {
    const plain = (await loadEntry(entry)).server;
    for (const field of fields.filter((name) => !(name in entry))) {
      // Empty lists, and what stands for one: the only tools that are offered are none, and so are the folders.
      const isList =
        typeof value === "object" && value !== null && /^(?:enabled_?tools|includeTools|roots)$/i.test(field);
      // Nothing is wrong with these. An empty sandbox is one in which all is as usual.
      const isRight = [Array.isArray(value) ? "tools" : "tls", "sandbox"].includes(field) && Boolean(value);
      if (isList || isRight) continue;
      const { server, warnings } = await loadEntry({ ...entry, [field]: value });
      expect([field, server, warnings]).toEqual([field, plain, []]);
    }
  }
});

test("members of groups, and single variables, headers and names, are as well", async () => {
  const given = {
    ...process,
    env: { A: "1", B: null, EMPTY: "" },
    tools: { allow: null, deny: [], rename: { a: null, b: "c" }, describe: [], phrases: "" },
    required: { user: null, team: {} },
    settings: { request_logging_enabled: null },
    comand: null,
    denyTools: null,
  };
  const { server, warnings } = await loadEntry(given);
  expect(warnings).toEqual([]);
  expect(server).toMatchObject({
    disabledReason: undefined,
    transport: { env: { A: "1", EMPTY: "" } },
    tools: { allow: undefined, deny: [], rename: { b: "c" }, describe: {}, phrases: {} },
  });
  const far = await loadEntry({ ...remote, headers: { "X-A": "1", "X-B": null }, tls: { caFile: null }, proxy: "" });
  expect([far.server?.transport, far.warnings]).toMatchObject([{ headers: { "X-A": "1" } }, []]);
});

test("numbers and switches under `env`, `args` and `headers` are texts as they stand in the file", async () => {
  const { servers } = await loadText(
    `{ "mcpServers": { "a": { "command": "x", "args": [3.10, true], "env": { "N": 12345678901234567890, "B": false } },
       "b": { "url": "http://b", "headers": { "X-N": 1.0 } } } }`,
  );
  expect(servers.map(({ transport }) => transport)).toMatchObject([
    { args: ["3.10", "true"], env: { N: "12345678901234567890", B: "false" } },
    { headers: { "X-N": "1.0" } },
  ]);
});

test("an empty object in place of the only tools that are offered offers none, as an empty list does", async () => {
  for (const lists of [{ includeTools: {} }, { enabledTools: [] }, { enabled_tools: {} }])
    expect((await loadEntry({ ...process, ...lists })).server?.tools.within).toEqual([[]]);
  expect((await loadEntry({ ...process, tools: [] })).server?.tools.allow).toEqual([]);
});

test("an entry without anything else is wrong, and disables only itself", async () => {
  for (const entry of [null, {}, { command: "" }, { command: null, url: "" }, "", 3, [], { command: [] }])
    expect((await loadEntry(entry)).server?.disabledReason).toMatch(/expected/);
});

test.each(["null", "{}"])("servers that are %s are none, beside others and alone", async (value) => {
  for (const key of ["mcpServers", "servers"]) {
    const other = key === "servers" ? "mcpServers" : "servers";
    const config = await loadText(`\uFEFF{ // none\n "${key}": ${value}, "${other}": { "a": { "command": "x", }, }, }`);
    expect([config.servers.map(({ key: name }) => name), config.warnings]).toEqual([["a"], []]);
    expect((await loadText(`{ "${key}": ${value} }`)).servers).toEqual([]);
  }
});

test("people's and teams' values are read so, too", async () => {
  const given = { env: null, args: null, headers: { "X-A": null } };
  const people = {
    teams: { t: { servers: { a: given } } },
    principals: { p: { servers: { a: { env: { A: null } } } } },
  };
  const { people: built, warnings } = await loadValue({ mcpServers: { a: process }, toolyard: people });
  expect([built.teams.get("t")?.get("a"), warnings]).toEqual([{ headers: {} }, []]);
});

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { get } from "../harness/rest.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSession } from "../protocol/stream.ts";
import { openDefined, type Defined } from "./defined.ts";

const legacyRpc = rpc as typeof modernRpc;
const twin = "execute_read_only_mcp_tool";
const hinted = { annotations: { readOnlyHint: true } };
const choosing = {
  inputSchema: { type: "object", properties: { action: { enum: ["list", "add", "delete"] } } },
};
/** One tool of each effect, without and with a hint that it only reads. */
const effects = {
  get_note: "read",
  add_note: "write",
  send_note: "send",
  delete_note: "destroy",
  run_code: "run",
  weather: "unknown",
} as const;
const tools = [
  ...Object.keys(effects).flatMap((name) => [{ name }, { name: `${name}_s`, ...hinted }]),
  { name: "list_rows", ...choosing },
  { name: "rows", ...choosing, ...hinted },
  { name: "ask_notes" },
];

let defined: Defined;
let gateway: RunningGateway;

beforeEach(async () => {
  defined = await openDefined();
  defined.list(tools);
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await defined[Symbol.asyncDispose]();
});

async function start(entry: object = {}, toolyard: object = {}): Promise<void> {
  const mcpServers = { notes: { ...defined.entry, definitions: "note", ...entry } };
  const settings = { approvals: { holdMs: 0 }, ...toolyard };
  gateway = await startGateway({ config: { mcpServers, toolyard: settings }, directory: defined.directory });
  await until(async () => (await get(`${gateway.url}/api/tools`)).text.includes("get_note"));
}

/** How a call through the twin ended: `ran`, or the code of its failure. */
async function outcome(tool: string, given: unknown = {}, method = legacyRpc, name = twin): Promise<string> {
  const params = { name, arguments: { tool_path: tool.includes("notes") ? tool : `notes:${tool}`, arguments: given } };
  const { text } = await method(`${gateway.url}/mcp`, "tools/call", params);
  return /\bran \w+/.test(text) ? "ran" : (/\b[A-Z]+(?:_[A-Z]+)+\b/.exec(text)?.[0] ?? text);
}

async function connect(name: string, mode: "legacy" | "auto"): Promise<Client> {
  const client = new Client({ name, version: "1" }, { versionNegotiation: { mode } } as never);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  return client;
}

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

/** What a search says of each tool that it found. */
async function marksOf(client: Client): Promise<Record<string, { readOnly?: boolean; asks?: boolean }>> {
  const asked = { queries: ["get note", "add note", "delete note", "weather"], limit: 50 };
  const { content } = await client.callTool({ name: "discover_mcp_tools", arguments: asked });
  const [{ text } = { text: "" }] = content as { text: string }[];
  const found = (JSON.parse(text) as { tools: { tool_path: string; readOnly?: boolean; asks?: boolean }[] }).tools;
  return Object.fromEntries(
    found.map(({ tool_path: path, readOnly, asks }) => [
      path,
      { ...(readOnly === undefined ? {} : { readOnly }), ...(asks === undefined ? {} : { asks }) },
    ]),
  );
}

describe.each(["legacy", "auto"] as const)("a client that negotiates %s", (mode) => {
  test.each(["claude-code", "codex-mcp-client", "copilot-cli"])(
    "and is %s sees a fifth tool that only reads, and which tools it takes",
    async (name) => {
      await start();
      const client = await connect(name, mode);
      const { tools: listed } = await client.listTools();
      const own = listed.find((tool) => tool.name === twin);
      expect(own?.annotations).toMatchObject({ readOnlyHint: true });
      expect(own?.inputSchema).toEqual(listed.find((tool) => tool.name === "execute_mcp_tool")?.inputSchema);
      const marks = await marksOf(client);
      expect(marks["notes:get_note"]).toEqual({ readOnly: true });
      expect(marks["notes:add_note_s"]).toEqual({ readOnly: true });
      expect(marks["notes:add_note"]).toEqual({});
      expect(marks["notes:delete_note_s"]).toEqual({ asks: true });
      const called = async (tool: string): Promise<string> =>
        JSON.stringify(await client.callTool({ name: twin, arguments: { tool_path: `notes:${tool}` } }));
      expect(await called("get_note")).toContain("ran get_note");
      const refused = await called("add_note");
      expect(refused).toContain("NOT_READ_ONLY");
      expect(refused).toContain("Call it with execute_mcp_tool.");
      expect(defined.ran("add_note")).toBe(0);
      await client.close();
    },
  );

  test("and has another name sees four, and no marks; what it calls without having seen it is judged as well", async () => {
    await start();
    const client = await connect("somebody", mode);
    expect(await namesOf(client)).not.toContain(twin);
    expect((await marksOf(client))["notes:get_note"]).toEqual({});
    const called = await client.callTool({ name: twin, arguments: { tool_path: "notes:add_note" } });
    expect(JSON.stringify(called)).toContain("NOT_READ_ONLY");
    await client.close();
  });

  test("gets it or not as the configuration says", async () => {
    await start({}, { clients: { "claude-code": { splitExecute: false }, mine: { splitExecute: true } } });
    const [claude, mine] = await Promise.all([connect("claude-code", mode), connect("mine", mode)]);
    expect(await namesOf(claude)).not.toContain(twin);
    expect((await marksOf(claude))["notes:get_note"]).toEqual({});
    expect(await namesOf(mine)).toContain(twin);
    expect((await marksOf(mine))["notes:get_note"]).toEqual({ readOnly: true });
    await Promise.all([claude.close(), mine.close()]);
  });
});

describe.each([
  ["legacy", legacyRpc],
  ["modern", modernRpc],
])("through the tool for reading, in the %s era,", (_era, method) => {
  test("what reads passes, and what a server says to read where its name does not say more", async () => {
    await start();
    for (const [tool, effect] of Object.entries(effects)) {
      expect([tool, await outcome(tool, {}, method)]).toEqual([tool, effect === "read" ? "ran" : "NOT_READ_ONLY"]);
      const passes = effect === "read" || effect === "write" || effect === "unknown";
      expect([tool, await outcome(`${tool}_s`, {}, method)]).toEqual([tool, passes ? "ran" : "NOT_READ_ONLY"]);
      expect(defined.ran(tool)).toBe(effect === "read" ? 1 : 0);
    }
    // The call is refused before a person is asked.
    const { approvals } = JSON.parse((await askOwner(`${defined.directory}/data`, "GET", "/api/approvals")).text) as {
      approvals: unknown[];
    };
    expect(approvals).toEqual([]);
  });

  test("no argument chooses more than reading, in whatever spelling", async () => {
    await start({ tools: { neverAsk: ["list_rows", "rows"] } });
    for (const tool of ["list_rows", "rows"]) {
      expect(await outcome(tool, { action: "list" }, method)).toBe("ran");
      for (const given of [
        { action: "delete" },
        { action: " DELETE " },
        { Action: "delete" },
        { action: ["list", "delete"] },
        { nested: { action: "delete" } },
        { action: "obliterate" },
        JSON.stringify({ action: "delete" }),
      ])
        expect([given, await outcome(tool, given, method)]).toEqual([given, "NOT_READ_ONLY"]);
      expect(defined.ran(tool)).toBe(1);
    }
    expect(await outcome("list_rows", { action: "add" }, method)).toBe("NOT_READ_ONLY");
  });

  test("the configuration comes first, in both directions", async () => {
    await start({
      annotations: "raise",
      tools: {
        ...{ deny: ["get_note_s"], ask: ["list_rows"], rename: { delete_note: "get_it", get_note: "delete_it" } },
        effects: { add_note_s: "write", send_note: "read", weather: "destroy" },
      },
    });
    expect(await outcome("add_note_s", {}, method)).toBe("NOT_READ_ONLY");
    expect(await outcome("send_note", {}, method)).toBe("ran");
    expect(await outcome("weather", {}, method)).toBe("NOT_READ_ONLY");
    expect(await outcome("get_note_s", {}, method)).not.toBe("ran");
    // The server's own name counts.
    expect(await outcome("get_it", {}, method)).toBe("NOT_READ_ONLY");
    expect(await outcome("delete_it", {}, method)).toBe("ran");
    // What is asked about is asked about here as well, and is judged by its arguments all the same.
    expect(await outcome("list_rows", { action: "list" }, method)).toBe("APPROVAL_NEEDED");
    expect(await outcome("list_rows", { action: "delete" }, method)).toBe("NOT_READ_ONLY");
    expect([defined.ran("delete_note"), defined.ran("get_note_s"), defined.ran("list_rows")]).toEqual([0, 0, 0]);
  });

  test("no spelling of a name lets a write through", async () => {
    await start();
    for (const path of [
      ...["notes:add_note", "notes.add_note", "notes/add_note", "notes__add_note", "notes-add_note", "notes|add_note"],
      ...[
        "notes_1mcp_add_note",
        "NOTES:ADD_NOTE",
        " notes:add_note ",
        "notes : add_note",
        "Notes:Add Note",
        "add_note",
      ],
      ...["notes:add%5Fnote", "notes:add_note\u200b", "notes:get_note/../add_note", "notes:get_note notes:add_note"],
    ])
      for (const given of [{}, { action: "list", readOnly: true }]) {
        const params = { name: twin, arguments: { tool_path: path, arguments: given, readOnly: false } };
        const { text } = await method(`${gateway.url}/mcp`, "tools/call", params);
        expect([path, /\bran \w+/.exec(text)?.[0]]).toEqual([path, undefined]);
      }
    // Of two members with one name, the one that is called by is the one that is judged.
    const twice = `{"name":"${twin}","arguments":{"tool_path":"notes:get_note","tool_path":"notes:add_note"}}`;
    await rpc(`${gateway.url}/mcp`, "tools/call", twice);
    expect(defined.ran("add_note")).toBe(0);
  });
});

test("a search for tools that read finds those that pass, and no hint puts one in or leaves one out", async () => {
  await start();
  const found = async (given: object): Promise<string[]> => {
    const asked = { query: "note", limit: 50, detail: "names", ...given };
    const params = { name: "discover_mcp_tools", arguments: asked };
    const { json } = await legacyRpc(`${gateway.url}/mcp`, "tools/call", params);
    const text = json.result.content[0].text as string;
    return (JSON.parse(text) as { tools: { tool_path: string }[] }).tools.map(({ tool_path: path }) => path);
  };
  const all = await found({});
  const reading = await found({ readOnly: true });
  for (const path of all) {
    const tool = path.slice("notes:".length);
    const passes = path.startsWith("notes:") && (await outcome(tool)) === "ran";
    expect([path, reading.includes(path)]).toEqual([path, passes]);
  }
  // Whose name destroys is none of them, whatever its server says; whose name reads is one without a hint.
  expect(reading).toContain("notes:get_note");
  expect(all).toContain("notes:delete_note_s");
  expect(reading).not.toContain("notes:delete_note_s");
  const listed = (await get(`${gateway.url}/api/tools?readOnly=true&limit=1000`)).json as {
    tools: { tool_path: string; read_only: boolean }[];
  };
  expect(listed.tools.map(({ tool_path: path }) => path)).toEqual(expect.arrayContaining(reading));
  expect(listed.tools.every(({ read_only: passes }) => passes)).toBe(true);
  expect(JSON.stringify(listed)).not.toContain("delete_note_s");
});

test("a tool that waits for a look at its definition is not called through it", async () => {
  await start({ definitions: "hold" });
  expect(await outcome("get_note")).toBe("ran");
  defined.list(tools.map((tool) => (tool.name === "get_note" ? { ...tool, description: "Other" } : tool)));
  await until(async () => (await outcome("get_note")) === "DEFINITION_HELD");
});

test("hints are not believed where the configuration says so, and believed of everything where it says that", async () => {
  await start({ annotations: "ignore" });
  expect(await outcome("add_note_s")).toBe("NOT_READ_ONLY");
  expect(await outcome("get_note")).toBe("ran");
  await gateway[Symbol.asyncDispose]();
  await start({ annotations: "trust" });
  expect(await outcome("delete_note_s")).toBe("ran");
  expect(await outcome("delete_note")).toBe("NOT_READ_ONLY");
});

test("a client that calls itself something else from one request to the next gets what each name gets", async () => {
  await start();
  const listed = async (name: string): Promise<boolean> => {
    const meta = { _meta: { "io.modelcontextprotocol/clientInfo": { name, version: "1" } } };
    return (await modernRpc(`${gateway.url}/mcp`, "tools/list", meta)).text.includes(`"${twin}"`);
  };
  expect([await listed("claude-code"), await listed("other"), await listed("copilot-cli")]).toEqual([
    true,
    false,
    true,
  ]);
  // A legacy session keeps the name that it began with.
  const session = await openSession(`${gateway.url}/mcp`, { client: "codex-mcp-client" });
  const renamed = { _meta: { "io.modelcontextprotocol/clientInfo": { name: "other", version: "1" } } };
  const list = await session.call(1, "tools/list", renamed);
  expect(JSON.stringify(await list.next(({ id }) => id === 1))).toContain(`"${twin}"`);
});

test("a server's tool of this name is not called by it, pinned, in the flat list, or by its bare name", async () => {
  defined.list([{ name: twin }, { name: "get_note" }]);
  await start({}, { pin: [`notes:${twin}`] });
  const at = async (path: string, name: string, given: object = {}): Promise<string> =>
    (await rpc(`${gateway.url}${path}`, "tools/call", { name, arguments: given })).text;
  expect(await at("/mcp", twin, { tool_path: "notes:get_note" })).toContain("ran get_note");
  expect(await at("/mcp", twin)).not.toContain("ran ");
  expect(await at("/mcp", `notes-${twin}`)).toContain(`ran ${twin}`);
  expect(await at("/mcp/flat", `notes-${twin}`)).toContain(`ran ${twin}`);
  // Where our tools are not offered, the name is the server's.
  expect(await at("/mcp/flat", twin)).toContain(`ran ${twin}`);
  expect(await at("/mcp/server/notes", twin)).toContain(`ran ${twin}`);
  const listed = (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).json.result.tools as { name: string }[];
  expect(listed.map(({ name }) => name)).toEqual([`notes-${twin}`, "notes-get_note"]);
});

test("`policy explain` says what passes, of a tool and of a call", async () => {
  await start();
  const explained = async (query: string): Promise<unknown> =>
    ((await get(`${gateway.url}/api/policy/explain?tool=notes:${query}`)).json as { readOnly: boolean }).readOnly;
  expect(await explained("get_note")).toBe(true);
  expect(await explained("delete_note_s")).toBe(false);
  expect(await explained("list_rows")).toBe(true);
  expect(await explained(`list_rows&args=${encodeURIComponent('{"action":"delete"}')}`)).toBe(false);
  const place = ["--config", gateway.configFile, "--data-dir", join(defined.directory, "data")];
  const { stdout } = await runCommand(["policy", "explain", "notes:add_note", ...place]);
  expect(stdout).toContain("does not pass through execute_read_only_mcp_tool");
});

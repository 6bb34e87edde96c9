import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { applyEdit, applyUndo, openClientFile, planEdit, planUndo } from "./client-edit.ts";
import type { ClientSurroundings } from "../table/client-places.ts";
import type { ClientId, ClientScope } from "../table/client-row.ts";
import { changeClientText, readClientText, valueAt } from "./client-text.ts";
import { clientTable, findClient } from "../table/client-table.ts";
import {
  connectionChanges,
  disconnectionChanges,
  entryNamed,
  entryPath,
  findTarget,
  type Target,
} from "./client-connection.ts";
import { readKeptChanges } from "./kept-changes.ts";
import { toOwnEntry, tokenIn, type OwnEntry, type OwnWay } from "./own-entry.ts";
import { readClients, type FoundServer } from "../import/read-clients.ts";

const url = "http://127.0.0.1:3001/mcp";
const http: OwnWay = { kind: "url", url, token: "ty_secret" };
const stdio: OwnWay = { kind: "command", command: "/usr/bin/node", args: ["/opt/toolyard/dist/cli/main.js", "stdio"] };
const homes: Readonly<Record<"linux" | "darwin" | "win32", ClientSurroundings>> = {
  linux: { home: "/home/ann", cwd: "/home/ann/project", env: {}, platform: "linux" },
  darwin: { home: "/Users/ann", cwd: "/Users/ann/project", env: {}, platform: "darwin" },
  win32: {
    home: "C:\\Users\\ann",
    cwd: "C:\\Users\\ann\\project",
    env: { APPDATA: "C:\\Users\\ann\\AppData\\Roaming" },
    platform: "win32",
  },
};

function rowOf(id: ClientId) {
  const row = findClient(id);
  if (row === undefined) throw new Error(id);
  return row;
}

describe("the file that is written", () => {
  test.each(["linux", "darwin", "win32"] as const)(
    "is one that the client reads, for every client and scope on %s",
    async (system) => {
      for (const row of clientTable)
        for (const scope of new Set(row.places.map((place) => place.scope))) {
          const { path, keyPath } = await findTarget(row, scope, homes[system]);
          const inside = scope === "project" ? homes[system].cwd : homes[system].home;
          expect(path.startsWith(inside), `${row.id} ${path}`).toBe(true);
          expect(path).not.toContain("*");
          expect(keyPath.length).toBeGreaterThan(0);
        }
    },
  );

  test.each<[ClientId, ClientScope, "linux" | "darwin" | "win32", string]>([
    ["claude-desktop", "user", "darwin", "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json"],
    ["claude-desktop", "user", "win32", "C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json"],
    ["vscode", "user", "linux", "/home/ann/.config/Code/User/mcp.json"],
    ["continue", "project", "linux", "/home/ann/project/.continue/mcpServers/toolyard.yaml"],
    ["zed", "user", "win32", "C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json"],
    ["codex", "user", "win32", "C:\\Users\\ann\\.codex\\config.toml"],
  ])("of %s (%s) on %s is %s", async (id, scope, system, path) => {
    expect((await findTarget(rowOf(id), scope, homes[system])).path).toBe(path);
  });

  test("names a project of Claude Code on Windows as it does itself", async () => {
    const { keyPath } = await findTarget(rowOf("claude-code"), "local", homes.win32);
    expect(keyPath).toEqual(["projects", "C:/Users/ann/project", "mcpServers"]);
  });

  test("of a scope that the client does not have is refused", async () => {
    await expect(findTarget(rowOf("windsurf"), "project", homes.linux)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});

describe("our entry", () => {
  test.each<[ClientId, unknown]>([
    ["claude-code", { type: "http", url, headers: { Authorization: "Bearer ty_secret" } }],
    ["cursor", { url, headers: { Authorization: "Bearer ty_secret" } }],
    ["vscode", { type: "http", url, headers: { Authorization: "Bearer ty_secret" } }],
    ["windsurf", { serverUrl: url, headers: { Authorization: "Bearer ty_secret" } }],
    ["codex", { url, http_headers: { Authorization: "Bearer ty_secret" }, tool_timeout_sec: 3_600 }],
    ["gemini", { httpUrl: url, headers: { Authorization: "Bearer ty_secret" }, timeout: 3_600_000 }],
    ["zed", { url, headers: { Authorization: "Bearer ty_secret" } }],
    ["cline", { type: "streamableHttp", url, headers: { Authorization: "Bearer ty_secret" }, timeout: 3_600 }],
    [
      "continue",
      {
        name: "toolyard",
        type: "streamable-http",
        url,
        requestOptions: { headers: { Authorization: "Bearer ty_secret" } },
      },
    ],
    ["opencode", { type: "remote", url, headers: { Authorization: "Bearer ty_secret" }, enabled: true }],
    ["lmstudio", { url, headers: { Authorization: "Bearer ty_secret" } }],
    [
      "copilot",
      {
        type: "http",
        url,
        headers: { Authorization: "Bearer ty_secret" },
        tools: ["*"],
        deferTools: "never",
      },
    ],
    [
      "qwen",
      { httpUrl: url, headers: { Authorization: "Bearer ty_secret" }, alwaysLoadTools: true, timeout: 3_600_000 },
    ],
    ["kimi", { url, headers: { Authorization: "Bearer ty_secret" }, toolTimeoutMs: 3_600_000 }],
  ])("is written as %s writes it, with its token", (id, expected) => {
    const entry = toOwnEntry(rowOf(id), "toolyard", http);
    expect(entry).toEqual(expected);
    expect(tokenIn(rowOf(id), entry)).toBe("ty_secret");
    expect(JSON.stringify(toOwnEntry(rowOf(id), "toolyard", { kind: "url", url }))).not.toContain("Authorization");
  });

  test("starts a command where the client, or its user, wants one", () => {
    expect(toOwnEntry(rowOf("claude-desktop"), "toolyard", stdio)).toEqual({
      command: stdio.command,
      args: stdio.args,
    });
    expect(toOwnEntry(rowOf("vscode"), "toolyard", stdio)).toEqual({
      type: "stdio",
      command: stdio.command,
      args: stdio.args,
    });
    expect(toOwnEntry(rowOf("opencode"), "toolyard", stdio)).toEqual({
      type: "local",
      command: [stdio.command, ...stdio.args],
      enabled: true,
    });
    expect(() => toOwnEntry(rowOf("claude-desktop"), "toolyard", http)).toThrow("commands only");
  });

  test("keeps what its user says of limits and approvals, and nothing of another way or that hides tools", () => {
    const before = {
      command: "old",
      args: ["x"],
      env: { A: "1" },
      startup_timeout_sec: 30,
      tool_timeout_sec: 20,
      tools: { discover_mcp_tools: { approval_mode: "approve" } },
      default_tools_approval_mode: "writes",
      enabled: false,
      required: true,
      deferred: true,
    };
    const kept = {
      startup_timeout_sec: 30,
      tool_timeout_sec: 20,
      tools: before.tools,
      default_tools_approval_mode: "writes",
    };
    expect(toOwnEntry(rowOf("codex"), "toolyard", { kind: "url", url }, before)).toEqual({ url, ...kept });
    expect(toOwnEntry(rowOf("codex"), "toolyard", stdio, before)).toEqual({
      command: stdio.command,
      args: stdio.args,
      env: before.env,
      required: true,
      ...kept,
    });
    const hidden = { type: "http", url, tools: [], deferTools: "auto", timeout: 5 };
    expect(toOwnEntry(rowOf("copilot"), "toolyard", { kind: "url", url }, hidden)).toEqual({
      type: "http",
      url,
      tools: ["*"],
      deferTools: "never",
      timeout: 5,
    });
  });
});

describe("the list of what Codex shows its model", () => {
  const listedAt = ["features", "code_mode", "direct_only_tool_namespaces"];
  const target: Target = {
    row: rowOf("codex"),
    scope: "user",
    path: "config.toml",
    format: "toml",
    keyPath: ["mcp_servers"],
  };
  const name = "tool-yard.2";
  const entry = { url };
  const read = async (text: string) => await readClientText({ text, format: "toml", fileName: "config.toml" });
  const change = async (text: string, changes: Parameters<typeof planEdit>[1]) =>
    await changeClientText({ text, format: "toml", fileName: "config.toml" }, changes);

  const own = `\n[mcp_servers."tool-yard.2"]\nurl = "${url}"\n`;
  test.each([
    [
      "no list",
      "# mine\n",
      `# mine\n${own}\n[features.code_mode]\ndirect_only_tool_namespaces = [ "mcp__tool_yard_2" ]\n`,
    ],
    [
      "a table with another value",
      "[features.code_mode]\nenabled = true # on\n",
      `[features.code_mode]\ndirect_only_tool_namespaces = [ "mcp__tool_yard_2" ]\nenabled = true # on\n${own}`,
    ],
    [
      "a list on one line",
      `[features.code_mode]\ndirect_only_tool_namespaces = ["mcp__a", 'mcp__b'] # two, of "mine"\n`,
      `[features.code_mode]\ndirect_only_tool_namespaces = ["mcp__a", 'mcp__b', "mcp__tool_yard_2"] # two, of "mine"\n${own}`,
    ],
    [
      "an empty list",
      "[features]\ncode_mode.direct_only_tool_namespaces = []\n",
      `[features]\ncode_mode.direct_only_tool_namespaces = ["mcp__tool_yard_2"]\n${own}`,
    ],
    [
      "a list with comments, a comma at its end, and brackets in strings",
      `features.code_mode.direct_only_tool_namespaces = [ # all\n  "mcp__a],", # a ]\n  # none of b\n  "mcp__c", # the last\n]\n[tui]\n`,
      `features.code_mode.direct_only_tool_namespaces = [ # all\n  "mcp__a],", # a ]\n  # none of b\n  "mcp__c", # the last\n  "mcp__tool_yard_2",\n]\n[tui]\n${own}`,
    ],
    [
      "a list over lines without a comma at its end",
      `[features.code_mode]\r\ndirect_only_tool_namespaces = [\r\n\t"mcp__a", # a\r\n\t"mcp__c" # c\r\n]\r\n`,
      `[features.code_mode]\r\ndirect_only_tool_namespaces = [\r\n\t"mcp__a", # a\r\n\t"mcp__c", # c\r\n\t"mcp__tool_yard_2"\r\n]\r\n${own.replaceAll("\n", "\r\n")}`,
    ],
    [
      "dotted keys without a list",
      "[features]\ncode_mode.enabled = false\nx = 1\n",
      `[features]\ncode_mode.enabled = false\ncode_mode.direct_only_tool_namespaces = [ "mcp__tool_yard_2" ]\nx = 1\n${own}`,
    ],
  ])("gets ours where there is %s, and loses it without a trace", async (_, before, after) => {
    const changes = connectionChanges(target, await read(before), { name, entry, off: [] });
    expect(await change(before, changes)).toBe(after);
    const values = await read(after);
    expect(valueAt(values, listedAt)).toContain("mcp__tool_yard_2");
    expect(connectionChanges(target, values, { name, entry, off: [] })).toEqual([]);
    const back = await change(after, disconnectionChanges(target, values, { name, kept: [] }));
    expect(await read(back)).toEqual(await read(before.includes("= []") ? "[features]" : before));
    if (!before.includes("= []")) expect(back).toBe(before);
  });

  test("of a feature that is only switched on or off becomes a table", async () => {
    for (const isOn of [true, false]) {
      const before = `[features]\ncode_mode = ${isOn} # as I like it\nother = true\n`;
      const after = await change(before, connectionChanges(target, await read(before), { name, entry, off: [] }));
      const { features } = await read(after);
      expect(features).toEqual({
        code_mode: { enabled: isOn, direct_only_tool_namespaces: ["mcp__tool_yard_2"] },
        other: true,
      });
    }
  });

  test("of 3,000 others is changed in one place", async () => {
    const others = Array.from({ length: 3_000 }, (_, at) => `  "mcp__${at}", # ${"]".repeat(at % 7)}`);
    const before = `[features.code_mode]\ndirect_only_tool_namespaces = [\n${others.join("\n")}\n]\n`;
    const after = await change(before, connectionChanges(target, await read(before), { name, entry, off: [] }));
    expect(after).toBe(`${before.slice(0, -2)}  "mcp__tool_yard_2",\n]\n${own}`);
    expect(await change(after, disconnectionChanges(target, await read(after), { name, kept: [] }))).toBe(before);
  });

  test("inside an inline table is refused, not guessed", async () => {
    const before = "features = { code_mode = { enabled = true } }\n";
    const changes = connectionChanges(target, await read(before), { name, entry, off: [] });
    await expect(change(before, changes)).rejects.toMatchObject({ code: "CLIENT_FILE_UNUSABLE" });
  });
});

describe("in a home of its own", () => {
  let around: ClientSurroundings;
  let dataDir: string;
  beforeEach(async () => {
    const home = await realpath(await mkdtemp(join(tmpdir(), "toolyard-connection-")));
    around = { home, cwd: join(home, "project"), env: {}, platform: "linux" };
    dataDir = join(home, "data");
  });
  afterEach(async () => await rm(around.home, { recursive: true, force: true }));

  async function write(target: Target, changes: Parameters<typeof planEdit>[1]): Promise<void> {
    const opened = await openClientFile(target.path, target.format);
    await applyEdit(await planEdit(opened, changes), { dataDir, clock: systemClock });
  }

  /** As its user, without us. */
  async function writeOwn(target: Target, value: OwnEntry): Promise<void> {
    const opened = await openClientFile(target.path, target.format);
    await mkdir(dirname(target.path), { recursive: true });
    const { after } = await planEdit(opened, [{ path: entryPath(target, {}, "mine"), value }]);
    await writeFile(target.path, after);
  }

  /** What the reading side makes of it. */
  async function found({ row, scope }: Target): Promise<readonly FoundServer[]> {
    const all = await readClients({ ...around, ownUrls: ["http://127.0.0.1:3001"] });
    return all.find((client) => client.row.id === row.id)?.files.find((file) => file.scope === scope)?.servers ?? [];
  }

  test.each(
    clientTable.flatMap((row) =>
      [...new Set(row.places.map(({ scope }) => scope))].map((scope) => [row.id, scope] as const),
    ),
  )("%s (%s) is seen as connected, beside a server of its own, and is as before afterwards", async (id, scope) => {
    const row = rowOf(id);
    const target = await findTarget(row, scope, around);
    const own = toOwnEntry(row, "mine", { kind: "command", command: "mine", args: [] });
    await writeOwn(target, own);
    const before = await readFile(target.path, "utf8");
    for (const way of [stdio, ...(row.http === undefined ? [] : [http])]) {
      const { values } = await openClientFile(target.path, target.format);
      const entry = toOwnEntry(row, "toolyard", way);
      await write(target, connectionChanges(target, values, { name: "toolyard", entry, off: [] }));
      const servers = await found(target);
      expect(servers.map(({ name, gateway }) => [name, gateway?.isOurs])).toEqual([
        ["mine", undefined],
        ["toolyard", true],
      ]);
      const now = (await openClientFile(target.path, target.format)).values;
      expect(entryNamed(target, now, "toolyard")).toEqual(entry);
      expect(connectionChanges(target, now, { name: "toolyard", entry, off: [] })).toEqual([]);
    }
    const { values, file } = await openClientFile(target.path, target.format);
    const kept = await readKeptChanges(dataDir, file.realPath);
    await write(target, disconnectionChanges(target, values, { name: "toolyard", kept }));
    expect(await readFile(target.path, "utf8")).toBe(before);
  });

  test.each(clientTable.map(({ id }) => id))(
    "a server of %s is switched off beside ours, seen as off or gone, and comes back",
    async (id) => {
      const row = rowOf(id);
      const target = await findTarget(row, "user", around);
      const mine = toOwnEntry(row, "mine", { kind: "command", command: "mine", args: [] });
      await writeOwn(target, mine);
      const before = await openClientFile(target.path, target.format);
      const entry = toOwnEntry(row, "toolyard", stdio);
      await write(target, connectionChanges(target, before.values, { name: "toolyard", entry, off: ["mine"] }));
      const off = (await found(target)).find(({ name }) => name === "mine");
      if (row.switchOff === undefined) expect(off).toBeUndefined();
      else expect(off?.entry.enabled).toBe(false);
      expect((await found(target)).find(({ name }) => name === "toolyard")?.gateway?.isOurs).toBe(true);
      const undo = await planUndo(target.path, { dataDir });
      await applyUndo(undo);
      expect(await readFile(target.path, "utf8")).toBe(before.text);
    },
  );
});

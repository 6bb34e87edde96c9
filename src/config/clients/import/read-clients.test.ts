import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placesOf, type ClientSurroundings } from "../table/client-places.ts";
import { clientTable, findClient } from "../table/client-table.ts";
import { readClients, type FoundFile, type FoundServer } from "./read-clients.ts";

/**
 * A home with the folders of one system. The paths of the table are those of that system; on this machine they are made
 * with this machine's separator, so that they can be read.
 */
interface FakeHome {
  readonly surroundings: ClientSurroundings;
  write(file: string, text: string | Buffer): Promise<string>;
}

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "toolyard-homes-"));
});
afterEach(async () => await rm(root, { recursive: true, force: true }));

function fakeHome(platform: NodeJS.Platform = "linux", env: Record<string, string> = {}): FakeHome {
  const home = join(root, "ann");
  return {
    surroundings: { home, env, platform, cwd: join(home, "shop") },
    async write(file, text) {
      const path = join(home, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    },
  };
}

async function filesOf(id: string, { surroundings }: FakeHome, ownUrls: string[] = []): Promise<readonly FoundFile[]> {
  const found = await readClients({ ...surroundings, ownUrls });
  return found.find(({ row }) => row.id === id)?.files ?? [];
}

async function serversOf(id: string, home: FakeHome): Promise<readonly FoundServer[]> {
  const files = await filesOf(id, home);
  expect(files.flatMap(({ problems }) => problems)).toEqual([]);
  return files.flatMap(({ servers }) => servers);
}

const github = { command: "npx", args: ["-y", "@modelcontextprotocol/server-github"], env: { TOKEN: "${GH}" } };
const docs = { url: "https://docs.example.com/mcp", headers: { Authorization: "Bearer ${DOCS}" } };

/** The same two servers as each client writes them, and what else that client has in its file. */
const asWritten: Readonly<Record<string, { readonly text: string; readonly remote?: object }>> = {
  "claude-desktop": { text: JSON.stringify({ globalShortcut: "", mcpServers: { github } }) },
  "claude-code": {
    text: JSON.stringify({
      numStartups: 7,
      mcpServers: { github: { type: "stdio", ...github }, docs: { type: "http", ...docs } },
    }),
    remote: docs,
  },
  cursor: {
    text: `{ // mine\r\n  "mcpServers": {\r\n    "github": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": { "TOKEN": "\${env:GH}" } },\r\n    "docs": { "url": "https://docs.example.com/mcp", "headers": { "Authorization": "Bearer \${env:DOCS}" } },\r\n  },\r\n}`,
    remote: docs,
  },
  vscode: {
    text: JSON.stringify({
      inputs: [{ type: "promptString", id: "key", description: "The key", password: true }],
      servers: {
        github: { type: "stdio", ...github, env: { TOKEN: "${env:GH}" } },
        docs: { type: "http", url: docs.url, headers: { Authorization: "Bearer ${input:key}" } },
      },
    }),
    remote: { url: docs.url, headers: { Authorization: "Bearer ${input:key}" } },
  },
  windsurf: {
    text: JSON.stringify({
      mcpServers: {
        github: { ...github, env: { TOKEN: "${env:GH}" } },
        docs: { serverUrl: docs.url, headers: { Authorization: "Bearer ${env:DOCS}" } },
      },
    }),
    remote: docs,
  },
  codex: {
    text: [
      'model = "gpt-5" # what it thinks with',
      "[mcp_servers.github]",
      'command = "npx"',
      'args = ["-y", "@modelcontextprotocol/server-github"]',
      "env = { TOKEN = '${GH}' }",
      "[mcp_servers.docs]",
      'url = "https://docs.example.com/mcp"',
      'bearer_token_env_var = "DOCS"',
      "required = true",
    ].join("\r\n"),
    remote: docs,
  },
  gemini: {
    text: JSON.stringify({
      theme: "GitHub",
      mcpServers: {
        github: { ...github, env: { TOKEN: "$GH" }, trust: true },
        docs: { httpUrl: docs.url, headers: { Authorization: "Bearer $DOCS" } },
      },
    }),
    remote: docs,
  },
  zed: {
    text: `// Zed settings\n{ "theme": "One", "context_servers": {\n  "github": { "source": "custom", "command": { "path": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": { "TOKEN": "\${GH}" } } },\n  "docs": ${JSON.stringify({ ...docs, enabled: true })},\n} }`,
    remote: docs,
  },
  cline: {
    text: JSON.stringify({
      mcpServers: {
        github: { ...github, disabled: false, autoApprove: ["create_issue"] },
        docs: { type: "streamableHttp", ...docs },
      },
    }),
    remote: docs,
  },
  continue: {
    text: `name: mine\nversion: 1.0.0\nmcpServers:\n  - name: github # issues\n    command: npx\n    args: ["-y", "@modelcontextprotocol/server-github"]\n    env:\n      TOKEN: \${{ secrets.GH }}\n  - name: docs\n    type: streamable-http\n    url: https://docs.example.com/mcp\n    requestOptions:\n      headers:\n        Authorization: Bearer \${{ secrets.DOCS }}\n`,
    remote: docs,
  },
  opencode: {
    text: JSON.stringify({
      $schema: "https://opencode.ai/config.json",
      mcp: {
        github: {
          type: "local",
          command: ["npx", "-y", "@modelcontextprotocol/server-github"],
          environment: { TOKEN: "{env:GH}" },
          enabled: true,
        },
        docs: { type: "remote", url: docs.url, headers: { Authorization: "Bearer {env:DOCS}" } },
      },
    }),
    remote: docs,
  },
  lmstudio: { text: JSON.stringify({ mcpServers: { github, docs } }), remote: docs },
  copilot: {
    text: JSON.stringify({
      mcpServers: {
        github: { type: "stdio", ...github, tools: ["*"], deferTools: "never" },
        docs: { type: "http", ...docs, tools: ["*"] },
      },
    }),
    remote: docs,
  },
  qwen: {
    text: JSON.stringify({
      $version: 3,
      mcpServers: {
        github: { ...github, env: { TOKEN: "$GH" }, trust: true, alwaysLoadTools: true },
        docs: { httpUrl: docs.url, headers: { Authorization: "Bearer ${DOCS}" } },
      },
    }),
    remote: docs,
  },
  kimi: {
    text: JSON.stringify({
      mcpServers: {
        github: { transport: "stdio", ...github, enabled: true, deferred: true },
        docs: { transport: "http", url: docs.url, bearerTokenEnvVar: "DOCS" },
      },
    }),
    remote: docs,
  },
};

describe("each client's own spelling becomes ours", () => {
  // The table's paths for Windows have its separator, and cannot be opened on another system.
  const platforms = process.platform === "win32" ? (["win32"] as const) : (["darwin", "linux"] as const);
  const cases = platforms.flatMap((platform) => clientTable.map(({ id }) => [id, platform] as const));

  test.each(cases)("%s on %s", async (id, platform) => {
    const home = fakeHome(platform);
    const file = placesOf(findClient(id)!, home.surroundings)[0]?.files[0] ?? "";
    await home.write(file.slice(home.surroundings.home.length + 1), asWritten[id]?.text ?? "");
    const servers = await serversOf(id, home);
    const expected = { github, ...(asWritten[id]?.remote === undefined ? {} : { docs: asWritten[id].remote }) };
    expect(Object.fromEntries(servers.map(({ name, entry }) => [name, entry]))).toEqual(expected);
    expect(servers.map(({ place }) => place.startsWith(`${file}:`))).toEqual(servers.map(() => true));
    expect(servers.map(({ notes }) => notes)).toEqual(servers.map(() => []));
  });

  test("a home without any client has none", async () => {
    const { surroundings } = fakeHome();
    expect(await readClients({ ...surroundings, ownUrls: [] })).toEqual([]);
  });

  test("a client that is installed and has no file is there", async () => {
    const home = fakeHome();
    await mkdir(join(home.surroundings.home, ".cursor"), { recursive: true });
    const found = await readClients({ ...home.surroundings, ownUrls: [] });
    expect(found.map(({ row, files }) => [row.id, files])).toEqual([["cursor", []]]);
  });
});

describe("what is switched off in a client stays off", () => {
  const entry = { command: "x" };

  test.each<[string, string, string, object]>([
    [
      "windsurf",
      ".codeium/windsurf/mcp_config.json",
      JSON.stringify({ mcpServers: { a: { ...entry, disabledTools: ["drop"] } } }),
      { tools: { deny: ["drop"] } },
    ],
    [
      "windsurf",
      ".codeium/windsurf/mcp_config.json",
      JSON.stringify({ mcpServers: { a: { ...entry, disabled: true } } }),
      { enabled: false },
    ],
    [
      "codex",
      ".codex/config.toml",
      '[mcp_servers.a]\ncommand = "x"\nenabled_tools = ["get", "put"]\ndisabled_tools = ["put"]',
      { tools: { allow: ["get", "put"], deny: ["put"] } },
    ],
    ["codex", ".codex/config.toml", '[mcp_servers.a]\ncommand = "x"\nenabled = false', { enabled: false }],
    [
      "gemini",
      ".gemini/settings.json",
      JSON.stringify({ mcpServers: { a: { ...entry, includeTools: ["get"], excludeTools: ["put"] } } }),
      { tools: { allow: ["get"], deny: ["put"] } },
    ],
    [
      "gemini",
      ".gemini/settings.json",
      JSON.stringify({ mcp: { excluded: ["a"] }, mcpServers: { a: entry } }),
      { enabled: false },
    ],
    [
      "gemini",
      ".gemini/settings.json",
      JSON.stringify({ mcp: { allowed: ["b"] }, mcpServers: { a: entry } }),
      { enabled: false },
    ],
    [
      "cline",
      ".cline/data/settings/cline_mcp_settings.json",
      JSON.stringify({ mcpServers: { a: { ...entry, disabled: true, autoApprove: ["get"] } } }),
      { enabled: false },
    ],
    [
      "opencode",
      ".config/opencode/opencode.json",
      JSON.stringify({ mcp: { a: { type: "local", command: ["x"], enabled: false } } }),
      { enabled: false },
    ],
    [
      "opencode",
      ".config/opencode/opencode.json",
      JSON.stringify({
        tools: { a_drop: false, b_get: false, a_get: true },
        mcp: { a: { type: "local", command: ["x"] } },
      }),
      { tools: { deny: ["drop"] } },
    ],
    [
      "opencode",
      ".config/opencode/opencode.json",
      JSON.stringify({ permission: { "a*": "deny" }, mcp: { a: { type: "local", command: ["x"] } } }),
      { enabled: false },
    ],
    [
      "zed",
      ".config/zed/settings.json",
      JSON.stringify({ context_servers: { a: { ...entry, enabled: false } } }),
      { enabled: false },
    ],
    [
      "lmstudio",
      ".lmstudio/mcp.json",
      JSON.stringify({
        mcpServers: { a: { ...entry, includeTools: ["get_*", "put"], enabledTools: ["get_user", "drop"] } },
      }),
      { tools: { allow: ["get_user"] } },
    ],
  ])("%s in %s: %s", async (id, file, text, expected) => {
    const home = fakeHome();
    await home.write(file, text);
    expect((await serversOf(id, home)).map((server) => server.entry)).toEqual([{ ...entry, ...expected }]);
  });

  test("Claude Code's lists by project, and its rules", async () => {
    const home = fakeHome();
    const project = home.surroundings.cwd;
    const projects = {
      [project]: { disabledMcpServers: ["user"], disabledMcpjsonServers: ["shared"], mcpServers: { mine: entry } },
    };
    await home.write(".claude.json", JSON.stringify({ mcpServers: { user: entry, on: entry }, projects }));
    await home.write(
      "shop/.mcp.json",
      JSON.stringify({ mcpServers: { shared: { command: "y" }, other: { command: "z" } } }),
    );
    await home.write(
      "shop/.claude/settings.json",
      JSON.stringify({ permissions: { deny: ["mcp__on__drop", "mcp__other", "Bash(rm:*)"] } }),
    );
    const servers = await serversOf("claude-code", home);
    expect(Object.fromEntries(servers.map((server) => [server.name, server.entry]))).toEqual({
      user: { ...entry, enabled: false },
      on: { ...entry, tools: { deny: ["drop"] } },
      shared: { command: "y", enabled: false },
      other: { command: "z", enabled: false },
      mine: entry,
    });
  });

  test("a field that seems meant to hide tools, and that nothing reads, keeps the server out", async () => {
    const home = fakeHome();
    await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { a: { ...entry, blockedTools: ["drop"] } } }));
    const [file] = await filesOf("cursor", home);
    expect(file?.servers).toEqual([]);
    expect(file?.problems).toEqual([expect.stringContaining("mcpServers.a.blockedTools")]);
  });
});

describe("variables stay variables", () => {
  test.each<[string, string, string, object, readonly string[]]>([
    [
      "vscode",
      "shop/.vscode/mcp.json",
      '{ "servers": { "a": { "command": "${workspaceFolder}/x", "args": ["${input:key}", "${env:A}", "${workspaceFolderBasename}"] } } }',
      { command: "HOME/shop/x", args: ["${input:key}", "${A}", "shop"] },
      [],
    ],
    [
      "cursor",
      ".cursor/mcp.json",
      '{ "mcpServers": { "a": { "command": "${userHome}/x", "args": ["${workspaceFolder}", "${command:pick}"] } } }',
      { command: "${userHome}/x", args: ["${workspaceFolder}", "${command:pick}"] },
      [
        "${workspaceFolder} is filled in by the client only: put the value in its place",
        "${command:pick} is filled in by the client only: put the value in its place",
      ],
    ],
    [
      "gemini",
      ".gemini/settings.json",
      '{ "mcpServers": { "a": { "command": "x", "args": ["$A", "${B}", "cost: 5$", "$1"] } } }',
      { command: "x", args: ["${A}", "${B}", "cost: 5$", "$1"] },
      [],
    ],
    [
      "opencode",
      ".config/opencode/opencode.json",
      '{ "mcp": { "a": { "type": "local", "command": ["x", "{env:A}", "{file:~/key}"] } } }',
      { command: "x", args: ["${A}", "{file:~/key}"] },
      ["{file:~/key} is filled in by the client only: put the value in its place"],
    ],
    [
      "continue",
      ".continue/config.yaml",
      "mcpServers:\n  - name: a\n    command: x\n    args: ['${{ inputs.A }}', '${{ user.name }}']\n",
      { command: "x", args: ["${A}", "${{ user.name }}"] },
      ["${{ user.name }} is filled in by the client only: put the value in its place"],
    ],
    [
      "claude-code",
      ".claude.json",
      '{ "mcpServers": { "a": { "command": "x", "args": ["${A:-b}", "$A"] } } }',
      { command: "x", args: ["${A:-b}", "$A"] },
      [],
    ],
    [
      "codex",
      ".codex/config.toml",
      '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["A", { name = "B", source = "local" }]\n[mcp_servers.a.env]\nC = "1"',
      { command: "x", env: { A: "${A}", B: "${B}", C: "1" } },
      [],
    ],
    [
      "codex",
      ".codex/config.toml",
      '[mcp_servers.a]\nurl = "https://a"\nhttp_headers = { X = "1" }\nenv_http_headers = { Y = "KEY" }',
      { url: "https://a", headers: { X: "1", Y: "${KEY}" } },
      [],
    ],
  ])("%s in %s: %s", async (id, file, text, entry, notes) => {
    const home = fakeHome();
    await home.write(file, text);
    const [server] = await serversOf(id, home);
    expect(JSON.parse(JSON.stringify(server?.entry).replaceAll(home.surroundings.home, "HOME"))).toMatchObject(entry);
    expect(server?.notes).toEqual(notes);
  });

  test("a project's paths are made absolute, because our file stands elsewhere", async () => {
    const home = fakeHome();
    const { cwd } = home.surroundings;
    await home.write(
      "shop/.cursor/mcp.json",
      '{ "mcpServers": { "a": { "command": "./bin/x", "cwd": "sub", "envFile": ".env" }, "b": { "command": "x" } } }',
    );
    const servers = await serversOf("cursor", home);
    expect(servers.map(({ entry, project }) => [entry, project])).toEqual([
      [{ command: join(cwd, "bin/x"), cwd: join(cwd, "sub"), envFile: join(cwd, ".env") }, cwd],
      [{ command: "x" }, cwd],
    ]);
  });
});

describe("what is taken over of an address and what is not", () => {
  test.each<[string, string, string, object, readonly string[]]>([
    [
      "cline",
      ".cline/data/settings/cline_mcp_settings.json",
      '{ "mcpServers": { "a": { "url": "https://a/mcp" } } }',
      { type: "sse", url: "https://a/mcp" },
      [],
    ],
    [
      "cline",
      ".cline/data/settings/cline_mcp_settings.json",
      '{ "mcpServers": { "a": { "url": "https://a/mcp", "transportType": "http" } } }',
      { url: "https://a/mcp" },
      [],
    ],
    [
      "cursor",
      ".cursor/mcp.json",
      '{ "mcpServers": { "a": { "url": "https://a/sse" } } }',
      { type: "sse", url: "https://a/sse" },
      [],
    ],
    [
      "cursor",
      ".cursor/mcp.json",
      '{ "mcpServers": { "a": { "url": "https://a", "auth": { "CLIENT_ID": "x" }, "timeout": 5 } } }',
      { url: "https://a" },
      ["not taken over: auth, timeout"],
    ],
    [
      "continue",
      ".continue/config.yaml",
      "mcpServers:\n  - name: a\n    url: https://a\n    type: sse\n    requestOptions: { timeout: 5, headers: { X: y } }\n",
      { type: "sse", url: "https://a", headers: { X: "y" } },
      ["not taken over: requestOptions.timeout"],
    ],
    [
      "lmstudio",
      ".lmstudio/mcp.json",
      '{ "mcpServers": { "a": { "command": "x", "args": [3.10], "env": { "N": 12345678901234567890 } } } }',
      { command: "x", args: ["3.10"], env: { N: "12345678901234567890" } },
      [],
    ],
  ])("%s in %s: %s", async (id, file, text, entry, notes) => {
    const home = fakeHome();
    await home.write(file, text);
    const [server] = await serversOf(id, home);
    expect(server?.entry).toEqual(entry);
    expect(server?.notes).toEqual(notes);
  });

  test("opencode's second version, which has them one level deeper", async () => {
    const home = fakeHome();
    await home.write(
      ".config/opencode/opencode.jsonc",
      '{ "mcp": { "timeout": 5, "servers": { "a": { "type": "local", "command": ["x"] } } } }',
    );
    expect((await serversOf("opencode", home)).map(({ name }) => name)).toEqual(["a"]);
  });

  test("Continue's folder, with files of both formats", async () => {
    const home = fakeHome();
    await home.write("shop/.continue/mcpServers/b.yaml", "name: b\nmcpServers:\n  - name: b\n    command: x\n");
    await home.write("shop/.continue/mcpServers/a.json", '{ "mcpServers": { "a": { "command": "y" } } }');
    await home.write("shop/.continue/mcpServers/readme.md", "# no settings");
    expect((await serversOf("continue", home)).map(({ name }) => name)).toEqual(["a", "b"]);
  });
});

describe("FAULT 93: a client's file that is wrong is a problem with its place, and the others are read", () => {
  const cursor = ".cursor/mcp.json";

  test.each<[string, string, string | Buffer, RegExp]>([
    ["broken JSON", cursor, '{ "mcpServers": {\n  "a": }', /mcp\.json:2:8: expected a value/],
    ["no object", cursor, "[1]", /mcp\.json:1:1: expected a JSON object/],
    [
      "servers that are no object",
      cursor,
      '{ "mcpServers": [1] }',
      /mcp\.json:1:17: expected an object with one member per server/,
    ],
    [
      "a reserved name",
      cursor,
      '{ "mcpServers": { "__proto__": { "command": "x" } } }',
      /:1:19: the key "__proto__" is not allowed/,
    ],
    [
      "a name that stands there twice",
      cursor,
      '{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "y" } } }',
      /:1:44: the key "a" is here a second time/,
    ],
    ["an endless nesting", cursor, "[".repeat(100_000), /mcp\.json:1:66: nested deeper than 64 levels/],
    [
      "another encoding",
      cursor,
      Buffer.from("\uFEFF{}", "utf16le"),
      /mcp\.json: is written in UTF-16; save it as UTF-8/,
    ],
    ["bytes that are no text", cursor, Buffer.from([0x7b, 0xff, 0x7d]), /mcp\.json: is not valid UTF-8/],
    [
      "more than is read",
      cursor,
      Buffer.alloc(17 * 1_048_576, 32),
      /mcp\.json: 17825792 bytes are more than the limit of 16777216/,
    ],
    [
      "an address of another kind",
      cursor,
      '{ "mcpServers": { "a": { "url": "file:///etc/passwd" } } }',
      /mcpServers\.a\.url: expected an http\(s\) URL/,
    ],
    [
      "an entry that is no object",
      cursor,
      '{ "mcpServers": { "a": "x" } }',
      /:1:24: mcpServers\.a: expected an object/,
    ],
    [
      "broken TOML",
      ".codex/config.toml",
      '[mcp_servers.a]\ncommand = "secret-value\n',
      /config\.toml:2:\d+: (?!.*secret-value)/,
    ],
    [
      "a wrong TOML entry, at its table",
      ".codex/config.toml",
      'model = "x"\n\n[mcp_servers."my server"]\nargs = []\n',
      /config\.toml:3: mcp_servers\["my server"\]: expected `command`/,
    ],
    [
      "broken YAML",
      ".continue/config.yaml",
      "mcpServers: [\na: secret-value",
      /config\.yaml:\d+:\d+: (?!.*secret-value)/,
    ],
    [
      "YAML that grows without end",
      ".continue/config.yaml",
      `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi".replaceAll(/./g, (name) => `${name}: &${name} [${`*${String.fromCodePoint((name.codePointAt(0) ?? 0) - 1)},`.repeat(9)}]\n`)}`,
      /config\.yaml:1:1: has too many aliases/,
    ],
    ["deep YAML", ".continue/config.yaml", `a: ${"[".repeat(50_000)}`, /config\.yaml:\d+:\d+: /],
    [
      "an extension's server",
      ".config/zed/settings.json",
      '{ "context_servers": { "a": { "settings": {} } } }',
      /an extension of Zed/,
    ],
  ])("%s", async (_what, file, text, expected) => {
    const home = fakeHome();
    await home.write(file, text);
    await home.write(".lmstudio/mcp.json", '{ "mcpServers": { "good": { "command": "x" } } }');
    const found = await readClients({ ...home.surroundings, ownUrls: [] });
    const problems = found.flatMap(({ files }) => files.flatMap((one) => one.problems));
    expect(problems).toEqual([expect.stringMatching(expected)]);
    expect(found.flatMap(({ files }) => files.flatMap(({ servers }) => servers.map(({ name }) => name)))).toEqual([
      "good",
    ]);
  });

  test("a folder, a link to nowhere, a link to itself and a pipe in place of a file", async () => {
    const home = fakeHome();
    const inHome = (file: string) => join(home.surroundings.home, file);
    await mkdir(inHome(".cursor/mcp.json"), { recursive: true });
    await mkdir(inHome(".lmstudio"));
    await symlink(inHome("nowhere"), inHome(".lmstudio/mcp.json"));
    await mkdir(inHome(".gemini"));
    await symlink(inHome(".gemini/settings.json"), inHome(".gemini/settings.json"));
    await mkdir(inHome(".codex"));
    execFileSync("mkfifo", [inHome(".codex/config.toml")]);
    const found = await readClients({ ...home.surroundings, ownUrls: [] });
    expect(Object.fromEntries(found.map(({ row, files }) => [row.id, files[0]?.problems]))).toEqual({
      cursor: [`${inHome(".cursor/mcp.json")}: is a directory; expected a file`],
      lmstudio: [`${inHome(".lmstudio/mcp.json")}: is a symbolic link that leads nowhere`],
      gemini: [`${inHome(".gemini/settings.json")}: is a symbolic link that leads nowhere`],
      codex: [`${inHome(".codex/config.toml")}: is no regular file`],
    });
  });

  test("a link to a file in a folder of dotfiles is followed, and where it leads is told", async () => {
    const home = fakeHome();
    const real = await home.write("dotfiles/cursor.json", '\uFEFF{ "mcpServers": { "a": { "command": "x" } } }');
    await mkdir(join(home.surroundings.home, ".cursor"));
    await symlink(real, join(home.surroundings.home, ".cursor/mcp.json"));
    const [file] = await filesOf("cursor", home);
    expect([file?.realPath, file?.servers.map(({ name }) => name)]).toEqual([real, ["a"]]);
  });

  test("servers that are null are none, and a single one that is null costs only itself", async () => {
    const home = fakeHome();
    await home.write(".cursor/mcp.json", '\uFEFF{ "mcpServers": null }');
    await home.write(
      ".lmstudio/mcp.json",
      '{ "mcpServers": { "a": null, "b": { "command": "b", "env": [], "args": null, "url": "" } } }',
    );
    expect(await serversOf("cursor", home)).toEqual([]);
    const [file] = await filesOf("lmstudio", home);
    expect(file?.servers.map(({ name, entry }) => [name, entry])).toEqual([["b", { command: "b" }]]);
    expect(file?.problems).toEqual([expect.stringContaining("mcpServers.a: expected an object")]);
  });

  test("an empty file has no servers and is no problem", async () => {
    const home = fakeHome();
    await home.write(cursor, " \r\n");
    expect(await filesOf("cursor", home)).toMatchObject([{ servers: [], problems: [] }]);
  });
});

describe("an entry that leads to a gateway is known", () => {
  test.each<[object, string | undefined, boolean]>([
    [{ command: "toolyard", args: ["stdio"] }, "Toolyard", true],
    [{ command: "npx", args: ["-y", "toolyard@0.1.0", "stdio"] }, "Toolyard", true],
    [{ command: "C:\\npm\\toolyard.cmd", args: ["stdio", "--config", "a.json"] }, "Toolyard", true],
    [{ command: "node", args: ["/opt/toolyard/dist/cli/main.js", "stdio"] }, "Toolyard", true],
    [{ url: "http://localhost:3001/mcp" }, "Toolyard", true],
    [{ command: "npx", args: ["mcp-remote", "http://127.0.0.1:3001/mcp"] }, "Toolyard", true],
    [{ url: "http://localhost:3002/mcp" }, undefined, false],
    [{ command: "npx", args: ["-y", "toolyard-notes"] }, undefined, false],
    [{ command: "docker", args: ["mcp", "gateway", "run"] }, "Docker MCP Gateway", false],
    [{ command: "docker", args: ["run", "-i", "mcp/gateway"] }, undefined, false],
    [{ command: "npx", args: ["-y", "@metamcp/mcp-server-metamcp@latest"] }, "MetaMCP", false],
    [{ url: "https://hub.example.com/metamcp/team/mcp" }, "MetaMCP", false],
    [{ command: "/usr/local/bin/mcpproxy", args: ["serve"] }, "mcpproxy", false],
    [{ command: "npx", args: ["-y", "@1mcp/agent"] }, "1MCP", false],
    [{ url: "http://localhost:37373/mcp" }, "mcp-hub", false],
  ])("%j", async (entry, name, isOurs) => {
    const home = fakeHome();
    await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { a: entry } }));
    const [file] = await filesOf("cursor", home, ["http://127.0.0.1:3001"]);
    expect(file?.servers[0]?.gateway).toEqual(name && { name, isOurs });
  });
});

describe("one real file is one file", () => {
  /** Where clients keep both the user's servers and, in each project, that project's. */
  const files = Object.entries({
    cursor: [".cursor/mcp.json", "mcpServers"],
    gemini: [".gemini/settings.json", "mcpServers"],
    zed: [".zed/settings.json", "context_servers", ".config/zed/settings.json"],
    vscode: [".vscode/mcp.json", "servers", ".config/Code/User/mcp.json"],
    opencode: ["opencode.json", "mcp", ".config/opencode/opencode.json"],
  });

  test.each(files)(
    "of %s in the home folder, and in a folder that a link leads to",
    async (id, [project, key, user]) => {
      const home = fakeHome();
      const entry = id === "opencode" ? { type: "local", command: ["./bin/one"] } : { command: "./bin/one" };
      const written = await home.write(user ?? project!, JSON.stringify({ [key!]: { one: entry } }));
      const inFolder = async (cwd: string) =>
        (await filesOf(id, { ...home, surroundings: { ...home.surroundings, cwd } })).map(
          ({ path, scope, servers }) => [
            [path, scope],
            servers.map((server) => [server.entry.command, server.project]),
          ],
        );
      const ofUser = [[[written, "user"], [["./bin/one", undefined]]]];
      const { home: folder, cwd } = home.surroundings;
      expect(await inFolder(cwd)).toEqual(ofUser);
      await mkdir(dirname(join(cwd, project!)), { recursive: true });
      await symlink(written, join(cwd, project!));
      expect(await inFolder(cwd)).toEqual(ofUser);
      if (user !== undefined) return;
      expect(await inFolder(folder)).toEqual(ofUser);
      await symlink(folder, join(root, "link"));
      expect(await inFolder(join(root, "link"))).toEqual(ofUser);
    },
  );

  test("of Codex, in TOML; what Claude Code has for one project stands in the user's file, and is another place", async () => {
    const home = fakeHome();
    const { home: folder } = home.surroundings;
    const there = { ...home, surroundings: { ...home.surroundings, cwd: folder } };
    await home.write(".codex/config.toml", '[mcp_servers.one]\ncommand = "./bin/one"\n');
    const local = { projects: { [folder]: { mcpServers: { mine: { command: "b" } } } } };
    await home.write(".claude.json", JSON.stringify({ mcpServers: { one: { command: "a" } }, ...local }));
    expect((await serversOf("codex", there)).map(({ name, project }) => [name, project])).toEqual([["one", undefined]]);
    expect((await serversOf("claude-code", there)).map(({ name }) => name)).toEqual(["one", "mine"]);
  });
});

import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placesOf, type ClientSurroundings } from "./client-places.ts";
import { clientTable, findClient } from "./client-table.ts";
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

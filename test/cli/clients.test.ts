import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway } from "../harness/gateway.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

async function write(file: string, content: object): Promise<string> {
  const path = join(home, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(content));
  return path;
}

const env = () => ({ HOME: home, XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "", CODEX_HOME: "", GEMINI_CLI_HOME: "" });

test("clients are listed with their files, their gateway, and the sessions that are open now", async () => {
  const directory = join(home, "gateway");
  await mkdir(directory);
  await using gateway = await startGateway({ config: { mcpServers: {} }, directory });
  const { origin } = new URL(gateway.url);
  const cursor = await write(".cursor/mcp.json", {
    mcpServers: { toolyard: { url: `${origin}/mcp` }, own: { command: "x" } },
  });
  const zed = await write(".config/zed/settings.json", {
    context_servers: { hub: { command: "docker", args: ["mcp", "gateway", "run"] } },
  });
  const broken = await write(".lmstudio/mcp.json", { mcpServers: 7 });
  const client = new Client({ name: "cursor-vscode", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
  const unknown = new Client({ name: "my-agent", version: "1" });
  await unknown.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));

  const list = async (...more: string[]) =>
    await runCommand(
      ["clients", "--data-dir", join(directory, "data"), "--config", join(directory, "toolyard.json"), ...more],
      env(),
    );
  const { code, stdout, stderr } = await list();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.split("\n").map((line) => line.replace(/ {2,}/g, " | "))).toEqual([
    "CLIENT | SERVERS | GATEWAY | SESSIONS | FILE",
    `Cursor | 1 | this one | 1 | ${cursor}`,
    `Zed | 0 | Docker MCP Gateway | - | ${zed}`,
    `LM Studio | 0 | - | - | ${broken}`,
    "my-agent | - | - | 1 | no servers of its own",
    `! ${broken}:1:15: expected an object with one member per server`,
    "",
  ]);
  await client.close();
  await unknown.close();

  const { clients } = JSON.parse((await list("--json")).stdout) as { clients: object[] };
  expect(clients[0]).toEqual({
    id: "cursor",
    client: "Cursor",
    files: [
      {
        file: cursor,
        scope: "user",
        servers: 1,
        gateways: ["Toolyard"],
        isConnected: true,
        isUndoable: false,
        problems: [],
      },
    ],
    sessions: expect.any(Number),
  });
});

test("without a gateway, sessions are not known, and a home without clients says so", async () => {
  expect((await runCommand(["clients", "--data-dir", join(home, "data")], env())).stdout).toBe(
    "No AI client was found.\n",
  );
  await write(".cursor/mcp.json", { mcpServers: { toolyard: { url: "http://localhost:3001/mcp" } } });
  const { stdout } = await runCommand(["clients", "--data-dir", join(home, "data"), "--json"], env());
  expect(JSON.parse(stdout)).toMatchObject({
    clients: [{ id: "cursor", sessions: null, files: [{ isConnected: true }] }],
  });
});

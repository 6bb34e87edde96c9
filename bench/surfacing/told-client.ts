import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../../test/harness/gateway.ts";
import { untilOnline } from "../../test/harness/rest.ts";
import { rpc } from "../../test/harness/rpc.ts";
import type { CorpusTool } from "../retrieval/data.ts";
import type { ClientTool } from "./client-searches.ts";

/** What a gateway told a client when it connected. */
export interface ToldClient {
  readonly instructions: string;
  readonly tools: readonly Omit<ClientTool, "server" | "instructions">[];
}

const serverFile = fileURLToPath(new URL("../servers/definitions.mjs", import.meta.url));

/**
 * Starts the built gateway before real processes that offer the definitions of these servers, and asks it as Codex and
 * as Claude Code do.
 */
export async function askGateway(
  tools: readonly CorpusTool[],
  behind: readonly string[],
): Promise<{ readonly codex: ToldClient; readonly claude: ToldClient }> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-surfacing-"));
  try {
    const file = join(directory, "definitions.json");
    await writeFile(file, JSON.stringify(tools));
    const entry = (server: string) => ({ command: process.execPath, args: [serverFile, file, server] });
    const mcpServers = Object.fromEntries(behind.map((server) => [server, entry(server)]));
    await using gateway = await startGateway({ config: { mcpServers } });
    if (behind.length > 0) await untilOnline(gateway.url);
    const url = `${gateway.url}/mcp`;
    return { codex: await connectAs("codex-mcp-client", url), claude: await connectAs("claude-code", url) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function connectAs(name: string, url: string): Promise<ToldClient> {
  const started = await rpc(url, "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name, version: "1" },
  });
  const session = { "mcp-session-id": started.headers["mcp-session-id"] as string };
  const listed = await rpc(url, "tools/list", {}, session);
  return {
    instructions: (started.json.result.instructions ?? "") as string,
    tools: listed.json.result.tools as ToldClient["tools"],
  };
}

import type { Config } from "../config/config.ts";
import type { Fleet } from "../instance/fleet.ts";

/** What a user pastes into a client. */
export function clientHelp(url: string, config: Config): string {
  const needsToken = config.settings.auth.tokenHashes.length > 0 || config.people.principals.size > 0;
  const servers = {
    toolyard: {
      type: "http",
      url: `${url}/mcp`,
      ...(needsToken ? { headers: { Authorization: "Bearer <token>" } } : {}),
    },
  };
  const header = needsToken ? ' --header "Authorization: Bearer <token>"' : "";
  return `
  MCP       ${url}/mcp   (also /mcp/flat, /mcp/namespaces, /mcp/server/<name>)
  REST      ${url}/documentation

  For Claude Code:  claude mcp add --transport http toolyard ${url}/mcp${header}
  For Cursor and others, in their MCP settings:
    ${JSON.stringify({ mcpServers: servers })}
  For VS Code, in .vscode/mcp.json:
    ${JSON.stringify({ servers })}

`;
}

/** One line per server as it comes up, or does not. */
export async function reportServers(fleet: Fleet, print: (line: string) => void): Promise<void> {
  const waiting = AbortSignal.timeout(120_000);
  await Promise.all(
    fleet.all().map(async (instance) => {
      await instance.settled(waiting);
      const { status, reason, dormant } = instance.standing();
      const tools = fleet.toolCount(instance.id);
      const state =
        status === "online"
          ? `${tools} tools${dormant ? " (starts when needed)" : ""}`
          : `${status}${reason === "" ? "" : `: ${reason}`}`;
      print(`  ${instance.server.slug.padEnd(20)} ${state}\n`);
    }),
  );
}

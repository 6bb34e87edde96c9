import { join } from "node:path";
import type { Gateway } from "../app/gateway.ts";
import type { Config } from "../config/config.ts";

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

/** What to do where there are no servers; nothing where there are some. */
export function missingServersHelp({ file, servers }: Config, cwd: string): string {
  if (servers.length > 0) return "";
  const entry = '{ "mcpServers": { "<name>": { "command": "<program>", "args": [] } } }';
  return file === undefined
    ? `  There are no servers, because no configuration file was found. Write ${join(cwd, "toolyard.json")}
  and start again, or name another file with --config:
    ${entry}

`
    : `  There are no servers in ${file}. Add them; no restart is needed:
    ${entry}

`;
}

/** One line per server as it comes up, or does not; no more when the gateway stops. */
export async function reportServers(
  gateway: Pick<Gateway, "fleet" | "toolCount">,
  print: (line: string) => void,
  stopping: AbortSignal,
): Promise<void> {
  const waiting = AbortSignal.timeout(120_000);
  await Promise.all(
    gateway.fleet.all().map(async (instance) => {
      await instance.settled(waiting);
      if (stopping.aborted) return;
      const { status, reason, dormant } = instance.standing();
      const tools = gateway.toolCount(instance);
      const state =
        status === "online"
          ? `${tools} tools${dormant ? " (starts when needed)" : ""}`
          : `${status}${reason === "" ? "" : `: ${reason}`}`;
      print(`  ${instance.server.slug.padEnd(20)} ${state}\n`);
    }),
  );
}

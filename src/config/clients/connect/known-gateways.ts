import type { ImportedEntry } from "./client-entry.ts";

/** What an entry leads to when it is no server but another gateway, or this one. */
export interface GatewayFound {
  readonly name: string;
  /** Whether it is Toolyard. */
  readonly isOurs: boolean;
}

interface GatewayRow {
  readonly name: string;
  /** Matched against the program's name and the arguments, joined by spaces, without versions. */
  readonly command?: RegExp;
  /** Matched against an address. */
  readonly url?: RegExp;
}

/**
 * Gateways that people put in place of their servers. By the commands and addresses that their own manuals tell
 * people to write into a client's file.
 */
const others: readonly GatewayRow[] = [
  // https://docs.docker.com/ai/mcp-catalog-and-toolkit/
  { name: "Docker MCP Gateway", command: /\bdocker(?:-mcp)? (?:mcp )?gateway run\b/ },
  // https://github.com/metatool-ai/metamcp
  { name: "MetaMCP", command: /@metamcp\/mcp-server-metamcp\b/, url: /\/metamcp\/[^/]+\/(?:mcp|sse)\b/ },
  // https://github.com/smart-mcp-proxy/mcpproxy-go
  { name: "mcpproxy", command: /(?:^| )mcpproxy\b/ },
  // https://github.com/1mcp-app/agent
  { name: "1MCP", command: /@1mcp\/agent\b|(?:^| )1mcp\b/ },
  // https://github.com/mcp-router/mcp-router
  { name: "MCP Router", command: /@mcp_router\/cli\b|(?:^| )mcpr-cli\b/ },
  // https://github.com/samanhappy/mcphub
  { name: "MCPHub", command: /@samanhappy\/mcphub\b/ },
  // https://github.com/ravitemer/mcp-hub, at its port
  { name: "mcp-hub", command: /(?:^| )mcp-hub\b/, url: /^https?:\/\/(?:localhost|127\.0\.0\.1):37373\// },
  // https://github.com/pathintegral-institute/mcpm.sh
  { name: "MCPM", command: /(?:^| )mcpm (?:run|profile run|router)\b/ },
  // https://github.com/VeriTeknik/pluggedin-mcp-proxy
  { name: "plugged.in", command: /@pluggedin\/pluggedin-mcp-proxy\b/ },
  // https://github.com/IBM/mcp-context-forge
  { name: "ContextForge", command: /\bmcpgateway\.(?:wrapper|translate)\b|\bmcp-contextforge-gateway\b/ },
  // https://github.com/director-run/director
  { name: "Director", command: /@director\.run\/cli\b/, url: /^https?:\/\/(?:localhost|127\.0\.0\.1):3673\// },
  // https://github.com/agentgateway/agentgateway
  { name: "agentgateway", command: /(?:^| )agentgateway\b/ },
];

/**
 * The gateway that an entry leads to; undefined for a server. `ownUrls` are the origins at which this machine's
 * Toolyard listens, such as `http://127.0.0.1:3001`: an address alone does not say what answers there.
 */
export function findGatewayIn(entry: ImportedEntry, ownUrls: readonly string[]): GatewayFound | undefined {
  const line = commandLine(entry);
  // `mcp-remote http://...` and the like stand between a client and an address.
  const addresses = [entry.url, ...(entry.args ?? [])].filter(
    (text) => text !== undefined && /^https?:\/\//.test(text),
  );
  if (isOwnCommand(line) || addresses.some((url) => isAt(url ?? "", ownUrls)))
    return { name: "Toolyard", isOurs: true };
  const row = others.find(
    ({ command, url }) =>
      command?.test(line) === true || addresses.some((address) => url?.test(address ?? "") === true),
  );
  return row && { name: row.name, isOurs: false };
}

function commandLine({ command, args }: ImportedEntry): string {
  if (command === undefined) return "";
  const program = (command.split(/[/\\]/).at(-1) ?? "").replace(/\.(exe|cmd|bat|ps1)$/i, "");
  return [program, ...(args ?? [])].map((word) => word.replace(/(?<=.)@[\w.^~-]+$/, "")).join(" ");
}

/** `toolyard stdio`, `npx -y toolyard stdio`, `node /opt/toolyard/dist/cli/main.js stdio`. */
function isOwnCommand(line: string): boolean {
  const isNamed = /(?:^|[ /\\])toolyard(?:[/\\]dist[/\\]cli[/\\]main\.js)?(?= )/.test(line);
  const isBuilt = /(?:^|[ /\\])dist[/\\]cli[/\\]main\.js stdio\b/.test(line);
  return (isNamed && / (?:stdio|serve)\b/.test(line)) || isBuilt;
}

function isAt(url: string, origins: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  const here = `${protocol}//${host.replace(/^(?:localhost|\[::1\]|0\.0\.0\.0)(?=:|$)/, "127.0.0.1")}`;
  return origins.includes(here);
}

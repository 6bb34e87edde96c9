import type { Transport } from "./config.ts";
import { hasProcess } from "./transports.ts";

/**
 * Packages whose servers ask a client for its roots, and serve those instead of what they were started with. A server
 * that is told of no roots does not ask, so that it cannot be seen: these are known. docs/roots.md lists them.
 */
export const askingPackages: readonly string[] = [
  "@modelcontextprotocol/server-filesystem",
  "@playwright/mcp",
  "mcp-server-git",
  "rust-mcp-filesystem",
];

/**
 * Whether the command starts one of those: by its name or package (`npx -y NAME@1`, `uvx NAME`), or from its
 * installed folder.
 */
export function asksForRoots(transport: Transport): boolean {
  if (!hasProcess(transport)) return false;
  const words = [transport.command, ...transport.args].map((word) => word.replaceAll("\\", "/"));
  return words.some((word) => askingPackages.some((name) => isOf(word, name)));
}

function isOf(word: string, name: string): boolean {
  const unversioned = word.replace(/(?<=.)(@|==)[^/@]*$/, "");
  // Packages of MCP itself install a command of this form.
  const command = name.replace(/^@modelcontextprotocol\//, "mcp-");
  return unversioned === name || word.split("/").at(-1) === command || word.includes(`/node_modules/${name}/`);
}

import type { Transport } from "../config.ts";
import { hasProcess } from "./transports.ts";

/**
 * Packages whose servers ask a client for its roots, and then serve those in place of the folders that they were
 * started with. The list is needed because a server asks only a client that offers roots, so that nothing shows it
 * beforehand. docs/roots.md lists them.
 */
export const askingPackages: readonly string[] = [
  "@modelcontextprotocol/server-filesystem",
  "@playwright/mcp",
  "mcp-server-git",
  "rust-mcp-filesystem",
];

/**
 * Whether the command starts one of these servers: by name or package (`npx -y NAME@1`, `uvx NAME`), or from its
 * installed folder.
 */
export function asksForRoots(transport: Transport): boolean {
  if (!hasProcess(transport)) return false;
  const words = [transport.command, ...transport.args].map((word) => word.replaceAll("\\", "/"));
  return words.some((word) => askingPackages.some((name) => isOf(word, name)));
}

function isOf(word: string, name: string): boolean {
  const unversioned = word.replace(/(?<=.)(@|==)[^/@]*$/, "");
  // MCP's own packages install a command with this prefix.
  const command = name.replace(/^@modelcontextprotocol\//, "mcp-");
  return unversioned === name || word.split("/").at(-1) === command || word.includes(`/node_modules/${name}/`);
}

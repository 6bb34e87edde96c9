import type { Document, Path } from "./document.ts";
import { pathText, refuse } from "./check.ts";

/** Where the entries of servers stand in a file, whichever client wrote it. */
export interface ServerPlace {
  readonly key: string;
  readonly path: Path;
}

/**
 * Every server entry of a file, in the order of the file: `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf, Cline,
 * Gemini), `servers` (VS Code's mcp.json) and `mcp.servers` (VS Code's settings.json).
 */
export function findServers(document: Document): ServerPlace[] {
  return serverObjects(document).flatMap((path) => {
    const value = document.value(path);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return refuse({ document, path }, "expected an object with one member per server");
    }
    return document.keys(path).map((key) => ({ key, path: [...path, key] }));
  });
}

function serverObjects(document: Document): Path[] {
  const candidates: Path[] = [["mcpServers"], ["servers"], ["mcp", "servers"], ["mcp", "mcpServers"]];
  return candidates.filter((path) => document.value(path) !== undefined);
}

const knownTop: readonly string[] = [
  "mcpServers",
  "servers",
  "mcp",
  "toolyard",
  "namespaceSupport",
  "performance",
  "inputs",
  "$schema",
];

/** Other clients keep much in the same file, so that unknown fields beside the servers make one warning, not fifty. */
export function unknownTopFields(document: Document): string[] {
  const unknown = document.keys([]).filter((key) => !knownTop.includes(key));
  const first = unknown[0];
  if (first === undefined) return [];
  const names = unknown.slice(0, 5).map((key) => pathText([key]));
  const more = unknown.length > names.length ? ` and ${unknown.length - names.length} more` : "";
  return [`${document.place([first])}: unknown fields, ignored: ${names.join(", ")}${more}`];
}

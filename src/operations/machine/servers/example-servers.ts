import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ImportedEntry } from "../../../config/clients/connect/client-entry.ts";

/** The folder of this package, from dist/cli. */
const root = fileURLToPath(new URL("../..", import.meta.url));

const scope = "@modelcontextprotocol";

/**
 * Three real servers that need no account, and touch nothing of their user's: one to try, files that come with this
 * package, and a memory in the data directory. From a clone they are there already; elsewhere npx fetches them.
 */
export function exampleServers(dataDir: string): readonly (readonly [string, ImportedEntry])[] {
  const start = (name: string, ...args: readonly string[]): ImportedEntry => {
    const file = join(root, "node_modules", scope, name, "dist", "index.js");
    return existsSync(file)
      ? { command: process.execPath, args: [file, ...args] }
      : { command: "npx", args: ["-y", `${scope}/${name}`, ...args] };
  };
  return [
    ["everything", start("server-everything", "stdio")],
    ["files", start("server-filesystem", join(root, "examples", "files"))],
    ["memory", { ...start("server-memory"), env: { MEMORY_FILE_PATH: join(dataDir, "example-memory.jsonl") } }],
  ];
}

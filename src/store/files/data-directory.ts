import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Makes a folder that only its owner can read, with its parents, and returns its path. Throws CONFIG_INVALID when
 * that fails.
 */
export function openDirectory(directory: string): string {
  try {
    makeDirectory(directory);
  } catch (error) {
    throw new GatewayError(
      "CONFIG_INVALID",
      `the data directory ${directory} cannot be created: ${error instanceof Error ? error.message : String(error)}`,
      { hint: "Choose another directory with --data-dir." },
    );
  }
  return directory;
}

/**
 * Makes missing parents as `recursive` does. That option is not used because it never returns where a file system
 * reports ENOENT for an existing folder (/proc).
 */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Not an error when another process has just made it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

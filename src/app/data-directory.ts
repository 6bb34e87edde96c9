import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { GatewayError } from "../kernel/gateway-error.ts";

/**
 * Makes a folder for its owner only, with its parents, and gives its path back. Throws CONFIG_INVALID when that
 * cannot be done.
 */
export function openDirectory(directory: string): string {
  try {
    makeDirectory(directory);
  } catch (error) {
    throw new GatewayError(
      "CONFIG_INVALID",
      `the data directory ${directory} cannot be made: ${error instanceof Error ? error.message : String(error)}`,
      { hint: "Choose another one with --data-dir." },
    );
  }
  return directory;
}

/**
 * With its parents, as `recursive` does; but that never returns where a file system says ENOENT of a place that is
 * there (/proc).
 */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

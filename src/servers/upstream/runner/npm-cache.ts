import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../../process/child-environment.ts";

/** The folder that npx installs into, under every name that messages may use: the configured one and the real one. */
export interface NpxFolders {
  readonly names: readonly string[];
}

/**
 * Finds the folder in which npx with these variables keeps what it installs. Undefined when there is none, or it is a
 * link; then nothing in it is touched. A cache that only an `.npmrc` names is not found.
 */
export async function findNpxFolders(environment: Environment): Promise<NpxFolders | undefined> {
  const cache = environment["npm_config_cache"] ?? environment["NPM_CONFIG_CACHE"] ?? defaultCache(environment);
  if (cache === undefined || cache === "") return undefined;
  const configured = join(cache, "_npx");
  try {
    if (!(await lstat(configured)).isDirectory()) return undefined;
    const real = await realpath(configured);
    return { names: real === configured ? [real] : [real, configured] };
  } catch {
    return undefined;
  }
}

function defaultCache({ HOME, LOCALAPPDATA }: Environment): string | undefined {
  if (process.platform === "win32") return LOCALAPPDATA === undefined ? undefined : join(LOCALAPPDATA, "npm-cache");
  return HOME === undefined ? undefined : join(HOME, ".npm");
}

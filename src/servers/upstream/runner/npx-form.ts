import { createHash } from "node:crypto";
import type { Transport } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../../process/child-environment.ts";

/**
 * A command `npx [-y|--yes] name[@range] args...` and nothing else, for which the install folder is known without
 * asking npm.
 */
export interface NpxForm {
  /** The package as written in the command, such as `@scope/name@^1`. */
  readonly specification: string;
  readonly args: readonly string[];
}

/** A package name of the registry with an optional version, range or tag; no folder, URL or repository. */
const registryName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(@[^/:\\]+)?$/i;

/** The parts of such a command; undefined for any other. */
export function npxFormOf(transport: Transport): NpxForm | undefined {
  if (!hasProcess(transport) || !/(^|\/)npx$/.test(transport.command)) return undefined;
  const isAgreed = transport.args[0] === "-y" || transport.args[0] === "--yes";
  const [specification, ...args] = isAgreed ? transport.args.slice(1) : transport.args;
  if (specification === undefined || specification.startsWith("-") || !registryName.test(specification))
    return undefined;
  return { specification, args };
}

/** The name of the folder in `_npx` that npm installs a single package into, computed as libnpmexec does. */
export function npxFolderName(specification: string): string {
  return createHash("sha512").update(specification).digest("hex").slice(0, 16);
}

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

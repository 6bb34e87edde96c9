import { posix, win32 } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Variables } from "./substitution.ts";

export interface HomeDirectories {
  /** Where the user's own toolyard.json is searched for. */
  readonly config: string;
  /** Where catalogs, tokens and the lock file are kept. Not created here. */
  readonly data: string;
}

/**
 * The platform's usual places: XDG on Linux and the like, Library on macOS, AppData on Windows. `home` (os.homedir())
 * is for machines whose environment does not name a home directory. Throws GatewayError CONFIG_INVALID when neither
 * does.
 */
export function homeDirectories(env: Variables, platform: NodeJS.Platform, home?: string): HomeDirectories {
  const own = (platform === "win32" ? env["USERPROFILE"] : env["HOME"]) || home;
  if (platform === "win32") {
    const roaming = env["APPDATA"] || win32.join(needed(own, "APPDATA"), "AppData", "Roaming");
    const local = env["LOCALAPPDATA"] || win32.join(needed(own, "LOCALAPPDATA"), "AppData", "Local");
    return { config: win32.join(roaming, "toolyard"), data: win32.join(local, "toolyard") };
  }
  if (platform === "darwin") {
    const support = posix.join(needed(own, "HOME"), "Library", "Application Support", "toolyard");
    return { config: support, data: support };
  }
  const config = absolute(env["XDG_CONFIG_HOME"]) ?? posix.join(needed(own, "HOME"), ".config");
  const data = absolute(env["XDG_DATA_HOME"]) ?? posix.join(needed(own, "HOME"), ".local", "share");
  return { config: posix.join(config, "toolyard"), data: posix.join(data, "toolyard") };
}

/** The XDG specification says that relative paths are invalid and must be ignored. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && posix.isAbsolute(path) ? path : undefined;
}

function needed(path: string | undefined, variable: string): string {
  if (path) return path;
  throw new GatewayError("CONFIG_INVALID", `no home directory: ${variable} is not set`, {
    hint: "Set it, or give --data-dir and --config.",
  });
}

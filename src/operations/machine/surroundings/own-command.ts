import { accessSync, constants, realpathSync } from "node:fs";
import type { Surroundings } from "./surroundings.ts";
import { delimiter, join, sep } from "node:path";
import { spawn } from "node:child_process";

/** A command that clients can start, whatever folder they are in. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether the next clean-up of npm's cache takes it away: then the client has to be connected again. */
  readonly isTemporary: boolean;
}

export interface OwnCommandOptions {
  /** The file that runs, and the Node that runs it. */
  readonly mainFile: string;
  readonly node: string;
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Whether the client is started in a terminal, and has its PATH. */
  readonly isTerminal: boolean;
}

/**
 * How this very program is started: by its name where the PATH has it, otherwise by Node and its file. Never through
 * `npx`, which would fetch whatever has the name at that moment. On Windows, always by its file: the name is a script
 * there, which most clients cannot start. On macOS as well for programs with windows, whose PATH has only the system's
 * own folders.
 */
export function findOwnCommand({ mainFile, node, path, platform, isTerminal }: OwnCommandOptions): OwnCommand {
  const real = follow(mainFile);
  const isTemporary = real.split(sep).includes("_npx");
  const hasName = platform === "darwin" ? isTerminal : platform !== "win32";
  return hasName && !isTemporary && firstInPath(path ?? "") === real
    ? { command: "toolyard", args: [], isTemporary }
    : { command: node, args: [real], isTemporary };
}

/** What the name starts, with links followed: another version would share nothing with this one. */
function firstInPath(path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (folder === "") continue;
    const candidate = join(folder, "toolyard");
    try {
      accessSync(candidate, constants.X_OK);
      return follow(candidate);
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

function follow(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The command of the program that runs here. */
export function ownCommandFor(
  { mainFile, env }: Pick<Surroundings, "mainFile" | "env">,
  isTerminal: boolean,
): OwnCommand {
  const { execPath: node, platform } = process;
  return findOwnCommand({ mainFile, node, path: env["PATH"], platform, isTerminal });
}

/**
 * Opens an http or https URL in the user's browser. The program gets it as one argument, never through a shell.
 * Whether it worked is not known, so the URL is printed as well.
 */
export function openBrowser(url: string, platform: NodeJS.Platform): void {
  const [command, ...args] = openerOf(platform);
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, shell: false });
  child.on("error", () => undefined);
  child.unref();
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  return platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
}

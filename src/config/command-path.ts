import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a bare command would be found; on Windows also with the usual endings. Undefined when nowhere. */
export function findInPath(command: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const isWindows = process.platform === "win32";
  const endings = isWindows ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";")] : [""];
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, command + ending)))
    .find((path) => isExecutable(path));
}

/** Whether it is a file that may be run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

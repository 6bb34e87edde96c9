import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a bare command would be found; on Windows also with the usual endings. Undefined when nowhere. */
export function findInPath(command: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders
    .flatMap((folder) => endingsOf(env).map((ending) => join(folder, command + ending)))
    .find((path) => isExecutable(path));
}

/** Whether there is a file at this path; on Windows also with the usual endings of programs. */
export function isFile(path: string, env: Readonly<Record<string, string | undefined>>): boolean {
  return endingsOf(env).some((ending) => {
    try {
      return statSync(path + ending).isFile();
    } catch {
      return false;
    }
  });
}

function endingsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return process.platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";")] : [""];
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

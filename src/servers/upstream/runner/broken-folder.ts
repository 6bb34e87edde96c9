import { access, constants, lstat, rename, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { type NpxFolders, npxFolderName, type NpxForm } from "./npx-form.ts";

/**
 * How many lines after the first line of an error its path may stand. Node lists the modules that require the missing
 * one; npm has lines of its own.
 */
const linesOfOneError = 12;
const missingModule = /Cannot find (?:module|package) '([^']*)'/;
const npmError = /npm (?:error|ERR!) code (?:ENOENT|ENOTEMPTY|ENOTDIR|EEXIST|ECOMPROMISED)\b/;
const missingProgram =
  /(?:^|[:\s'])([A-Za-z0-9._-]+)'?(?:: not found|: command not found|: Permission denied| is not recognized)/;

/**
 * The name of the folder in `_npx` that a failed server complains about, because an install was cut short or npm
 * itself cannot continue there. Undefined when the error names no such folder: files missing elsewhere are the
 * server's own problem. Pure.
 */
export function brokenFolderIn(stderr: readonly string[], folders: NpxFolders): string | undefined {
  for (const [index, line] of stderr.entries()) {
    const module = missingModule.exec(line);
    const following = stderr.slice(index, index + linesOfOneError);
    if (module !== null && isPath(module[1] ?? "")) {
      const named = folderNamedIn(module[1] ?? "", folders);
      if (named !== undefined) return named;
    } else if (module !== null || npmError.test(line)) {
      const paths = module === null ? following.filter((other) => / (?:path|dest) /.test(other)) : following;
      const named = firstNamedIn(paths, folders);
      if (named !== undefined) return named;
    }
  }
  return undefined;
}

function isPath(name: string): boolean {
  return name.startsWith("/") || name.startsWith("file:") || /^[A-Za-z]:[\\/]/.test(name);
}

function firstNamedIn(lines: readonly string[], folders: NpxFolders): string | undefined {
  for (const line of lines) {
    const named = folderNamedIn(line, folders);
    if (named !== undefined) return named;
  }
  return undefined;
}

function folderNamedIn(text: string, { names }: NpxFolders): string | undefined {
  for (const name of names) {
    const start = text.indexOf(`${name}${sep}`);
    const found = start === -1 ? null : /^([0-9a-f]{16})(?![0-9a-zA-Z.-])/.exec(text.slice(start + name.length + 1));
    if (found !== null) return found[1];
  }
  return undefined;
}

/**
 * The same for a shell that does not find the program or may not execute it. Its message names no folder, but the
 * form of the command determines one; the result is that folder if the program is not in it or not executable.
 */
export async function folderWithoutProgram(
  stderr: readonly string[],
  form: NpxForm,
  [root = ""]: NpxFolders["names"],
): Promise<string | undefined> {
  const program = stderr.flatMap((line) => missingProgram.exec(line)?.[1] ?? []).at(-1);
  if (program === undefined) return undefined;
  const folder = npxFolderName(form.specification);
  const isFolder = await mayAccess(join(root, folder), constants.F_OK);
  const isProgram = await mayAccess(join(root, folder, "node_modules", ".bin", program), constants.X_OK);
  return isFolder && !isProgram ? folder : undefined;
}

async function mayAccess(path: string, mode: number): Promise<boolean> {
  return await access(path, mode).then(
    () => true,
    () => false,
  );
}

/**
 * Renames the folder, so that npx installs into a new one. Resolves to the new path. Undefined when it is not a real
 * folder, when somebody is installing into it now, or when it cannot be renamed.
 */
export async function moveAside(
  { names: [root = ""] }: NpxFolders,
  folder: string,
  nowMs: number,
): Promise<string | undefined> {
  const broken = join(root, folder);
  const aside = `${broken}.broken-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
  try {
    if (!(await lstat(broken)).isDirectory() || (await isInstalling(broken, nowMs))) return undefined;
    await rename(broken, aside);
    return aside;
  } catch {
    return undefined;
  }
}

/** npm touches this file every second during an install; an npm that was killed leaves it behind. */
async function isInstalling(folder: string, nowMs: number): Promise<boolean> {
  return await stat(join(folder, "concurrency.lock")).then(
    ({ mtimeMs }) => nowMs - mtimeMs < livingLockMs,
    () => false,
  );
}

const livingLockMs = 5_000;

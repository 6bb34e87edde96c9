import { open, readlink, stat } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../../config/words/wide-places.ts";

/** Visible in every sandbox. */
export const systemFolders: readonly string[] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Where a server's own home is, to its own eyes. No system has such a folder, so that none is covered. */
export const innerHome = "/sandbox";

export interface ProgramSearch {
  /** The value of PATH that the server gets. */
  readonly path: string;
  readonly cwd: string;
  readonly home: string | undefined;
}

/** A program and what it needs beside itself. */
export interface ProgramPlaces {
  /** Absolute; undefined where the command is found nowhere. */
  readonly file: string | undefined;
  /** Files and folders outside the system's own, as they are written. */
  readonly needs: readonly string[];
}

/** Links and interpreters that are followed from one command; a version manager takes five. */
const mostHops = 24;

/**
 * Finds a command as the system would, and the folders without which it does not run: those of version managers,
 * environments and interpreters that it leads to by links and first lines (`#!`). One in the server's own home was
 * installed there by npx.
 */
export async function findProgram(command: string, search: ProgramSearch): Promise<ProgramPlaces> {
  if (isWithin(command, innerHome)) return { ...(await findProgram("node", search)), file: command };
  const file = await findCommand(command, search);
  if (file === undefined) return { file, needs: [] };
  const needs = new Set<string>();
  const seen = new Set<string>();
  const left = [file];
  for (let next = left.shift(); next !== undefined && seen.size < mostHops; next = left.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const place of prefixesOf(next, search.home)) needs.add(place);
    const target = await readlink(next).catch(() => undefined);
    const onward = target === undefined ? await interpreterOf(next, search) : resolve(dirname(next), target);
    if (onward !== undefined) left.push(onward);
  }
  return { file, needs: [...needs] };
}

async function findCommand(command: string, { path, cwd }: ProgramSearch): Promise<string | undefined> {
  if (command.includes("/"))
    return (await kindOf(resolve(cwd, command))) === "file" ? resolve(cwd, command) : undefined;
  for (const folder of path.split(delimiter)) {
    const file = join(folder, command);
    if (isAbsolute(folder) && (await isExecutable(file))) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return await stat(file).then(
    (found) => found.isFile() && (found.mode & 0o111) !== 0,
    () => false,
  );
}

/** The kind of a path, with links followed; undefined for nothing, and for sockets and devices. */
export async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  return await stat(path).then(
    (found) => (found.isDirectory() ? "folder" : found.isFile() ? "file" : undefined),
    () => undefined,
  );
}

/** `PREFIX/bin/program` needs PREFIX, for its libraries. A home as a whole is never taken for one. */
function prefixesOf(file: string, home: string | undefined): readonly string[] {
  const folder = dirname(file);
  if (systemFolders.some((system) => isWithin(file, system))) return [];
  const modules = file.indexOf("/node_modules/");
  if (modules !== -1) return [file.slice(0, modules + "/node_modules".length)];
  if (!["bin", "shims", "sbin"].includes(basename(folder))) return [file];
  const prefix = dirname(folder);
  if (home === undefined || !isWithin(home, prefix)) {
    if (home === undefined || prefix !== join(home, ".local")) return prefix === "/" ? [folder] : [prefix];
    return [folder, join(prefix, "lib"), join(prefix, "share/uv"), join(prefix, "share/pipx")];
  }
  return [folder];
}

/** The program that a script's first line names. */
async function interpreterOf(file: string, search: ProgramSearch): Promise<string | undefined> {
  const words = /^#!\s*(\S+)(?:[ \t]+([^\n]*))?/.exec(await firstLine(file));
  const [, interpreter, rest = ""] = words ?? [];
  if (interpreter === undefined) return undefined;
  if (basename(interpreter) !== "env") return interpreter;
  const name = rest.split(/\s+/).find((word) => word !== "" && !word.startsWith("-") && !word.includes("="));
  return name === undefined ? undefined : await findCommand(name, search);
}

const lineBytes = 512;

async function firstLine(file: string): Promise<string> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(lineBytes), 0, lineBytes, 0);
    return buffer.toString("latin1", 0, bytesRead).split("\n", 1)[0] ?? "";
  } catch {
    return "";
  } finally {
    await handle.close();
  }
}

const scriptFile = /\.(?:[cm]?[jt]sx?|py|rb|php|pl|sh|lua|jar|pyz)$/;

/**
 * What a file among the arguments needs beside itself: for a script the folder of its package, and every
 * `node_modules` that it could import from.
 */
export async function neededBy(file: string, home: string | undefined): Promise<readonly string[]> {
  if (!scriptFile.test(file)) return [file];
  const above = foldersAbove(file);
  const narrow = above.filter((folder) => folder !== "/" && (home === undefined || !isWithin(home, folder)));
  const packages = await Promise.all(narrow.map(isPackage));
  const own = narrow[packages.indexOf(true)] ?? narrow[0] ?? file;
  const modules = above.filter((folder) => basename(folder) !== "node_modules").map((one) => join(one, "node_modules"));
  const kinds = await Promise.all(modules.map(kindOf));
  return [own, ...modules.filter((_, index) => kinds[index] === "folder")];
}

function foldersAbove(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}

async function isPackage(folder: string): Promise<boolean> {
  const files = ["package.json", "pyproject.toml"].map((name) => kindOf(join(folder, name)));
  return (await Promise.all(files)).includes("file");
}

import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { HomeDirectories } from "./directories.ts";

/**
 * The most bytes that a configuration file may have. It is read whole and parsed at once; a real one is below 100
 * KiB.
 */
export const configFileBytes = 5 * 1024 * 1024;

/** Names that are tried in the working directory, in this order. In the user's own directory only the first is. */
const fileNames = ["toolyard.json", "mcp.json", ".mcp.json"] as const;

/**
 * Absolute path of the configuration: the file that was asked for, or the first of the usual ones that exists.
 * Undefined when there is none. Symbolic links are not resolved, because they may be changed later.
 */
export async function findFile(
  asked: string | undefined,
  cwd: string,
  home: HomeDirectories,
): Promise<string | undefined> {
  if (asked !== undefined) return resolve(cwd, asked);
  const candidates = [
    ...fileNames.map((name) => resolve(cwd, name)),
    ...fileNames.slice(0, 2).map((name) => join(home.config, name)),
  ];
  for (const candidate of candidates) {
    if (await exists(candidate)) return candidate;
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

export interface ReadFile {
  readonly text: string;
  /** The file, and the folder that it was named in, with symbolic links followed. */
  readonly realFile: string;
  readonly realDirectory: string;
}

/** A link may be replaced while the file is being read, but not again and again. */
const mostSwaps = 5;

/**
 * The file's text and which file it is, consistent even when a link on the way is replaced in between. Throws as
 * `readConfigText` does.
 */
export async function readConfigFile(file: string): Promise<ReadFile> {
  for (let tries = 1; ; tries += 1) {
    const before = await follow(file);
    const text = await readConfigText(file);
    const realFile = await follow(file);
    if (realFile === before || tries === mostSwaps)
      return { text, realFile, realDirectory: await follow(dirname(file)) };
  }
}

/** The path with symbolic links followed. Unchanged when that leads nowhere. */
export async function follow(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

/**
 * The file's text. Throws GatewayError CONFIG_INVALID when it is not a readable file, is larger than 5 MiB, or is not
 * UTF-8. A byte-order mark is
 * left out, unless somebody wants to write the file again.
 */
export async function readConfigText(file: string, keepsMark = false): Promise<string> {
  try {
    return await readText(file, configFileBytes, keepsMark);
  } catch (error) {
    const said = `${file}: ${(error as Error).message}`;
    throw new GatewayError("CONFIG_INVALID", said, { cause: error, hint: hintFor(error) });
  }
}

/** The row's hint is about a place in the file, of which there is none when it cannot be read. */
function hintFor(error: unknown): string {
  return (error as Error).message === noSuchFile
    ? "Name the file with --config. `toolyard import` and `toolyard servers add` write one."
    : "Make it a readable file in UTF-8, or name another one with --config.";
}

/** The text of a file in UTF-8. Throws an Error whose message says why the file cannot be read, without naming it. */
export async function readText(file: string, limitBytes: number, keepsMark = false): Promise<string> {
  const found = await stat(file).catch(fail);
  // Anything but a regular file is refused, because reading a pipe would wait for ever.
  if (!found.isFile()) throw new Error(found.isDirectory() ? "is a directory; expected a file" : "is no regular file");
  if (found.size > limitBytes) throw new Error(`${found.size} bytes are more than the limit of ${limitBytes}`);
  const bytes = await readFile(file).catch(fail);
  if (bytes.length > limitBytes) throw new Error(`it grew beyond the limit of ${limitBytes} bytes while it was read`);
  return decode(bytes, keepsMark);
}

function fail(error: unknown): never {
  throw new Error(describe(error), { cause: error });
}

function decode(bytes: Buffer, keepsMark: boolean): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) throw new Error("is written in UTF-16; save it as UTF-8");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: keepsMark }).decode(bytes);
  } catch {
    throw new Error("is not valid UTF-8");
  }
}

const noSuchFile = "no such file";

function describe(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
    case "ENOTDIR":
      return noSuchFile;
    case "EACCES":
    case "EPERM":
      return "may not be read (check its permissions)";
    case "ELOOP":
      return "is a symbolic link to itself";
    default:
      return `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
}

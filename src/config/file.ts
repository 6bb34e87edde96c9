import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GatewayError } from "../kernel/gateway-error.ts";
import { configFileBytes } from "./defaults.ts";
import type { HomeDirectories } from "./directories.ts";

/** In the order in which they are looked for in the working directory; the first alone in the user's own directory. */
const fileNames = ["toolyard.json", "mcp.json", ".mcp.json"] as const;

/**
 * Absolute path of the configuration: the one asked for, or the first of the usual ones that exists;
 * undefined when there is none. Symbolic links are kept, because they may be swapped.
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

/** A link is swapped now and then, not again and again. */
const mostSwaps = 5;

/**
 * The file's text, and which file that is, also when a link on the way is swapped meanwhile. Throws as
 * `readConfigText`.
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

/** The path with symbolic links followed; as it is when that leads nowhere. */
export async function follow(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

/**
 * The file's text. Throws GatewayError CONFIG_INVALID for what is no readable file, larger than 5 MiB, or not UTF-8.
 */
export async function readConfigText(file: string): Promise<string> {
  try {
    return await readText(file, configFileBytes);
  } catch (error) {
    throw new GatewayError("CONFIG_INVALID", `${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The text of a file in UTF-8. Throws an Error whose message says, without the file's name, why there is none. */
export async function readText(file: string, limitBytes: number): Promise<string> {
  const found = await stat(file).catch(fail);
  // Reading a pipe would wait for ever.
  if (!found.isFile()) throw new Error(found.isDirectory() ? "is a directory; expected a file" : "is no regular file");
  if (found.size > limitBytes) throw new Error(`${found.size} bytes are more than the limit of ${limitBytes}`);
  const bytes = await readFile(file).catch(fail);
  if (bytes.length > limitBytes) throw new Error(`it grew beyond the limit of ${limitBytes} bytes while it was read`);
  return decode(bytes);
}

function fail(error: unknown): never {
  throw new Error(describe(error), { cause: error });
}

function decode(bytes: Buffer): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) throw new Error("is written in UTF-16; save it as UTF-8");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("is not valid UTF-8");
  }
}

function describe(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
    case "ENOTDIR":
      return "no such file";
    case "EACCES":
    case "EPERM":
      return "may not be read (check its permissions)";
    case "ELOOP":
      return "is a symbolic link to itself";
    default:
      return `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
}

import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GatewayError } from "../shared/gateway-error.ts";
import { configFileBytes } from "./defaults.ts";
import type { HomeDirectories } from "./directories.ts";

/** In the order in which they are looked for in the working directory; the first alone in the user's own directory. */
const fileNames = ["toolyard.json", "mcp.json", ".mcp.json"] as const;

/**
 * Absolute path of the configuration: the one asked for, or the first of the usual ones that exists (DESIGN.md section 10);
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

/** The file's text. Throws GatewayError CONFIG_INVALID for what is no readable file, larger than 5 MiB, or not UTF-8. */
export async function readConfigText(file: string): Promise<string> {
  const fail = (why: string, cause?: unknown): never => {
    throw new GatewayError("CONFIG_INVALID", `${file}: ${why}`, { cause });
  };
  try {
    const { size } = await regularFile(file, fail);
    if (size > configFileBytes) fail(`${size} bytes are more than the limit of ${configFileBytes}`);
    const bytes = await readFile(file);
    if (bytes.length > configFileBytes) fail(`it grew beyond the limit of ${configFileBytes} bytes while it was read`);
    return decode(bytes, fail);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    return fail(describe(error), error);
  }
}

/** Reading a pipe would wait for ever. */
async function regularFile(file: string, fail: (why: string) => never) {
  const found = await stat(file);
  return found.isFile() ? found : fail(found.isDirectory() ? "is a directory; expected a file" : "is no regular file");
}

function decode(bytes: Buffer, fail: (why: string) => never): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) fail("is written in UTF-16; save it as UTF-8");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return fail("is not valid UTF-8");
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

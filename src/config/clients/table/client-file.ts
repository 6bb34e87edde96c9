import { createHash, randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** A client's file as it was read. */
export interface ClientFile {
  /** As it was asked for. Begins messages. */
  readonly path: string;
  /** With symbolic links followed: the file that is replaced, so that links stay links. */
  readonly realPath: string;
  /** Undefined where there is no file. */
  readonly bytes: Buffer | undefined;
  /** Permission bits. */
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Claude Code keeps its history beside its servers, so that its file has a few megabytes on machines that are in use. A
 * larger file is no settings file, and editing it takes seconds.
 */
const mostBytes = 32 * 1024 * 1024;

/** As other programs create their settings. A new one may hold a token, so only its owner may read it. */
const newFileMode = 0o600;

/**
 * Reads a client's file, which need not exist. Throws GatewayError CLIENT_FILE_UNUSABLE if it is no readable file, is
 * read-only, is too large, has a second name, or is reached through a link that leads nowhere.
 */
export async function readClientFile(path: string): Promise<ClientFile> {
  const realPath = await followLinks(path);
  const found = await stat(realPath, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw unusable(path, whyNot(error), error);
  });
  if (found === undefined) return { path, realPath, bytes: undefined, mode: newFileMode, owner: undefined };
  refuseUnfit(path, found);
  const bytes = await readFile(realPath).catch((error: NodeJS.ErrnoException) => {
    throw unusable(path, whyNot(error), error);
  });
  const owner = { uid: Number(found.uid), gid: Number(found.gid) };
  return { path, realPath, bytes, mode: Number(found.mode) & 0o7777, owner };
}

function refuseUnfit(path: string, found: BigIntStats): void {
  if (found.isDirectory()) throw unusable(path, "is a directory; expected a file");
  if (!found.isFile()) throw unusable(path, "is no regular file");
  if (found.size > BigInt(mostBytes))
    throw unusable(path, `has ${found.size} bytes, more than the limit of ${mostBytes}`);
  // A file without any write permission is meant to stay as it is, even where we could write it all the same.
  if ((Number(found.mode) & 0o222) === 0) throw unusable(path, "is read-only");
  if (found.nlink > 1n) throw unusable(path, `has ${found.nlink} names (hard links), which replacing it would part`);
}

/** A path that does not exist yet may have links on its way, such as a linked `~/.config`. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw unusable(path, whyNot(error as NodeJS.ErrnoException), error);
  }
  if (await isLink(path)) throw unusable(path, "is a symbolic link that leads nowhere");
  const folder = dirname(path);
  return folder === path ? path : join(await followLinks(folder), basename(path));
}

async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** The file's text. Throws CLIENT_FILE_UNUSABLE if it is not UTF-8. */
export function textOf({ path, bytes }: ClientFile): string {
  if (bytes === undefined) return "";
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) throw unusable(path, "is written in UTF-16; save it as UTF-8");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw unusable(path, "is not valid UTF-8", error);
  }
}

/** SHA-256 in hex, or null for no file. */
export function hashOf(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : createHash("sha256").update(bytes).digest("hex");
}

/**
 * Replaces the whole file, or removes it where `bytes` is undefined: a reader, even after a crash at any moment, sees
 * the old file or the new one. Keeps permissions and owner. Makes missing folders.
 *
 * Throws CLIENT_FILE_UNUSABLE, with the old file in place, when it was changed since it was read, when it or its folder
 * cannot be written, or when another program holds it.
 */
export async function replaceClientFile(file: ClientFile, bytes: Uint8Array | undefined): Promise<void> {
  const folder = dirname(file.realPath);
  const temporary = join(folder, `.${basename(file.realPath)}.${randomUUID()}.tmp`);
  try {
    if (bytes === undefined) {
      await refuseChanged(file);
      await rm(file.realPath, { force: true });
    } else {
      await mkdir(folder, { recursive: true });
      await removeLeftovers(file);
      await writeWhole(temporary, file, bytes);
      await refuseChanged(file);
      await rename(temporary, file.realPath);
    }
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    if (error instanceof GatewayError) throw error;
    throw unusable(file.path, whyNot(error as NodeJS.ErrnoException), error);
  }
}

/** A younger one may be another program's that is at work. */
const leftAfterMs = 60_000;

/** What a crash of ours left beside the file: it has the secrets of the file in it. */
async function removeLeftovers({ realPath }: ClientFile): Promise<void> {
  const [folder, start] = [dirname(realPath), `.${basename(realPath)}.`];
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(start) && uuidAndEnd.test(name.slice(start.length)),
  );
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > leftAfterMs) await rm(join(folder, name), { force: true });
  }
}

const uuidAndEnd = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

async function writeWhole(temporary: string, file: ClientFile, bytes: Uint8Array): Promise<void> {
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    if (process.platform !== "win32" && file.owner !== undefined) await keepOwner(handle, file);
    // After the owner, because a change of owner takes bits away.
    await handle.chmod(file.mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepOwner(
  handle: Awaited<ReturnType<typeof open>>,
  { path, owner }: Pick<ClientFile, "path" | "owner">,
): Promise<void> {
  const now = await handle.stat();
  if (owner === undefined || (now.uid === owner.uid && now.gid === owner.gid)) return;
  await handle.chown(owner.uid, owner.gid).catch((error: unknown) => {
    throw unusable(path, "belongs to another user", error);
  });
}

/** Clients write their own files, some of them at any moment. */
async function refuseChanged(file: ClientFile): Promise<void> {
  const now = await readFile(file.realPath).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (hashOf(now) !== hashOf(file.bytes))
    throw unusable(
      file.path,
      "was changed by another program just now",
      undefined,
      "Try again; close the client first if it happens again.",
    );
}

/** So that the new name survives a power cut, too. Windows cannot open folders, and needs no such thing. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function whyNot({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "ENOTDIR":
    case "EEXIST":
      return "cannot be written: a folder on its way is a file";
    case "ELOOP":
      return "is a symbolic link to itself";
    case "EACCES":
    case "EPERM":
      return "may not be read or written (check its permissions and its folder's; another program may have it open)";
    case "EROFS":
      return "is on a disk that is mounted read-only";
    case "EBUSY":
      return "is in use: another program has it open, or it is mounted by itself";
    case "ENOSPC":
    case "EDQUOT":
      return "cannot be written: the disk is full";
    default:
      return `cannot be written (${code ?? message})`;
  }
}

function unusable(path: string, why: string, cause?: unknown, hint?: string): GatewayError {
  return new GatewayError("CLIENT_FILE_UNUSABLE", `${path} ${why}`, { cause, ...(hint === undefined ? {} : { hint }) });
}

import { spawn } from "node:child_process";
import { randomBytes, randomUUID, scrypt } from "node:crypto";
import { constants, copyFile, link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { KeySource } from "../../../config/key-source.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/**
 * Where a key came from. Each file says which kind it was written with, so that a wrong key can be reported as such.
 */
export type KeyKind = "file" | "given" | "passphrase";

/** The key that logins are encrypted with. */
export interface VaultKey {
  readonly kind: KeyKind;
  /**
   * The key, 32 bytes. When there is none yet, it is made if `create` is true; otherwise the result is undefined.
   * Throws CONFIG_INVALID when the key file is damaged, or can be read by others.
   */
  load(create: boolean): Promise<Buffer | undefined>;
}

const keyBytes = 32;
const saltBytes = 16;
/** Takes about 60 ms and 32 MB once per process, so that guessing a passphrase is slow. */
const scryptCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const usualCommandMs = 15_000;
/** 32 bytes in base64 are 44 characters: whatever prints more is not a key. */
const mostOutput = 4_096;

/** The key of a vault, from where `source` says, otherwise from a file that is made at the first use. */
export function createVaultKey(directory: string, source: KeySource): VaultKey {
  const { secret, command, commandMs = usualCommandMs, answer = {} } = source;
  if (command !== undefined)
    return once("given", async () => {
      const known = answer.key === undefined ? undefined : decodeKey(answer.key);
      const key = known ?? (await readCommand(command, commandMs));
      answer.key = key.toString("base64");
      return key;
    });
  if (secret === undefined) return once("file", async (create) => await keyFile(join(directory, "vault.key"), create));
  return fromSecret(directory, secret);
}

/** The key before that of `source`, for files that are still encrypted with it; undefined when none is named. */
export function previousKey(directory: string, { previous }: KeySource): VaultKey | undefined {
  return previous === undefined ? undefined : fromSecret(directory, previous);
}

function fromSecret(directory: string, secret: string): VaultKey {
  if (secret.startsWith("file:")) return once("given", async () => await readNamed(secret.slice("file:".length)));
  const raw = decodeKey(secret);
  if (raw !== undefined) return once("given", async () => await Promise.resolve(raw));
  return once("passphrase", async (create) => {
    const salt = await readOnce(join(directory, "vault.salt"), saltBytes, create);
    return salt === undefined ? undefined : await derive(secret, salt);
  });
}

function once(kind: KeyKind, read: (create: boolean) => Promise<Buffer | undefined>): VaultKey {
  let known: Buffer | undefined;
  return {
    kind,
    async load(create) {
      known ??= await read(create);
      return known;
    },
  };
}

/** A key of a secret manager, mounted as a file: who may read it is its business. */
async function readNamed(path: string): Promise<Buffer> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError("CONFIG_INVALID", `the key file ${path} cannot be read (${error.code ?? "EIO"})`, {
      hint: "Name a readable file after `file:` in TOOLYARD_KEY.",
    });
  });
  const key = decodeKey(text.trim());
  if (key !== undefined) return key;
  throw new GatewayError("CONFIG_INVALID", `${path} does not hold 32 bytes in base64`, {
    hint: "Make one with `openssl rand -base64 32`.",
  });
}

/** What the command prints is never shown, not even when it is no key: it may be half of one. */
async function readCommand(command: string, commandMs: number): Promise<Buffer> {
  const { output, problem } = await runForKey(command, commandMs);
  const key = problem === undefined ? decodeKey(output.trim()) : undefined;
  if (key !== undefined) return key;
  throw new GatewayError(
    "CONFIG_INVALID",
    `the command of TOOLYARD_KEY_COMMAND gave no key: ${problem ?? "it did not print 32 bytes in base64"}`,
    { hint: "Run it by hand: it has to print 32 bytes in base64, nothing else, and end with 0." },
  );
}

async function runForKey(
  command: string,
  commandMs: number,
): Promise<{ readonly output: string; readonly problem?: string }> {
  return await new Promise((resolve) => {
    // A group of its own, so that what the shell started ends with it.
    const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    const end = (problem?: string): void => {
      clearTimeout(timer);
      if (problem !== undefined) endGroup(child.pid);
      child.stdout.destroy();
      resolve(problem === undefined ? { output } : { output: "", problem });
    };
    const timer = setTimeout(() => end(`it did not end within ${commandMs / 1_000} s`), commandMs);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.length > mostOutput) end("it printed more than a key");
    });
    child.once("error", (error) => end(error.message));
    child.once("close", (code, signal) => end(code === 0 ? undefined : `it ended with ${code ?? signal ?? "nothing"}`));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}

/** The key in a file that is written once. With `create`, one is made where there is none. */
export async function keyFile(path: string, create: boolean): Promise<Buffer | undefined> {
  return await readOnce(path, keyBytes, create);
}

/** Decodes 32 bytes in base64 or base64url; undefined for anything else, which is then used as a passphrase. */
function decodeKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, "base64");
  return key.length === keyBytes ? key : undefined;
}

async function derive(passphrase: string, salt: Buffer): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    scrypt(passphrase, salt, keyBytes, scryptCost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

/**
 * The content of a file that is written once and never changed. When two processes create it at the same time, both
 * get the same content.
 */
async function readOnce(path: string, bytes: number, create: boolean): Promise<Buffer | undefined> {
  const known = await readTrusted(path, bytes);
  if (known !== undefined || !create) return known;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(`${randomBytes(bytes).toString("base64")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    // A link, because unlike a rename it never replaces a file that another process made first.
    await link(temporary, path);
  } catch (error) {
    // Some file systems do not support links.
    if (!isThere(error)) await copyFile(temporary, path, constants.COPYFILE_EXCL).catch(ignoreThere);
  } finally {
    await rm(temporary, { force: true });
  }
  return await readTrusted(path, bytes);
}

function isThere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EEXIST";
}

function ignoreThere(error: unknown): void {
  if (!isThere(error)) throw error;
}

async function readTrusted(path: string, bytes: number): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new GatewayError(
      "CONFIG_INVALID",
      `${path} cannot be read (${String((error as NodeJS.ErrnoException).code)})`,
      { hint: "Make the file readable to the user that runs the gateway, or set TOOLYARD_KEY." },
    );
  }
  // Windows has no such mode; there the user's own folder protects the file.
  if (process.platform !== "win32" && ((await stat(path)).mode & 0o077) !== 0) {
    throw new GatewayError("CONFIG_INVALID", `${path} can be read by other users of this machine`, {
      hint: `Run \`chmod 600 ${path}\`, and log in again if somebody may have read it.`,
    });
  }
  const content = Buffer.from(text.trim(), "base64");
  if (content.length !== bytes)
    throw new GatewayError("CONFIG_INVALID", `${path} does not hold ${bytes} bytes in base64`, {
      hint: "Remove it and log in again.",
    });
  return content;
}

import { randomBytes, randomUUID, scrypt } from "node:crypto";
import { constants, copyFile, link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../../kernel/gateway-error.ts";

/** Which kind of key a file was written with: kept beside the content, so that a wrong key can be named. */
export type KeyKind = "file" | "given" | "passphrase";

export interface VaultKey {
  readonly kind: KeyKind;
  /**
   * 32 bytes. With `create: false` undefined when there is no key yet. Throws CONFIG_INVALID when the key file cannot
   * be trusted.
   */
  load(create: boolean): Promise<Buffer | undefined>;
}

const keyBytes = 32;
const saltBytes = 16;
/** About 60 ms and 32 MB, once per process: what a passphrase needs so that guessing is slow. */
const scryptCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/**
 * The key of a vault: from `secret` (32 bytes as base64, or any passphrase) when there is one, otherwise from a file
 * made at the first use.
 */
export function createVaultKey(directory: string, secret: string | undefined): VaultKey {
  const given = secret === undefined || secret === "" ? undefined : secret;
  const raw = given === undefined ? undefined : decodeKey(given);
  let known: Buffer | undefined = raw;

  async function read(create: boolean): Promise<Buffer | undefined> {
    if (given !== undefined) {
      const salt = await readOnce(join(directory, "vault.salt"), saltBytes, create);
      return salt === undefined ? undefined : await derive(given, salt);
    }
    return await readOnce(join(directory, "vault.key"), keyBytes, create);
  }

  return {
    kind: given === undefined ? "file" : raw === undefined ? "passphrase" : "given",
    async load(create) {
      known ??= await read(create);
      return known;
    },
  };
}

/** 32 bytes in base64 or base64url; undefined when it is something else, and so a passphrase. */
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
 * The content of a file that is written once and never changed. Two processes that make it at the same time get the
 * same.
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
    // A link, not a rename: it never replaces the file that another process made first.
    await link(temporary, path);
  } catch (error) {
    // Some file systems have no links.
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
      { hint: "Give it back to its owner, or set TOOLYARD_KEY." },
    );
  }
  // Windows has no such mode; there the user's own folder protects it.
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

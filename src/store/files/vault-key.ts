import { randomBytes, randomUUID, scrypt } from "node:crypto";
import { constants, copyFile, link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../../kernel/gateway-error.ts";

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

/**
 * The key of a vault: from `secret` (32 bytes as base64, or any passphrase) if given, otherwise from a file that is
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

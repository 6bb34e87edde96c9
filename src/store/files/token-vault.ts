import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { mkdirSync, watch } from "node:fs";
import { mkdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { KeptCredential } from "../../servers/logins/credential.ts";
import type { SecretStore } from "../store.ts";
import { withFileLock } from "./file-lock.ts";
import { replaceFile } from "./replace-file.ts";
import { createVaultKey, type KeyKind } from "./vault-key.ts";

export interface TokenVaultOptions {
  /** The data directory; the logins are in its folder `tokens`, the key file beside that. */
  readonly directory: string;
  /**
   * `TOOLYARD_KEY`: 32 bytes as base64, or a passphrase. Without it a key file of mode 0600 is made at the first
   * login.
   */
  readonly secret: string | undefined;
}

/** Changes when the files' shape does. */
const magic = Buffer.from("TYV1", "latin1");
const kindBytes: Readonly<Record<KeyKind, number>> = { file: 1, given: 2, passphrase: 3 };
const ivBytes = 12;
const tagBytes = 16;
const headBytes = magic.length + 1 + ivBytes + tagBytes;
/** A login is about 4 KB; what is larger is not ours. */
const largestFileBytes = 1024 * 1024;

/**
 * Logins on disk, one AES-256-GCM file per instance, so that a login in one process and a refresh in another touch
 * different files. The instance's name is bound into each: a file moved to another name does not open. Files are
 * replaced atomically, mode 0600.
 */
export function createTokenVault(options: TokenVaultOptions): SecretStore {
  const folder = join(options.directory, "tokens");
  const key = createVaultKey(options.directory, options.secret);

  function pathOf(instance: string): string {
    const readable = instance.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
    return join(folder, `${readable}-${createHash("sha256").update(instance).digest("hex").slice(0, 16)}.vault`);
  }

  async function makeFolder(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  return {
    async read(instance) {
      const sealed = await readFile(pathOf(instance)).catch((error: NodeJS.ErrnoException) =>
        error.code === "ENOENT" ? undefined : (error.code ?? "EIO"),
      );
      if (sealed === undefined) return { kind: "none" };
      if (typeof sealed === "string") return { kind: "unreadable", reason: `its file cannot be read (${sealed})` };
      const problem = problemOf(sealed, key.kind);
      if (problem !== undefined) return { kind: "unreadable", reason: problem };
      const secret = await key.load(false);
      return secret === undefined
        ? { kind: "unreadable", reason: "the key file that it was encrypted with is missing" }
        : unseal(sealed, secret, instance);
    },
    async write(instance, text) {
      await makeFolder();
      await replaceFile(pathOf(instance), seal(text, (await key.load(true)) as Buffer, key.kind, instance));
    },
    async remove(instance) {
      return await unlink(pathOf(instance)).then(
        () => true,
        () => false,
      );
    },
    async revision(instance) {
      return await stat(pathOf(instance), { bigint: true }).then(
        ({ mtimeNs, ino, size }) => `${mtimeNs}-${ino}-${size}`,
        () => undefined,
      );
    },
    async exclusively(instance, signal, work) {
      await makeFolder();
      return await withFileLock(`${pathOf(instance)}.lock`, signal, work);
    },
    watch: (onChange) => watchFolder(folder, onChange),
  };
}

/** `TYV1`, kind of key, IV, tag, ciphertext. Everything before the IV, and the instance, is authenticated too. */
function seal(text: string, key: Buffer, kind: KeyKind, instance: string): Buffer {
  const head = Buffer.concat([magic, Buffer.of(kindBytes[kind])]);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(boundTo(head, instance));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([head, iv, cipher.getAuthTag(), body]);
}

/** What can be told without the key: better words than "it cannot be decrypted". */
function problemOf(sealed: Buffer, kind: KeyKind): string | undefined {
  if (sealed.length < headBytes || sealed.length > largestFileBytes || !sealed.subarray(0, magic.length).equals(magic))
    return "its file is damaged";
  if (sealed[magic.length] === kindBytes[kind]) return undefined;
  return kind === "file"
    ? "it was encrypted with the key in TOOLYARD_KEY, which is not set"
    : "it was encrypted with another kind of key than TOOLYARD_KEY holds now";
}

/** Several changes of a moment are one: a file is written beside its lock and its temporary name. */
const settleMs = 100;

function watchFolder(folder: string, onChange: () => void): () => void {
  let settling: NodeJS.Timeout | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || !name.endsWith(".vault")) return;
      clearTimeout(settling);
      settling = setTimeout(onChange, settleMs).unref();
    });
    watcher.on("error", () => watcher.close());
    return () => {
      clearTimeout(settling);
      watcher.close();
    };
  } catch {
    return () => undefined;
  }
}

function unseal(sealed: Buffer, key: Buffer, instance: string): KeptCredential {
  const head = sealed.subarray(0, magic.length + 1);
  const iv = sealed.subarray(head.length, head.length + ivBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(
    boundTo(head, instance),
  );
  decipher.setAuthTag(sealed.subarray(head.length + ivBytes, headBytes));
  try {
    return {
      kind: "text",
      text: Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]).toString("utf8"),
    };
  } catch {
    return { kind: "unreadable", reason: "its file was encrypted with another key, or changed" };
  }
}

function boundTo(head: Buffer, instance: string): Buffer {
  return Buffer.concat([head, Buffer.from(instance, "utf8")]);
}

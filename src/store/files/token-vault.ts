import { createHash } from "node:crypto";
import { mkdirSync, watch } from "node:fs";
import { mkdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { KeySource } from "../../config/key-source.ts";
import type { KeptCredential } from "../../servers/logins/credential.ts";
import type { SecretStore } from "../store.ts";
import { withFileLock } from "./safe/exclusive-file.ts";
import { replaceFile } from "./safe/replace-file.ts";
import { seal, sealBytes, unseal } from "./safe/sealing.ts";
import { createVaultKey, previousKey, type KeyKind, type VaultKey } from "./safe/vault-key.ts";

/** Where logins are stored, and what they are encrypted with. */
export interface TokenVaultOptions {
  /** The data directory. Logins are in its folder `tokens`; the key file is beside that folder. */
  readonly directory: string;
  /** Without one, a key file with mode 0600 is made at the first login. */
  readonly key: KeySource;
}

/** The first bytes of every file; changed when the format changes. */
const magic = Buffer.from("TYV1", "latin1");
const kindBytes: Readonly<Record<KeyKind, number>> = { file: 1, given: 2, passphrase: 3 };
const headBytes = magic.length + 1;
/** A login takes about 4 KB; a larger file is not ours. */
const largestFileBytes = 1024 * 1024;

/** How logins are encrypted, wherever they are kept. */
export interface LoginSealing {
  seal(text: string, instance: string): Promise<Buffer>;
  /** @param place what it was read from, as the fault of it is told */
  open(sealed: Buffer, instance: string, place: string): Promise<KeptCredential>;
}

/**
 * AES-256-GCM. The name of the instance is authenticated with the content: one that is moved to another name cannot be
 * decrypted.
 */
export function createLoginSealing({ directory, key: source }: TokenVaultOptions): LoginSealing {
  const key = createVaultKey(directory, source);
  const before = previousKey(directory, source);
  return {
    seal: async (text, instance) => toFile(text, (await key.load(true)) as Buffer, key.kind, instance),
    async open(sealed, instance, place) {
      const known = await open(sealed, key, { instance, place });
      if (known.kind === "text" || before === undefined) return known;
      const older = await open(sealed, before, { instance, place });
      return older.kind === "text" ? older : known;
    },
  };
}

/**
 * Stores logins in one file per instance, so that a login in one process and a refresh in another touch different
 * files. Files have mode 0600 and are replaced atomically.
 */
export function createTokenVault(options: TokenVaultOptions): SecretStore {
  const folder = join(options.directory, "tokens");
  const sealing = createLoginSealing(options);

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
      return await sealing.open(sealed, instance, "file");
    },
    async write(instance, text) {
      await makeFolder();
      await replaceFile(pathOf(instance), await sealing.seal(text, instance));
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
    fileOf: pathOf,
  };
}

/**
 * The format is `TYV1`, kind of key, sealed text. Everything before the text, and the name of the instance, is
 * authenticated too.
 */
function toFile(text: string, key: Buffer, kind: KeyKind, instance: string): Buffer {
  const head = Buffer.concat([magic, Buffer.of(kindBytes[kind])]);
  return Buffer.concat([head, seal(key, text, boundTo(head, instance))]);
}

interface KeptAt {
  readonly instance: string;
  readonly place: string;
}

async function open(file: Buffer, key: VaultKey, { instance, place }: KeptAt): Promise<KeptCredential> {
  const problem = problemOf(file, key.kind, place);
  if (problem !== undefined) return { kind: "unreadable", reason: problem };
  const secret = await key.load(false);
  if (secret === undefined) return { kind: "unreadable", reason: "the key file that it was encrypted with is missing" };
  const text = unseal(secret, file.subarray(headBytes), boundTo(file.subarray(0, headBytes), instance));
  return text === undefined
    ? { kind: "unreadable", reason: `its ${place} was encrypted with another key, or changed` }
    : { kind: "text", text: text.toString("utf8") };
}

/** The fault of a file, as far as that shows without the key: more helpful than "it cannot be decrypted". */
function problemOf(sealed: Buffer, kind: KeyKind, place: string): string | undefined {
  if (
    sealed.length < headBytes + sealBytes ||
    sealed.length > largestFileBytes ||
    !sealed.subarray(0, magic.length).equals(magic)
  )
    return `its ${place} is damaged`;
  if (sealed[magic.length] === kindBytes[kind]) return undefined;
  return kind === "file"
    ? "it was encrypted with the key in TOOLYARD_KEY, which is not set"
    : "it was encrypted with another kind of key than TOOLYARD_KEY holds now";
}

/** Changes within this time are reported as one, because each write also touches a lock and a temporary file. */
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

function boundTo(head: Buffer, instance: string): Buffer {
  return Buffer.concat([head, Buffer.from(instance, "utf8")]);
}

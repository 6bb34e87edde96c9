import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { hashOf } from "../table/client-file.ts";
import type { ClientFormat } from "../table/client-row.ts";
import type { EntryChange } from "../../entry/entry-change.ts";

/** A change to a client's file, kept so that it can be undone. */
export interface KeptChange {
  /** The file that was replaced, with links followed. */
  readonly realPath: string;
  readonly format: ClientFormat;
  readonly changedAtMs: number;
  /** SHA-256 of the file before and after; null for no file. */
  readonly beforeHash: string | null;
  readonly afterHash: string | null;
  /** Permission bits before. */
  readonly mode: number;
  /** What was set or removed, and what brings back what was there. JSON has no undefined: a removal has no value. */
  readonly changes: readonly EntryChange[];
  readonly reverse: readonly EntryChange[];
}

/** A change as it is kept, newest first. */
export interface KeptEntry extends KeptChange {
  /** The file's bytes before; undefined where there was none. */
  before(): Promise<Buffer | undefined>;
  forget(): Promise<void>;
}

/** How many changes of one file can be undone, one after the other. A file of Claude Code has up to some megabytes. */
const mostKept = 10;

/**
 * Keeps what a file was, on the disk before the file itself is changed. Only the owner can read it, because clients'
 * files have secrets in them. Rejects with DATA_DIR_UNWRITABLE.
 */
export async function keepChange(dataDir: string, change: KeptChange, before: Buffer | undefined): Promise<void> {
  const folder = folderOf(dataDir, change.realPath);
  // By time, so that names are in the order of the changes.
  const name = `${String(change.changedAtMs).padStart(15, "0")}-${randomUUID()}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (before !== undefined) await writeSynced(join(folder, `${name}.before`), before);
    await writeSynced(join(folder, `${name}.json`), `${JSON.stringify(change, null, 2)}\n`);
    const names = await namesIn(folder);
    for (const old of names.slice(mostKept)) await forget(folder, old);
  } catch (error) {
    throw new GatewayError("DATA_DIR_UNWRITABLE", `${folder}: no backup can be written (${codeOf(error)})`, {
      cause: error,
      hint: "Make room on its disk and make it writable, or choose another with --data-dir. Nothing was changed.",
    });
  }
}

/** The kept changes of a file, newest first. A record that is damaged is left out. */
export async function readKeptChanges(dataDir: string, realPath: string): Promise<readonly KeptEntry[]> {
  const folder = folderOf(dataDir, realPath);
  const entries = await Promise.all((await namesIn(folder)).map(async (name) => await readEntry(folder, name)));
  return entries.filter((entry) => entry !== undefined);
}

async function readEntry(folder: string, name: string): Promise<KeptEntry | undefined> {
  let change: KeptChange;
  try {
    change = JSON.parse(await readFile(join(folder, `${name}.json`), "utf8")) as KeptChange;
  } catch {
    return undefined;
  }
  return {
    ...change,
    async before() {
      if (change.beforeHash === null) return undefined;
      const bytes = await readFile(join(folder, `${name}.before`)).catch(() => undefined);
      if (hashOf(bytes) === change.beforeHash) return bytes;
      throw new GatewayError(
        "CLIENT_FILE_UNUSABLE",
        `the backup ${join(folder, `${name}.before`)} is missing or damaged`,
        {
          hint: "`toolyard disconnect` takes our entry out without a backup.",
        },
      );
    },
    forget: async () => await forget(folder, name),
  };
}

function folderOf(dataDir: string, realPath: string): string {
  return join(dataDir, "client-files", (hashOf(Buffer.from(realPath)) ?? "").slice(0, 16));
}

/** Newest first. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => []);
  return files
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .toSorted()
    .toReversed();
}

async function forget(folder: string, name: string): Promise<void> {
  await rm(join(folder, `${name}.json`), { force: true });
  await rm(join(folder, `${name}.before`), { force: true });
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

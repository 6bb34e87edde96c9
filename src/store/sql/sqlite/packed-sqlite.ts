import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/** What `scripts/package/pack-sqlite.mjs` writes beside the compressed binaries: the SHA-256 of each, by machine. */
export interface PackedBinaries {
  readonly sha256: Readonly<Record<string, string>>;
}

export interface BinaryPlaces {
  /** Where a compressed binary is unpacked to: a folder that only its owner can write to. */
  readonly folder: string;
  /** The folder of the compressed binaries. A clone has none, and uses those of the installed package. */
  readonly packed?: URL | undefined;
}

/** The package that the binaries come from. It is a development dependency: what it has for each machine is packed. */
export const binaryPackage = "@photostructure/sqlite";

/**
 * The path of the SQLite binary for this machine. In the published package, binaries for all machines are compressed, a
 * third of their size, and the one that is needed is unpacked when it is first needed. A present file is used only if
 * it has the very same bytes. Throws when there is none for this machine, or no place for it.
 */
export function binaryForMachine({ folder, packed = new URL("../sqlite/", import.meta.url) }: BinaryPlaces): string {
  const machine = nameMachine();
  const list = new URL("binaries.json", packed);
  if (!existsSync(list)) return installedBinary(machine);
  const expected = (JSON.parse(readFileSync(list, "utf8")) as PackedBinaries).sha256[machine];
  if (expected === undefined) throw new Error(`it has no binary for ${machine}`);
  const name = `${machine}-${expected.slice(0, 16)}.node`;
  const path = join(folder, name);
  if (hashOf(path) !== expected) unpack(new URL(`${machine}.node.br`, packed), folder, name);
  return path;
}

/** As the package's own loader tells machines apart: which C library it is shows only on Alpine. */
export function nameMachine(): string {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  return `linux-${arch}-${existsSync("/etc/alpine-release") ? "musl" : "glibc"}`;
}

function installedBinary(machine: string): string {
  const [platform, arch, libc = "glibc"] = machine.split("-");
  const from = createRequire(import.meta.url).resolve(`${binaryPackage}/package.json`);
  return join(from, "..", "prebuilds", `${platform}-${arch}`, `${binaryPackage.replace("/", "+")}.${libc}.node`);
}

/**
 * Read in pieces. When a buffer as large as the binary is freed, the C library takes it for a usual size, and from then
 * on keeps up to twice as much free memory in each thread instead of returning it (bench/memory): with the pages of
 * `openSqliteFile`, 2 MB of a gateway at rest, and 7 after a burst of calls.
 */
const pieceBytes = 65_536;

function hashOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  const file = openSync(path, "r");
  try {
    for (let length = -1; length !== 0;) {
      length = readSync(file, piece);
      hash.update(piece.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}

/** Another gateway may do the same at this moment: both rename a whole file into place. */
function unpack(from: URL, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = join(folder, `${randomUUID()}.unfinished`);
  try {
    writeFileSync(unfinished, brotliDecompressSync(readFileSync(from)), { mode: 0o600, flag: "wx" });
    renameSync(unfinished, join(folder, name));
  } finally {
    rmSync(unfinished, { force: true });
  }
  for (const other of readdirSync(folder)) if (other !== name) removeOld(join(folder, other));
}

/** Longer than any unpacking takes: a younger file may be one that another gateway is about to rename. */
const unfinishedMs = 3_600_000;

/** Only files that are like ours: nothing else in there is for us to remove. */
function removeOld(path: string): void {
  if (!/\.(?:node|unfinished)$/.test(path)) return;
  try {
    if (path.endsWith(".unfinished") && Date.now() - statSync(path).mtimeMs < unfinishedMs) return;
    rmSync(path, { force: true });
  } catch {
    // Windows keeps a file that another gateway has loaded; the next version's unpacking tries again.
  }
}

// Compresses the SQLite binaries of @photostructure/sqlite into dist/sqlite/, for seven of its eight kinds of machine.
// The published package carries them for Node versions whose own SQLite is missing or too old: as a dependency, the
// package takes 30 MB in every installation, a third of it sources; compressed, the binaries take 6.8 MB.
// The best compression takes 5 s for each, so that what was compressed once is kept in .cache/.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv, pid } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const packageName = "@photostructure/sqlite";
const root = fileURLToPath(new URL("../..", import.meta.url));
/** Too few people use an old Node there for what the binary costs everybody else. They are told to use a newer one. */
const leftOut = ["win32-arm64"];
const compress = promisify(brotliCompress);

/** The binaries that the installed package has: the name of each machine, as `nameMachine` has it, and the file. */
export function listBinaries() {
  const prebuilds = join(dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`)), "prebuilds");
  return readdirSync(prebuilds)
    .filter((system) => !leftOut.includes(system))
    .sort()
    .flatMap((system) =>
      readdirSync(join(prebuilds, system))
        .sort()
        .map((name) => {
          const [, libc] = /\.(glibc|musl)\.node$/.exec(name) ?? [];
          if (libc === undefined) throw new Error(`${packageName} has a binary of an unknown kind: ${name}`);
          const machine = system.startsWith("linux-") ? `${system}-${libc}` : system;
          return { machine, file: join(prebuilds, system, name) };
        }),
    );
}

/** Writes compressed binaries and the list of them to `target`. Quality: 1 to 11. */
export async function packBinaries({
  target,
  binaries = listBinaries(),
  quality = constants.BROTLI_MAX_QUALITY,
  cache,
}) {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  // In the order of the machines, whichever is compressed first.
  const sha256 = Object.fromEntries(binaries.map(({ machine }) => [machine, ""]));
  // Node compresses as many at once as it has threads for it.
  await Promise.all(
    binaries.map(async ({ machine, file }) => {
      const bytes = readFileSync(file);
      sha256[machine] = createHash("sha256").update(bytes).digest("hex");
      const packed = join(target, `${machine}.node.br`);
      const kept = cache === undefined ? undefined : join(cache, `${sha256[machine]}.${quality}.br`);
      if (kept !== undefined && existsSync(kept)) return copyFileSync(kept, packed);
      writeFileSync(packed, await compressed(bytes, quality));
      if (kept !== undefined) keep(packed, kept);
    }),
  );
  writeFileSync(join(target, "binaries.json"), `${JSON.stringify({ sha256 }, null, 2)}\n`);
}

async function compressed(bytes, quality) {
  return await compress(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

/** Beside it and renamed: a run that is interrupted leaves nothing that looks whole. */
function keep(packed, kept) {
  mkdirSync(dirname(kept), { recursive: true });
  copyFileSync(packed, `${kept}.${pid}`);
  renameSync(`${kept}.${pid}`, kept);
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href)
  await packBinaries({ target: join(root, "dist/sqlite"), cache: join(root, ".cache/sqlite") });

// The merges of the tokenizer's encoding o200k, 200,000 pieces of text. As a module they take 2.7 MB, and 155 ms to
// load; as compressed JSON 0.9 MB and half of that.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pid } from "node:process";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const fileName = "o200k-ranks.json.br";
const ranksModule = "gpt-tokenizer/bpeRanks/o200k_base";
const compress = promisify(brotliCompress);

// Unpacked in pieces and with a small window: when a buffer of megabytes is freed, the C library takes that for a usual
// size, and from then on each thread keeps that much free memory instead of returning it (bench/dashboard/live.ts).
const windowBits = 16;
const unpacking = `
  import { createReadStream } from "node:fs";
  import { createBrotliDecompress } from "node:zlib";
  const packed = createReadStream(new URL("./${fileName}", import.meta.url));
  let text = "";
  for await (const piece of packed.pipe(createBrotliDecompress()).setEncoding("utf8")) text += piece;
  export default JSON.parse(text);
`;

/** Has the tokenizer read its merges from the file that `writeTokenRanks` writes. */
export const tokenRanksPlugin = {
  name: "token-ranks",
  setup({ onLoad }) {
    onLoad({ filter: /gpt-tokenizer\/\w+\/bpeRanks\/o200k_base\.js$/ }, () => ({ contents: unpacking }));
  },
};

/** The best compression takes 4 s, so that what was compressed once is kept in `cache`. */
export async function writeTokenRanks({ folder, cache }) {
  const { default: ranks } = await import(ranksModule);
  const bytes = Buffer.from(JSON.stringify(ranks));
  const kept = join(cache, `${createHash("sha256").update(bytes).digest("hex")}-${windowBits}.br`);
  if (!existsSync(kept)) {
    const packed = await compress(bytes, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_LGWIN]: windowBits,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    });
    mkdirSync(dirname(kept), { recursive: true });
    // Renamed, so that a build that is interrupted leaves nothing that looks whole.
    writeFileSync(`${kept}.${pid}`, packed);
    renameSync(`${kept}.${pid}`, kept);
  }
  copyFileSync(kept, join(folder, fileName));
}

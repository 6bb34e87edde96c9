// The merges of the tokenizer's encoding o200k, 200,000 pieces of text. As a module they take 2.7 MB, and 155 ms to
// load; as compressed JSON 0.8 MB and 70 ms.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pid } from "node:process";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const fileName = "o200k-ranks.json.br";
const ranksModule = "gpt-tokenizer/bpeRanks/o200k_base";
const compress = promisify(brotliCompress);

const unpacking = `
  import { readFileSync } from "node:fs";
  import { brotliDecompressSync } from "node:zlib";
  const packed = readFileSync(new URL("./${fileName}", import.meta.url));
  export default JSON.parse(brotliDecompressSync(packed).toString());
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
  const kept = join(cache, `${createHash("sha256").update(bytes).digest("hex")}.br`);
  if (!existsSync(kept)) {
    const packed = await compress(bytes, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
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

import { readFileSync } from "node:fs";
import wabt from "wabt";

/** The TypeScript module that holds what text-search.wat compiles to. */
export async function textSearchModule() {
  const source = readFileSync(new URL("../../src/wire/json/text-search.wat", import.meta.url), "utf8");
  const module = (await wabt()).parseWat("text-search.wat", source, { simd: true });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  module.destroy();
  const lines = (code.match(/.{1,100}/g) ?? []).map((line) => `  "${line}"`).join(" +\n");
  return `/** text-search.wat, compiled and in base64: made by \`npm run wasm\`, and compared by a test. */\nexport const textSearchCode =\n${lines};\n`;
}

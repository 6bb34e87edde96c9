// Writes src/wire/json/text-search-code.ts from text-search.wat: `npm run wasm`.
import { writeFileSync } from "node:fs";
import { textSearchModule } from "./build/wasm-text.mjs";

const text = await textSearchModule();
writeFileSync(new URL("../src/wire/json/text-search-code.ts", import.meta.url), text);

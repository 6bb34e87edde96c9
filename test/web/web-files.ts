import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

/** Where the dashboard is built to. */
export const webFolder = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** A file of it, unpacked. */
export function readWebFile(name: string): Buffer {
  return brotliDecompressSync(readFileSync(join(webFolder, `${name}.br`)));
}

/** Files that a page loads before it shows anything: what its HTML names, and what these import. */
export function firstLoad(): readonly string[] {
  const page = readWebFile("index.html").toString();
  const found = new Set(
    [...page.matchAll(/(?:src|href)="\/ui\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = ""]) => name),
  );
  for (const name of found) {
    if (!name.endsWith(".js")) continue;
    for (const [, imported = ""] of readWebFile(name)
      .toString()
      .matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
      found.add(`assets/${imported}`);
  }
  return [...found];
}

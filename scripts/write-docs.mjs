// Writes the pages of docs/ that are made from tables in src/, so that they cannot drift. Run after a build: it reads dist/.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { errorsPage } from "./docs/errors-page.mjs";

const root = new URL("../", import.meta.url);

export async function writeDocs() {
  const { failures } = await import(new URL("dist/shared/failures.js", root).href);
  writeFileSync(new URL("docs/errors.md", root), errorsPage(failures));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writeDocs();

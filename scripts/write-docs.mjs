// Writes the pages of docs/ that are made from tables in src/ and test/, so that they cannot drift. Run after a build: it reads dist/.
import { writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sections } from "../test/protocol/requirements.mjs";
import { errorsPage } from "./docs/errors-page.mjs";
import { heldBy, protocolPage } from "./docs/protocol-page.mjs";
import { testTitles } from "./docs/test-titles.mjs";

const root = new URL("../", import.meta.url);

export async function writeDocs() {
  const { failures } = await import(new URL("dist/shared/failures.js", root).href);
  writeFileSync(new URL("docs/errors.md", root), errorsPage(failures));
  writeFileSync(new URL("docs/protocol.md", root), protocolPage(heldBy(sections, testTitles(fileURLToPath(root)))));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writeDocs();

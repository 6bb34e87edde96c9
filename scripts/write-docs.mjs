// Writes the pages of docs/ that are made from tables in src/ and test/, so that they cannot drift. Node 20 runs no TypeScript, so the table is bundled first.
import { writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { sections } from "../test/protocol/requirements.mjs";
import { errorsPage } from "./docs/errors-page.mjs";
import { heldBy, protocolPage } from "./docs/protocol-page.mjs";
import { testTitles } from "./docs/test-titles.mjs";

const root = new URL("../", import.meta.url);

export async function writeDocs() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("src/shared/failures.ts", root))],
    bundle: true,
    format: "esm",
    write: false,
  });
  const { failures } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
  writeFileSync(new URL("docs/errors.md", root), errorsPage(failures));
  writeFileSync(new URL("docs/protocol.md", root), protocolPage(heldBy(sections, testTitles(fileURLToPath(root)))));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writeDocs();

// The exports of a module that is written in TypeScript: Node 20 runs none, so the module is bundled first.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * The exports of a module of src/ that is written in TypeScript.
 * @param {string} path from the project's folder
 */
export async function bundledTable(path) {
  const entryPoints = [fileURLToPath(new URL(`../../${path}`, import.meta.url))];
  // What is loaded late is no part of a table.
  const external = ["./*-command.ts", "./*-commands.ts"];
  const options = { bundle: true, platform: "node", format: "esm", write: false };
  const { outputFiles } = await build({ entryPoints, external, ...options });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

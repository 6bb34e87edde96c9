// Which small modules are put into one file. esbuild makes a file of every set of modules that the same entries need,
// so that a start would load a dozen files of a few hundred bytes, for half a millisecond each.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that are no larger are not worth being files of their own. */
const smallBytes = 3_000;

/**
 * The modules of small files of a start that import nothing but Node's own modules. Only these may be put together: two
 * modules that import each other through the others could run before what they need.
 *
 * @param {import("esbuild").Metafile} metafile of a build without the plugin
 * @param {{ program: string, command: string }} start the file that is started, and the module that it loads at once
 */
export function startLeaves({ inputs, outputs }, { program, command }) {
  const commandFile = Object.keys(outputs).find((name) => outputs[name].entryPoint === command);
  if (outputs[program] === undefined || commandFile === undefined) throw new Error(`no file for ${command}`);
  const loaded = new Set([program, commandFile]);
  for (const name of loaded)
    for (const { path, kind, external } of outputs[name].imports)
      if (kind === "import-statement" && external !== true) loaded.add(path);
  return [...loaded]
    .filter((name) => outputs[name].bytes < smallBytes)
    .flatMap((name) => Object.keys(outputs[name].inputs))
    .filter((name) => name.startsWith("src/") && inputs[name].imports.every(({ external }) => external === true))
    .sort();
}

/** Has whoever imports one of these modules import all of them, so that esbuild puts them into one file. */
export function togetherPlugin(modules, root) {
  const paths = new Set(modules.map((name) => join(root, name)));
  const contents = [...paths].map((path) => `import ${JSON.stringify(path)};`).join("\n");
  return {
    name: "together",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^together:all$/ }, () => ({ path: "all", namespace: "together" }));
      onLoad({ filter: /.*/, namespace: "together" }, () => ({ contents, resolveDir: root }));
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        paths.has(path)
          ? { contents: `${readFileSync(path, "utf8")}\nimport "together:all";\n`, loader: "ts" }
          : undefined,
      );
    },
  };
}

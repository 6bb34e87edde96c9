// Which small modules are put into one file. esbuild makes a file of every set of modules that the same entries need,
// so that a start would load a dozen files of a few hundred bytes, for half a millisecond each.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that are no larger are not worth being files of their own. */
const smallBytes = 26000;

/**
 * Modules of small files of a start, in groups: those that import nothing but Node's own modules, those that import
 * nothing else but the first, and so on. Only these may be put together: two modules of one group that import each
 * other through the others could run before what they need.
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
  const small = [...loaded]
    .filter((name) => outputs[name].bytes < smallBytes)
    .flatMap((name) => Object.keys(outputs[name].inputs))
    .filter((name) => name.startsWith("src/") && name.endsWith(".ts"))
    .sort();
  const thatImport = (known) =>
    small.filter((name) => inputs[name].imports.every(({ external, path }) => external === true || known.has(path)));
  const groups = [];
  const known = new Set();
  for (;;) {
    const group = thatImport(known).filter((name) => !known.has(name));
    if (group.length === 0) return groups;
    groups.push(group);
    for (const name of group) known.add(name);
  }
}

/** Has whoever imports one module of a group import all of them, so that esbuild puts them into one file. */
export function togetherPlugin(groups, root) {
  const groupOf = new Map(groups.flatMap((names, at) => names.map((name) => [join(root, name), at])));
  const contents = groups.map((names) => names.map((name) => `import ${JSON.stringify(join(root, name))};`).join("\n"));
  return {
    name: "together",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^together:\d+$/ }, ({ path }) => ({ path: path.slice(9), namespace: "together" }));
      onLoad({ filter: /.*/, namespace: "together" }, ({ path }) => ({ contents: contents[path], resolveDir: root }));
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const at = groupOf.get(path);
        if (at === undefined) return undefined;
        return { contents: `${readFileSync(path, "utf8")}\nimport "together:${at}";\n`, loader: "ts" };
      });
    },
  };
}

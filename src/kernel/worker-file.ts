/**
 * Where the entry file of a worker thread or process lies: in the folder of whatever asks, as built. Node 20 cannot
 * run TypeScript, so that who runs from `src/` (tests) gets the built file; build first.
 *
 * @param importMetaUrl `import.meta.url` of the file that starts it
 * @param name the entry's name without extension
 */
export function workerUrl(importMetaUrl: string, name: string): URL {
  const built = new URL(`./${name}.js`, importMetaUrl);
  if (!importMetaUrl.endsWith(".ts")) return built;
  const from = built.pathname.lastIndexOf("/src/");
  if (from < 0) throw new Error(`no src folder in ${importMetaUrl}`);
  built.pathname = `${built.pathname.slice(0, from)}/dist/cli/${name}.js`;
  return built;
}
